// Random sequences of operations, shrunk to the shortest that fails (rapidcheck).

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>

#include "support/filters.hpp"

namespace tally::test {
namespace {

constexpr std::uint64_t small_universe = 12;

// The same cases in every run, unless RC_PARAMS asks for others ("seed=5 max_success=10000").
[[maybe_unused]] const int seed_is_fixed = setenv("RC_PARAMS", "seed=2026", 0);

enum class Kind { insert, remove, remove_anything, merge_copy, merge_other };

struct Operation {
  Kind kind;
  std::uint64_t key;
};

std::ostream& operator<<(std::ostream& out, const Operation& operation) {
  return out << "operation " << static_cast<int>(operation.kind) << " key " << operation.key;
}

std::vector<Operation> any_operations() {
  using namespace rc;
  const auto kinds = gen::weightedElement<Kind>({{8, Kind::insert},
                                                 {6, Kind::remove},
                                                 {2, Kind::remove_anything},
                                                 {1, Kind::merge_copy},
                                                 {1, Kind::merge_other}});
  return *gen::container<std::vector<Operation>>(
      gen::construct<Operation>(kinds, gen::inRange<std::uint64_t>(0, small_universe)));
}

/// What every counter would hold without limits: how often the keys of `twin` raise it.
template <class Filter>
std::vector<Wide> exact_counters(const Filter& filter, const ExactMultiset& twin) {
  using Scheme = typename Subject<Filter>::SchemeType;
  const auto& shape = filter.shape();
  std::vector<Wide> counters(shape.num_counters);
  const PositionSpace space{shape.num_counters, shape.num_hashes,
                            CounterArray::positions_per_line(filter.storage().counter_bits())};
  for (const std::uint64_t key : twin.present()) {
    for (const std::uint64_t position : positions_of<Scheme>(space, filter.hasher()(key))) {
      counters[position] += twin.count(key);
    }
  }
  return counters;
}

/// A legal history on a counting filter: every counter is exact, or stuck at the maximum.
template <class Scheme>
void counting_filter_equals_the_model() {
  using Filter = CountingBloomFilter<Scheme>;
  const auto m = *rc::gen::inRange<std::uint64_t>(1, 60);
  const auto k = *rc::gen::inRange<std::uint32_t>(1, 6);
  const auto shape = *rc::gen::elementOf(Subject<Filter>::shapes(m, k));
  Filter filter(shape, *rc::gen::arbitrary<std::uint64_t>());
  ExactMultiset twin(small_universe);
  for (const Operation& operation : any_operations()) {
    const Words before = words_of(filter);
    switch (operation.kind) {
      case Kind::insert:
        (void)filter.insert(operation.key);
        twin.insert(operation.key);
        break;
      case Kind::remove:
        if (twin.count(operation.key) == 0) break;
        RC_ASSERT(filter.remove(operation.key) != RemoveResult::refused);
        twin.remove(operation.key);
        break;
      case Kind::remove_anything:
        // Only where it is refused, or legal: an illegal remove that passes breaks every promise.
        if (twin.count(operation.key) != 0 || filter.may_contain(operation.key)) break;
        RC_ASSERT(filter.remove(operation.key) == RemoveResult::refused);
        RC_ASSERT(words_of(filter) == before);
        break;
      case Kind::merge_copy:
        filter.merge(Filter(filter));
        twin.merge(twin);
        break;
      case Kind::merge_other: {
        Filter other(shape, filter.hasher());
        (void)other.insert(operation.key);
        filter.merge(other);
        twin.insert(operation.key);
      }
    }
    const std::vector<Wide> exact = exact_counters(filter, twin);
    for (std::uint64_t i = 0; i < exact.size(); ++i) {
      const std::uint64_t value = filter.storage().get(i);
      RC_ASSERT(value == shape.max_threshold || exact[i] == value);
    }
    for (std::uint64_t key = 0; key < small_universe; ++key) {
      RC_ASSERT(Subject<Filter>::keeps_promise(filter, key, twin.count(key)));
    }
  }
}

RC_GTEST_PROP(CountingFilterProperty, CongruentialCountersAreExactOrStuck, ()) {
  counting_filter_equals_the_model<CongruentialScheme>();
}
RC_GTEST_PROP(CountingFilterProperty, BlockedCountersAreExactOrStuck, ()) {
  counting_filter_equals_the_model<BlockedScheme>();
}
RC_GTEST_PROP(CountingFilterProperty, PartitionedCountersAreExactOrStuck, ()) {
  counting_filter_equals_the_model<PartitionedScheme>();
}
RC_GTEST_PROP(CountingFilterProperty, DoubleCountersAreExactOrStuck, ()) {
  counting_filter_equals_the_model<DoubleScheme>();
}

RC_GTEST_PROP(ThresholdFilterProperty, PlainCountersAreExactOrAtTheirMaximumAndConservativeOnesNeverTooLow,
              ()) {
  using Filter = ThresholdFilter<>;
  const auto m = *rc::gen::inRange<std::uint64_t>(1, 60);
  const auto k = *rc::gen::inRange<std::uint32_t>(1, 6);
  const ThresholdShape shape = *rc::gen::elementOf(Subject<Filter>::shapes(m, k));
  Filter filter(shape, *rc::gen::arbitrary<std::uint64_t>());
  ExactMultiset twin(small_universe);
  for (const Operation& operation : any_operations()) {
    if (operation.kind == Kind::merge_copy) {
      filter.merge(Filter(filter));
      twin.merge(twin);
    } else {
      const ThresholdState state = filter.insert(operation.key);
      twin.insert(operation.key);
      RC_ASSERT(twin.count(operation.key) < shape.threshold || state == ThresholdState::at_least);
    }
    const std::vector<Wide> exact = exact_counters(filter, twin);
    for (std::uint64_t i = 0; i < exact.size(); ++i) {
      const std::uint64_t plain = least_count(exact[i], filter.storage().max());
      const std::uint64_t value = filter.storage().get(i);
      const bool holds = shape.update == CounterUpdate::plain ? value == plain : value <= plain;
      RC_ASSERT(holds);
    }
    for (std::uint64_t key = 0; key < small_universe; ++key) {
      RC_ASSERT(Subject<Filter>::keeps_promise(filter, key, twin.count(key)));
    }
  }
}

}  // namespace
}  // namespace tally::test
