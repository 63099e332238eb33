#include "entries.hpp"
#include "filter_calls.hpp"
#include "tally/sketches/count_min.hpp"
#include "tally/theory/bloom.hpp"

namespace tally::bench {
namespace {

class SketchCalls {
 public:
  explicit SketchCalls(const CountMinShape& shape) : sketch_(shape, 1) {}

  std::uint64_t num_bytes() const { return 8 * sketch_.storage().words().size(); }
  template <class Key>
  bool insert(const Key& key) {
    sketch_.add(key);
    return true;
  }
  template <class Key>
  bool contains(const Key& key) const {
    return sketch_.count(key).value != 0;
  }
  template <class Keys>
  std::uint64_t insert_batch(const Keys& keys) {
    sketch_.add_batch(keys);
    return 0;
  }
  template <class Keys>
  void contains_batch(const Keys& keys, std::span<bool> results) const {
    std::array<Count, batch> counts;
    sketch_.count_batch(keys, std::span(counts).first(keys.size()));
    for (std::size_t i = 0; i < keys.size(); ++i) results[i] = counts[i].value != 0;
  }

 private:
  CountMinSketch<> sketch_;
};

/// Four rows of a 32-bit counter per key. A key is found if its count is not 0.
Entry count_min(const std::string& name, CounterUpdate update) {
  const auto make = [=](std::uint64_t num_keys) {
    const CountMinShape shape{.width = num_keys, .depth = 4, .counter_bits = 32, .update = update};
    // Each row is a part of a Bloom filter. Both kinds of update raise the same counters above 0.
    return structure_of(SketchCalls(shape), {.planned_rate = theory::false_positive_probability_partitioned(
                                                 shape.num_counters(), shape.depth, num_keys)});
  };
  return {name, make};
}

}  // namespace

std::vector<Entry> sketch_entries() {
  return {count_min("count-min", CounterUpdate::plain),
          count_min("count-min, conservative", CounterUpdate::conservative)};
}

}  // namespace tally::bench
