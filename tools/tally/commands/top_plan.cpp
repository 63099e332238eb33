#include "commands/top_plan.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "text/output.hpp"

namespace tally::cli {
namespace {

constexpr std::uint64_t default_capacity = 16384;
constexpr std::uint64_t default_width = 65536;
constexpr std::uint64_t window_divisor = 4;  // a slot of a window has a quarter of that
constexpr std::uint32_t depth = 4;
// Memory of a candidate: its entry, heap node, key of at most 15 bytes, and up to four slots of the index.
constexpr std::uint64_t candidate_bytes = 112;

/// 1 / share, rounded up; if that is too many, a capacity that is refused.
std::uint64_t keys_for_share(double share) {
  constexpr double too_many = 2.0 * CountedKeys::max_capacity;
  return static_cast<std::uint64_t>(std::min(std::ceil(1 / share), too_many));
}

/// The smallest possible number of candidates; normally there are twice as many.
std::uint64_t least_capacity(const TopOptions& options) {
  return options.share ? keys_for_share(*options.share) : options.num_keys;
}

}  // namespace

TopStream::Options plan_top(const TopOptions& options) {
  const bool space_saving = options.method == "space-saving";
  const std::uint64_t num_slots = options.window ? std::uint64_t{options.num_slots} + 1 : 1;
  std::uint64_t capacity = default_capacity / (options.window ? window_divisor : 1);
  std::uint64_t width = default_width / (options.window ? window_divisor : 1);
  capacity = std::max(capacity, 2 * least_capacity(options));
  if (options.error) capacity = std::max(keys_for_share(*options.error), least_capacity(options));
  if (options.memory_bytes) {
    const std::uint64_t bytes = *options.memory_bytes / num_slots;
    if (!options.error) capacity = bytes / candidate_bytes / (space_saving ? 1 : 2);
    const std::uint64_t left = bytes - std::min(bytes, candidate_bytes * capacity);
    width = left / (8 * depth);
    if (capacity < least_capacity(options) || (!space_saving && width == 0)) {
      throw std::invalid_argument(fmt::format(
          "--memory is {}; {} candidates{} need at least {}",
          human_bytes(static_cast<double>(*options.memory_bytes)),
          std::max(capacity, least_capacity(options)),
          num_slots == 1 ? "" : fmt::format(" in each of {} slots", num_slots),
          human_bytes(static_cast<double>(num_slots * std::max(capacity, least_capacity(options)) *
                                          candidate_bytes * (space_saving ? 1 : 2)))));
    }
  }
  if (capacity > CountedKeys::max_capacity) {
    const std::string_view flag = options.error ? "--error" : options.memory_bytes ? "--memory" : "--share";
    throw std::invalid_argument(fmt::format("{}: needs {} candidates; the maximum is {}; give a {} value",
                                            flag, capacity, CountedKeys::max_capacity,
                                            options.memory_bytes && !options.error ? "smaller" : "larger"));
  }
  return {.capacity = capacity,
          .sketch = {width, depth, 1, 64, CounterUpdate::conservative},
          .space_saving = space_saving,
          .window = options.window,
          .num_slots = options.num_slots,
          .hasher = options.hasher.hasher()};
}

}  // namespace tally::cli
