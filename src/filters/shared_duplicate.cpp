#include "tally/filters/shared_duplicate.hpp"

namespace tally {
namespace {

const DuplicateShape& checked(const DuplicateShape& shape) {
  check_shape(shape);
  return shape;
}

}  // namespace

SharedDuplicateFilter::SharedDuplicateFilter(const DuplicateShape& shape, const KeyHasher& hasher)
    : shape_(checked(shape)), hasher_(hasher), bits_(shape.num_bits), words_(bits_.words()) {}

void SharedDuplicateFilter::clear() noexcept { bits_.clear(); }

FilterStatistics SharedDuplicateFilter::statistics() const {
  return storage_statistics(bits_, PositionLayout::lines, position_space(shape_), 1);
}

}  // namespace tally
