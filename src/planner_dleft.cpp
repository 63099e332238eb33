#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "tally/detail/parameter_error.hpp"
#include "tally/planner.hpp"
#include "tally/theory/dleft_fingerprints.hpp"
#include "tally/theory/dleft_safe_load.hpp"
#include "tally/theory/tails.hpp"

namespace tally {
namespace {

constexpr std::string_view structure = "plan_dleft";
constexpr double failure_probability = 1e-6;
constexpr std::uint64_t max_num_keys = std::uint64_t{1} << 40;
constexpr std::uint64_t max_frequent_keys = std::uint64_t{1} << 31;
constexpr std::uint32_t counter_bits = 2;
constexpr double spare_spills = 64;
constexpr std::uint32_t least_remainder_bits = 4;  // fewer would waste more than 1 of 16 remainders

struct Layout {
  std::uint32_t num_subtables;
  std::uint32_t cells_per_bucket;
};
constexpr Layout layouts[] = {{2, 32}, {4, 8}};
constexpr std::uint32_t cell_widths[] = {8, 12, 16, 24, 32};

double ln_rate(const DLeftShape& shape, std::uint64_t num_keys) {
  const FingerprintSpace space = shape.fingerprint_space();
  return theory::ln_dleft_false_positive_probability(space.num_buckets, space.num_remainders(), num_keys);
}

/// Elements per bucket.
double safe_load(const Layout& layout, std::uint64_t buckets_per_subtable) {
  return theory::dleft_safe_load(layout.num_subtables, buckets_per_subtable, layout.cells_per_bucket, 0,
                                 failure_probability);
}

/// The least number of buckets in a subtable that carries the keys, each in a cell of its own.
std::uint64_t buckets_for_load(const Layout& layout, std::uint64_t num_keys) {
  const double d = layout.num_subtables;
  auto buckets = static_cast<double>(num_keys) / (d * layout.cells_per_bucket);
  // The load that is safe falls slowly in the number of buckets: two steps are enough.
  for (int step = 0; step < 2; ++step) {
    const double load = safe_load(layout, static_cast<std::uint64_t>(std::max(1.0, std::ceil(buckets))));
    buckets = static_cast<double>(num_keys) / (d * load);
  }
  return static_cast<std::uint64_t>(std::max(1.0, std::ceil(buckets)));
}

/// The least number of buckets in a subtable that keeps the rate; 0 if that is more than there can be.
std::uint64_t buckets_for_rate(DLeftShape shape, std::uint64_t num_keys, double false_positive_rate) {
  const double wanted = -1 / std::expm1(std::log1p(-false_positive_rate) / static_cast<double>(num_keys));
  const double buckets = std::ceil(wanted / static_cast<double>(shape.fingerprint_space().num_remainders()));
  if (!(buckets <= static_cast<double>(max_num_buckets >> 1))) return 0;
  shape.buckets_per_subtable = static_cast<std::uint64_t>(std::max(1.0, buckets));
  while (ln_rate(shape, num_keys) > std::log(false_positive_rate)) ++shape.buckets_per_subtable;
  return shape.buckets_per_subtable;
}

std::uint64_t spills_for(const DLeftShape& shape, const DLeftRequest& request) {
  const double num_fingerprints = shape.fingerprint_space().num_fingerprints();
  const std::uint64_t too_many = (std::uint64_t{1} << counter_bits) + 1;
  const double expected =
      num_fingerprints * std::exp(theory::ln_poisson_upper_tail(
                             too_many, static_cast<double>(request.num_keys) / num_fingerprints));
  return request.num_frequent_keys +
         static_cast<std::uint64_t>(std::ceil(expected + 6 * std::sqrt(expected) + spare_spills));
}

std::optional<DLeftShape> candidate(const Layout& layout, std::uint32_t cell_bits, std::uint64_t num_buckets,
                                    const DLeftRequest& request) {
  const std::uint32_t remainder_bits = cell_bits - counter_bits;
  if (remainder_bits < least_remainder_bits + request.max_doublings) return std::nullopt;
  DLeftShape shape{.buckets_per_subtable = num_buckets,
                   .num_subtables = layout.num_subtables,
                   .cells_per_bucket = layout.cells_per_bucket,
                   .remainder_bits = remainder_bits,
                   .counter_bits = counter_bits,
                   .least_remainder_bits = remainder_bits - request.max_doublings,
                   .grows = request.max_doublings > 0};
  const std::uint64_t for_rate = buckets_for_rate(shape, request.num_keys, request.false_positive_rate);
  if (for_rate == 0) return std::nullopt;
  shape.buckets_per_subtable = std::max(num_buckets, for_rate);
  shape.spill_capacity = spills_for(shape, request);
  return shape;
}

}  // namespace

DLeftShape plan_dleft(const DLeftRequest& request) {
  detail::require_in_range(structure, "num_keys", request.num_keys, 1, max_num_keys);
  detail::require_probability(structure, "false_positive_rate", request.false_positive_rate);
  detail::require_in_range(structure, "num_frequent_keys", request.num_frequent_keys, 0, max_frequent_keys);
  std::optional<DLeftShape> best;
  for (const Layout& layout : layouts) {
    const std::uint64_t num_buckets = buckets_for_load(layout, request.num_keys);
    for (const std::uint32_t cell_bits : cell_widths) {
      const std::optional<DLeftShape> shape = candidate(layout, cell_bits, num_buckets, request);
      if (shape && (!best || num_bytes(*shape) < num_bytes(*best))) best = shape;
    }
  }
  if (!best) {
    detail::throw_parameter_error(structure, "false_positive_rate",
                                  std::to_string(request.false_positive_rate),
                                  "higher, or max_doublings lower: no cell of 32 bits keeps it");
  }
  check_shape(*best);
  return *best;
}

std::uint64_t planned_num_keys(const DLeftShape& shape, double false_positive_rate) {
  check_shape(shape);
  detail::require_probability(structure, "false_positive_rate", false_positive_rate);
  const double ln_target = std::log(false_positive_rate);
  const double at_rate =
      std::log1p(-false_positive_rate) / std::log1p(-1 / shape.fingerprint_space().num_fingerprints());
  const std::uint64_t num_buckets = shape.current_buckets_per_subtable();
  const double at_load = static_cast<double>(num_buckets) * shape.num_subtables *
                         safe_load({shape.num_subtables, shape.cells_per_bucket}, num_buckets);
  auto num_keys = static_cast<std::uint64_t>(std::min(at_rate, at_load));
  while (num_keys > 0 && ln_rate(shape, num_keys) > ln_target) --num_keys;
  return num_keys;
}

}  // namespace tally
