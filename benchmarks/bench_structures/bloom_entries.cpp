#include <cmath>
#include <utility>

#include "entries.hpp"
#include "filter_calls.hpp"
#include "tally/filters/bloom.hpp"
#include "tally/filters/counting_bloom.hpp"
#include "tally/filters/threshold.hpp"
#include "tally/planner.hpp"
#include "tally/planner/scheme_law.hpp"
#include "tally/theory/blocked_bloom.hpp"

namespace tally::bench {
namespace {

template <class Scheme>
double ln_planned_rate(PositionSpace space, std::uint64_t num_keys) {
  if constexpr (Scheme::layout == PositionLayout::lines) {  // of bits or of counters
    return theory::ln_blocked_bloom_false_positive_probability(
        space.num_positions / space.positions_per_line, space.positions_per_line, space.num_hashes, num_keys);
  } else {
    return false_positive_law(Scheme::file_id, space.num_positions, space.num_hashes, num_keys)
        .ln_false_positive_rate;
  }
}

/// A filter with k positions per key. `shape_for` makes its shape from the number of keys.
template <class Filter, class Scheme, class ShapeFor>
Entry of_shape(std::string name, ShapeFor shape_for, int insertions_per_key = 1) {
  const auto make = [=](std::uint64_t num_keys) {
    const auto shape = shape_for(num_keys);
    const double ln_rate = ln_planned_rate<Scheme>(position_space(shape), num_keys);
    Filter filter(shape, 1);
    const std::uint64_t num_bytes = 8 * filter.storage().words().size();
    return structure_of(FilterCalls<Filter>(std::move(filter), num_bytes),
                        {.planned_rate = std::exp(ln_rate), .insertions_per_key = insertions_per_key});
  };
  return {std::move(name), make};
}

/// The same, planned for the false positive rate. `plan` makes its shape from Requirements.
template <class Filter, class Scheme, class Plan>
Entry planned(const std::string& name, double rate, Plan plan, int insertions_per_key = 1) {
  return of_shape<Filter, Scheme>(
      fmt::format("{} {}%", name, 100 * rate),
      [=](std::uint64_t num_keys) { return plan({.num_keys = num_keys, .false_positive_rate = rate}); },
      insertions_per_key);
}

/// A counting filter with 10 counters of 4 bits per key, of which a few saturate where there are many keys.
template <class Scheme>
Entry with_40_bits(std::string name, std::uint32_t num_hashes) {
  return of_shape<CountingBloomFilter<Scheme>, Scheme>(std::move(name), [=](std::uint64_t num_keys) {
    PositionSpace space{10 * num_keys, num_hashes, CounterArray::positions_per_line(4)};
    space.num_positions = Scheme::round_positions(space, Rounding::up);
    return CountingBloomShapeFor<Scheme>{space.num_positions, num_hashes, 4, 1};
  });
}

ThresholdShape plan_for_twice(Requirements requirements) {
  requirements.threshold = 2;
  return plan_threshold(requirements);
}

}  // namespace

std::vector<Entry> bloom_entries() {
  std::vector<Entry> entries;
  for (const double rate : {0.01, 0.002}) {
    entries.push_back(planned<BlockedBloomFilter, BlockedScheme>("blocked-bloom", rate, plan_blocked_bloom));
    entries.push_back(planned<RegisterBlockedBloomFilter, RegisterBlockedScheme>(
        "register-blocked-bloom", rate, plan_register_blocked_bloom));
    entries.push_back(planned<BloomFilter<>, DefaultScheme>("bloom", rate, plan_bloom));
    entries.push_back(
        planned<CountingBloomFilter<>, DefaultScheme>("counting-bloom", rate, plan_counting_bloom));
    entries.push_back(planned<BlockedCountingBloomFilter, BlockedScheme>("blocked-counting-bloom", rate,
                                                                         plan_blocked_counting_bloom));
  }
  entries.push_back(with_40_bits<DefaultScheme>("counting-bloom 40 bits", 7));
  entries.push_back(with_40_bits<BlockedScheme>("blocked-counting-bloom 40 bits", 6));
  // "Inserted at least twice?": the members are inserted twice.
  entries.push_back(planned<ThresholdFilter<>, DefaultScheme>("threshold 2", 0.01, plan_for_twice, 2));
  return entries;
}

}  // namespace tally::bench
