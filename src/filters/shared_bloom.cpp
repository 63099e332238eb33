#include "tally/filters/shared_bloom.hpp"

namespace tally {
namespace {

const SharedBloomShape& checked(const SharedBloomShape& shape) {
  check_shape(shape);
  return shape;
}

}  // namespace

SharedBloomFilter::SharedBloomFilter(const SharedBloomShape& shape, const KeyHasher& hasher)
    : shape_(checked(shape)), hasher_(hasher), bits_(shape.num_bits), words_(bits_.words()) {}

void SharedBloomFilter::clear() noexcept {
  bits_.clear();
  num_insertions_ = 0;
}

FilterStatistics SharedBloomFilter::statistics() const {
  FilterStatistics statistics = storage_statistics(bits_, PositionLayout::lines, position_space(shape_), 1);
  statistics.num_insertions = num_insertions_;
  return statistics;
}

}  // namespace tally
