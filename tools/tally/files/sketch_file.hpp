#pragma once

#include <string>
#include <string_view>

#include "tally/serialization/sketch_files.hpp"
#include "text/output.hpp"

// Files of the kinds that are not filters: top-keys, space-saving and count-min-window.

namespace tally::cli {

/// Adds the sketch in the file at `path` to that of the file at `first`. Throws std::invalid_argument that
/// names both files and the first field that differs, and what load_sketch throws.
void merge_file(AnySketch& sketch, const std::string& first, const std::string& path,
                const std::optional<HashKey>& key);

/// The output of `info --json` and of `merge --json`.
Json sketch_to_json(const AnySketch& sketch);
/// The output of `info`.
std::string sketch_info_text(const AnySketch& sketch);
/// "1000 candidates of 16384, total count 52311; any other key has at most 3"
std::string sketch_state_text(const AnySketch& sketch);

}  // namespace tally::cli
