#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

namespace tally::cli {

/// Whole numbers that are allowed, including both ends.
struct CountRange {
  std::uint64_t least = 1;
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
};

/// Real numbers that are allowed, including both ends.
struct RealRange {
  double least = 0;
  double most = std::numeric_limits<double>::max();
};

/// "10M", "1e6", "3Ki", "42". K M G T P are powers of 1000, Ki Mi Gi Ti Pi of 1024. These functions throw
/// std::invalid_argument that quotes the text and says what is allowed.
std::uint64_t parse_count(std::string_view text, CountRange range = {});
/// "64MiB", "1.5GB", "65536": bytes.
std::uint64_t parse_size(std::string_view text, std::uint64_t least = 1);
/// "1%", "0.01", "1e-3": above 0 and below 1.
double parse_rate(std::string_view text);
/// Any finite number in the range.
double parse_real(std::string_view text, RealRange range = {});

}  // namespace tally::cli
