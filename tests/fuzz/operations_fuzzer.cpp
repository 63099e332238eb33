// Any sequence of legal operations on two filters, against an exact multiset beside each: no false negative, no
// count below the truth unless saturated, no legal remove refused, a refused remove changes nothing, and a filter
// written and read again is the same.

#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <vector>

#include "exact_multiset.hpp"
#include "sample_filters.hpp"
#include "tally/serialization.hpp"

namespace {

using namespace tally;

constexpr std::uint64_t universe = 48;
constexpr int max_operations = 200;

void require(bool law) {
  if (!law) std::abort();
}

FilterShape choose_dleft_shape(FuzzedDataProvider& input) {
  constexpr std::array<std::uint32_t, 5> cell_widths = {8, 12, 16, 24, 32};
  const auto in_range = [&](std::uint32_t low, std::uint32_t high) {
    return input.ConsumeIntegralInRange<std::uint32_t>(low, high);
  };
  DLeftShape shape;
  shape.buckets_per_subtable = in_range(1, 16);
  shape.num_subtables = in_range(1, 8);
  shape.cells_per_bucket = input.ConsumeBool() ? 8u << in_range(0, 2) : in_range(1, 64);
  shape.counter_bits = in_range(0, 4);
  shape.remainder_bits = input.PickValueInArray(cell_widths) - shape.counter_bits;
  const std::uint32_t max_doublings = in_range(0, std::min(shape.remainder_bits - 1, 4u));
  shape.least_remainder_bits = shape.remainder_bits - max_doublings;
  shape.spill_capacity = in_range(0, 40);
  shape.moves = static_cast<DLeftMoves>(in_range(0, 2));
  shape.grows = input.ConsumeBool();
  const std::uint16_t scheme = input.ConsumeBool() ? RotationBuckets::file_id : MultiplierBuckets::file_id;
  return round_to_scheme({shape, scheme}, Rounding::up);
}

FilterShape choose_sketch_shape(FuzzedDataProvider& input) {
  constexpr std::array<std::uint32_t, 4> widths = {8, 16, 32, 64};
  const auto scheme = input.ConsumeIntegralInRange(CongruentialRows::file_id, TwoHashRows::file_id);
  const CountMinShape shape{
      .width = input.ConsumeIntegralInRange<std::uint64_t>(1, 100),
      .depth = input.ConsumeIntegralInRange<std::uint32_t>(1, 6),
      .num_copies = scheme == TwoHashRows::file_id ? input.ConsumeIntegralInRange<std::uint32_t>(1, 3) : 1,
      .counter_bits = input.PickValueInArray(widths),
      .update = input.ConsumeBool() ? CounterUpdate::conservative : CounterUpdate::plain};
  return round_to_scheme({shape, scheme}, Rounding::up);
}

FilterShape choose_shape(FuzzedDataProvider& input) {
  const auto scheme = input.ConsumeIntegralInRange<std::uint16_t>(1, 10);
  const auto m = input.ConsumeIntegralInRange<std::uint64_t>(1, 300);
  const auto k = input.ConsumeIntegralInRange<std::uint32_t>(1, 20);
  const auto kind = input.ConsumeIntegralInRange(0, 5);
  if (kind == 4) return choose_dleft_shape(input);
  if (kind == 5) return choose_sketch_shape(input);
  FilterShape shape = bloom_filter_shape(m, k, scheme);
  if (kind == 1 && (scheme == BlockedScheme::file_id || !is_line_scheme(scheme))) {
    const std::uint32_t width =
        test::counter_widths[input.ConsumeIntegralInRange<std::size_t>(0, test::counter_widths.size() - 1)];
    const std::uint64_t max = ~std::uint64_t{0} >> (64 - width);
    const auto max_threshold = input.ConsumeIntegralInRange<std::uint64_t>(1, max);
    if (scheme == BlockedScheme::file_id) {
      shape.shape = BlockedCountingBloomShape{m, k, width, max_threshold};
    } else {
      shape.shape = CountingBloomShape{m, k, width, max_threshold};
    }
  } else if (!is_line_scheme(scheme) && kind >= 2) {
    shape.shape = ThresholdShape{m, k, input.ConsumeIntegralInRange<std::uint64_t>(1, 300),
                                 kind == 2 ? CounterUpdate::plain : CounterUpdate::conservative};
  }
  return round_to_scheme(shape, Rounding::up);
}

/// A filter and the truth, kept alike.
struct Twins {
  Twins(const FilterShape& shape, const KeyHasher& hasher) : filter(shape, hasher), truth(universe) {}

  AnyFilter filter;
  test::ExactMultiset truth;

  std::vector<Hash128> digests(const std::vector<std::uint64_t>& keys) const {
    std::vector<Hash128> found;
    for (const std::uint64_t key : keys) found.push_back(filter.hasher()(key));
    return found;
  }

  void insert(const std::vector<std::uint64_t>& keys) {
    if (filter.has_threshold()) {
      std::vector<ThresholdState> states(keys.size());
      filter.insert_batch(digests(keys), states);
      for (std::size_t i = 0; i < keys.size(); ++i) {
        truth.insert(keys[i]);
        require(truth.count(keys[i]) < filter.shape().largest_theta() ||
                states[i] == ThresholdState::at_least);
      }
    } else {
      const AnyFilter before = filter;
      if (filter.insert_batch(digests(keys)) == 0) {
        for (const std::uint64_t key : keys) truth.insert(key);
        return;
      }
      // Which keys found no room only an insertion of one at a time tells.
      require(filter.can_fill_up());
      filter = before;
      for (const std::uint64_t key : keys) {
        if (filter.insert_batch(digests({key})) == 0) truth.insert(key);
      }
    }
  }

  void remove(std::uint64_t key) {
    if (!filter.can_remove()) return;
    const std::vector<Hash128> digest = digests({key});
    std::vector<Count> count(1);
    filter.count_batch(digest, count);
    if (truth.count(key) == 0 && count[0].value != 0) return;  // would be an illegal remove that passes
    const std::vector<std::uint64_t> before(filter.words().begin(), filter.words().end());
    std::vector<RemoveResult> result(1);
    filter.remove_batch(digest, result);
    if (truth.count(key) == 0) {
      require(result[0] == RemoveResult::refused && std::ranges::equal(before, filter.words()));
    } else {
      require(result[0] != RemoveResult::refused);
      truth.remove(key);
    }
  }

  void add(std::uint64_t key, std::uint64_t weight) {
    if (!filter.is_sketch()) return;
    filter.add_batch(digests({key}), std::vector{weight});
    truth.insert(key, weight);
  }

  void halve() {
    if (!filter.is_sketch()) return;
    filter.halve();
    truth.halve();
  }

  void merge(const Twins& other) {
    if (filter.merge(other.filter)) truth.merge(other.truth);
  }

  void save_and_load() {
    const std::vector<std::byte> bytes = serialize(filter);
    filter = deserialize(bytes);
    require(serialize(filter) == bytes);
  }

  void check() const {
    std::vector<std::uint64_t> keys(universe);
    for (std::uint64_t key = 0; key < universe; ++key) keys[key] = key;
    const std::vector<Hash128> hashes = digests(keys);
    const std::uint64_t least_to_pass = filter.has_threshold() ? *filter.shape().made_for_theta() : 1;
    test::Flags passes(universe), enough(universe);
    filter.may_contain_batch(hashes, passes.span());
    for (const std::uint64_t key : keys) require(passes[key] || truth.count(key) < least_to_pass);
    if (!filter.can_count()) return;
    std::vector<Count> counts(universe);
    filter.count_batch(hashes, counts);
    filter.at_least_batch(hashes, filter.shape().largest_theta(), enough.span());
    for (const std::uint64_t key : keys) {
      require(counts[key].saturated || counts[key].value >= truth.count(key));
      require(enough[key] || truth.count(key) < filter.shape().largest_theta());
    }
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  const KeyHasher hasher(input.ConsumeIntegral<std::uint8_t>());
  std::optional<FilterShape> shape;
  try {
    shape = choose_shape(input);
    check_shape(*shape);
  } catch (const std::invalid_argument&) {
    return 0;
  }
  std::array<Twins, 2> twins = {Twins(*shape, hasher), Twins(*shape, hasher)};
  for (int i = 0; i < max_operations && input.remaining_bytes() > 0; ++i) {
    const auto choice = input.ConsumeIntegral<std::uint8_t>();
    Twins& own = twins[choice & 1];
    const Twins& other = twins[(choice & 1) ^ 1];
    const auto key = [&] { return input.ConsumeIntegralInRange<std::uint64_t>(0, universe - 1); };
    switch (choice >> 1 & 7) {
      case 0: {
        std::vector<std::uint64_t> keys(input.ConsumeIntegralInRange<std::size_t>(0, 300));
        const std::uint64_t first = key();
        for (std::size_t j = 0; j < keys.size(); ++j) keys[j] = (first + j) % universe;
        own.insert(keys);
        break;
      }
      case 1:
        own.insert({key()});
        break;
      case 2:
        own.insert(std::vector<std::uint64_t>(input.ConsumeIntegralInRange<std::size_t>(0, 300), key()));
        break;
      case 3:
      case 4:
        own.remove(key());
        own.add(key(), input.ConsumeIntegral<std::uint64_t>());
        break;
      case 5:
        own.merge(other);
        break;
      case 6:
        own.save_and_load();
        break;
      case 7:
        if (own.filter.can_grow() && input.ConsumeBool()) (void)own.filter.try_grow();
        if (own.filter.is_sketch() && input.ConsumeBool()) own.halve();
        own.filter = AnyFilter(own.filter);
        break;
    }
    own.check();
  }
  return 0;
}
