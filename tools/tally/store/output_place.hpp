#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "store/writer_log.hpp"

namespace tally::cli {

/// Where the next byte of standard output goes, if that is a file. Flush it before.
OutputPlace output_place();

/// How many bytes of `text` are in standard output from this place on, because a run that was killed has written them:
/// nothing if that cannot be known.
std::optional<std::size_t> num_bytes_written(const OutputPlace& from, std::string_view text);

}  // namespace tally::cli
