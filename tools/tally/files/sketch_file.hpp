#pragma once

#include <string>
#include <string_view>

#include "tally/serialization/sketch_files.hpp"
#include "text/output.hpp"

// Files of the kinds that are no filters: top-keys, space-saving and count-min-window.

namespace tally::cli {

/// Adds the sketch in the file at `path` to that of the file at `first`. Throws std::invalid_argument that names both
/// files and the first field in which they differ, and as load_sketch.
void merge_file(AnySketch& sketch, const std::string& first, const std::string& path,
                const std::optional<HashKey>& key);

/// What `info --json` shows, and what `merge --json` reports.
Json sketch_to_json(const AnySketch& sketch);
/// What `info` prints.
std::string sketch_info_text(const AnySketch& sketch);
/// "1000 candidates of 16384, counts of 52311 in all; any other key has 3 at most"
std::string sketch_state_text(const AnySketch& sketch);

}  // namespace tally::cli
