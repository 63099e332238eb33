#include "tally/shapes/blocked_counting_bloom.hpp"

#include "shapes/counting_bloom.hpp"

namespace tally {
namespace {

CountingBloomShape counters_of(const BlockedCountingBloomShape& shape) noexcept {
  return {shape.num_counters, shape.num_hashes, shape.counter_bits, shape.max_threshold};
}

}  // namespace

std::uint64_t num_bytes(const BlockedCountingBloomShape& shape) noexcept {
  return num_bytes(counters_of(shape));
}

PositionSpace position_space(const BlockedCountingBloomShape& shape) noexcept {
  return position_space(counters_of(shape));
}

void check_shape(const BlockedCountingBloomShape& shape) {
  detail::check_counters("BlockedCountingBloomFilter", counters_of(shape));
}

}  // namespace tally
