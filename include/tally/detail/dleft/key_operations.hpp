#pragma once

// Operations of DLeftCountingBloomFilter on one digest. Its header includes this one.

#include <cstdint>

#include "tally/detail/dleft/run_of_one.hpp"
#include "tally/filters/dleft_counting_bloom.hpp"

namespace tally {

template <BucketScheme Scheme>
InsertResult DLeftCountingBloomFilter<Scheme>::insert_digest(Hash128 digest) noexcept {
  if (const auto kernels = detail::key_kernels<Scheme>(kernels_)) {
    const auto done = kernels->insert(table_.finder(), max_counter(), table_.cells().data(), digest);
    if (done != detail::DLeftDone::left_to_table) {
      table_.add_fingerprints(done == detail::DLeftDone::cell_changed);
      ++totals_.num_insertions;
      return InsertResult::counted;
    }
  }
  return insert_generally(digest);
}

template <BucketScheme Scheme>
RemoveResult DLeftCountingBloomFilter<Scheme>::remove_digest(Hash128 digest) noexcept {
  if (const auto kernels = detail::key_kernels<Scheme>(kernels_)) {
    auto done = kernels->remove(table_.finder(), counter_of_spilled(), table_.cells().data(), digest);
    if (done == detail::DLeftDone::left_to_table && spilled_count(digest) == 0)
      done = kernels->remove(table_.finder(), no_counter, table_.cells().data(), digest);
    if (done != detail::DLeftDone::left_to_table) {
      table_.add_fingerprints(0 - std::uint64_t{done == detail::DLeftDone::cell_changed});
      const bool removed = done != detail::DLeftDone::absent;
      ++(removed ? totals_.num_removes : totals_.num_refused_removes);
      return result_of_remove(removed);
    }
  }
  return remove_generally(digest);
}

template <BucketScheme Scheme>
bool DLeftCountingBloomFilter<Scheme>::contains_digest(Hash128 digest) const noexcept {
  if (const auto kernels = detail::key_kernels<Scheme>(kernels_)) {
    return kernels->contains(table_.finder(), table_.cells().data(), digest);
  }
  return count_generally(digest) != 0;
}

template <BucketScheme Scheme>
std::uint64_t DLeftCountingBloomFilter<Scheme>::count_digest(Hash128 digest) const noexcept {
  if (const auto kernels = detail::key_kernels<Scheme>(kernels_)) {
    const std::uint32_t in_cell = kernels->count(table_.finder(), table_.cells().data(), digest);
    return in_cell <= max_counter() ? in_cell : in_cell + spilled_count(digest);
  }
  return count_generally(digest);
}

}  // namespace tally
