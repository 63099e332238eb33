#include "streams/threshold/memory_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "detail/text_of.hpp"
#include "tally/planner.hpp"
#include "tally/planner/fewest_hashes.hpp"

namespace tally::detail {
namespace {

constexpr std::string_view structure = "ThresholdStream";
constexpr double default_false_positive_rate = 0.01;

constexpr std::uint64_t least_bytes = 4096;

// With bounded memory and an unknown number of keys, the set of reported keys gets a quarter. If the number is known, the
// filter gets what the rate needs: at most three quarters, or if a rate is given, at most 15 sixteenths.
constexpr std::uint64_t set_share = 4;
constexpr std::uint64_t least_set_share = 16;

// Each generation gets this share of the remaining rate. A smaller share needs more memory with few generations, a larger
// one with many.
constexpr double share_of_the_rest = 1.0 / 3;

// A lower rate needs more hashes; a little more memory avoids that.
constexpr double most_memory_for_fewer_hashes = 1.05;

Requirements requirements_for(const StreamOptions& options, std::uint64_t num_keys, double rate) {
  Requirements wanted{.false_positive_rate = rate, .threshold = options.threshold, .update = options.update};
  if (num_keys != 0) wanted.num_keys = num_keys;
  return wanted;
}

}  // namespace

std::uint64_t set_bytes(const StreamOptions& options) noexcept {
  if (!options.memory_bytes) return std::numeric_limits<std::uint64_t>::max();
  return needs_filter(options) ? *options.memory_bytes / set_share : *options.memory_bytes;
}

// Beside a filter of three quarters the set gets exactly a quarter, without the few bytes that the filter left over: sets
// with different limits give different results.
std::uint64_t set_bytes_beside(std::uint64_t filter_bytes, std::uint64_t memory_bytes) noexcept {
  constexpr std::uint64_t line_bytes = 64;
  const std::uint64_t rest = memory_bytes - std::min(filter_bytes, memory_bytes);
  const std::uint64_t quarter = memory_bytes / set_share;
  return rest >= quarter && rest - quarter < line_bytes ? quarter : rest;
}

std::optional<std::uint64_t> least_memory_bytes(const StreamOptions& options) {
  if (!options.num_keys || !options.false_positive_rate || !needs_filter(options)) return std::nullopt;
  const std::uint64_t filter_bytes =
      num_bytes(plan_threshold(requirements_for(options, *options.num_keys, *options.false_positive_rate)));
  return std::max(least_bytes, filter_bytes + (filter_bytes - 1) / (least_set_share - 1));
}

const StreamOptions& checked(const StreamOptions& options) {
  require_in_range(structure, "threshold", options.threshold, 1, max_threshold_limit);
  if (options.num_keys) require_in_range(structure, "num_keys", *options.num_keys, 1, std::uint64_t{1} << 56);
  if (options.memory_bytes)
    require_in_range(structure, "memory_bytes", *options.memory_bytes, least_bytes, ~std::uint64_t{0});
  if (options.false_positive_rate)
    require_probability(structure, "false_positive_rate", *options.false_positive_rate);
  require_in_range(structure, "exact_keys", options.exact_keys, 0, std::uint64_t{1} << 40);
  return options;
}

double wanted_rate(const StreamOptions& options) noexcept {
  return options.false_positive_rate.value_or(default_false_positive_rate);
}

double rate_of_generation(const StreamOptions& options, std::size_t num_before) {
  if (options.memory_bytes || (options.num_keys && num_before == 0)) return wanted_rate(options);
  const std::size_t number = num_before - (options.num_keys ? 1 : 0);
  return wanted_rate(options) * share_of_the_rest *
         std::pow(1 - share_of_the_rest, static_cast<double>(number));
}

ThresholdShape shape_for(const StreamOptions& options, std::uint64_t num_keys, double rate,
                         bool follows_stream) {
  const ThresholdShape shape = plan_threshold(requirements_for(options, num_keys, rate));
  return follows_stream ? with_fewest_hashes(shape, num_keys, rate, most_memory_for_fewer_hashes) : shape;
}

ThresholdShape shape_in_memory(const StreamOptions& options, std::uint64_t num_keys, double rate) {
  const std::uint64_t memory_bytes = *options.memory_bytes;
  const std::uint64_t usual_bytes = std::max<std::uint64_t>(8, memory_bytes / set_share * (set_share - 1));
  Requirements wanted = requirements_for(options, num_keys, rate);
  if (num_keys != 0) {
    const std::uint64_t most_bytes =
        options.false_positive_rate ? memory_bytes - memory_bytes / least_set_share : usual_bytes;
    try {
      const ThresholdShape shape = plan_threshold(wanted);
      if (num_bytes(shape) <= most_bytes) return shape;
    } catch (const std::invalid_argument&) {
      if (options.false_positive_rate) throw;
    }
    if (options.false_positive_rate) {
      throw_parameter_error(structure, "memory_bytes", memory_bytes,
                            "at least " + text_of(*least_memory_bytes(options)) +
                                " for this number of keys and this false positive rate");
    }
    wanted.false_positive_rate.reset();
  }
  wanted.memory_bytes = usual_bytes;
  return plan_threshold(wanted);
}

}  // namespace tally::detail
