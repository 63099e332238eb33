#pragma once

// The batch forms of DLeftCountingBloomFilter, whose header includes this one.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tally/detail/dleft/batches.hpp"
#include "tally/detail/parameter_error.hpp"
#include "tally/filters/dleft_counting_bloom.hpp"

namespace tally {

template <BucketScheme Scheme>
template <KeyBatch Keys>
void DLeftCountingBloomFilter<Scheme>::insert_batch(const Keys& keys, std::span<InsertResult> results) {
  detail::require_one_per_key("insert_batch", "results", std::span(keys).size(), results.size());
  const auto one = [&](std::size_t i, const std::uint64_t* images) { results[i] = insert_at(images); };
  for_each_key<detail::Access::write>(keys, one, [&](std::size_t first, Spots spots, std::size_t count) {
    std::uint64_t num_new = 0;
    const std::size_t num_inserted = kernels_->insert(cells(max_counter()), spots, count, num_new);
    table_.add_fingerprints(num_new);
    totals_.num_insertions += num_inserted;
    std::fill_n(results.begin() + first, num_inserted, InsertResult::counted);
    return num_inserted;
  });
}

template <BucketScheme Scheme>
template <KeyBatch Keys>
void DLeftCountingBloomFilter<Scheme>::remove_batch(const Keys& keys, std::span<RemoveResult> results) {
  detail::require_one_per_key("remove_batch", "results", std::span(keys).size(), results.size());
  const auto one = [&](std::size_t i, const std::uint64_t* images) { results[i] = remove_at(images); };
  for_each_key<detail::Access::write>(keys, one, [&](std::size_t first, Spots spots, std::size_t count) {
    std::array<bool, detail::most_keys_per_run> removed;
    std::uint64_t num_emptied = 0;
    std::size_t num_looked_at = 0;
    const auto look_at = [&](std::uint32_t max_counter, std::size_t num_keys) {
      num_looked_at += kernels_->remove(cells(max_counter), spots + num_looked_at * num_subtables(), num_keys,
                                        removed.data() + num_looked_at, num_emptied);
    };
    look_at(counter_of_spilled(), count);
    // A key whose counter is at its maximum, though the side table has none of it, and the keys after it.
    while (num_looked_at < count && spilled_count(hasher_(std::span(keys)[first + num_looked_at])) == 0) {
      look_at(no_counter, 1);
      look_at(counter_of_spilled(), count - num_looked_at);
    }
    table_.add_fingerprints(0 - num_emptied);
    const auto end = removed.begin() + num_looked_at;
    const auto num_removed = static_cast<std::uint64_t>(std::count(removed.begin(), end, true));
    totals_.num_removes += num_removed;
    totals_.num_refused_removes += num_looked_at - num_removed;
    std::transform(removed.begin(), end, results.begin() + first, result_of_remove);
    return num_looked_at;
  });
}

template <BucketScheme Scheme>
template <KeyBatch Keys>
void DLeftCountingBloomFilter<Scheme>::may_contain_batch(const Keys& keys, std::span<bool> results) const {
  detail::require_one_per_key("may_contain_batch", "results", std::span(keys).size(), results.size());
  const auto one = [&](std::size_t i, const std::uint64_t* images) {
    results[i] = table_.count(images) != 0;
  };
  for_each_key<detail::Access::read>(keys, one, [&](std::size_t first, Spots spots, std::size_t count) {
    kernels_->contains(cells(0), spots, count, results.data() + first);
    return count;
  });
}

template <BucketScheme Scheme>
template <KeyBatch Keys>
void DLeftCountingBloomFilter<Scheme>::count_batch(const Keys& keys, std::span<Count> results) const {
  detail::require_one_per_key("count_batch", "results", std::span(keys).size(), results.size());
  const auto one = [&](std::size_t i, const std::uint64_t* images) {
    results[i] = {table_.count(images), false};
  };
  for_each_key<detail::Access::read>(keys, one, [&](std::size_t first, Spots spots, std::size_t count) {
    std::array<std::uint32_t, detail::most_keys_per_run> in_cells;
    kernels_->count(cells(0), spots, count, in_cells.data());
    for (std::size_t i = 0; i < count; ++i) {
      std::uint64_t all = in_cells[i];
      if (all > max_counter()) all += spilled_count(hasher_(std::span(keys)[first + i]));
      results[first + i] = {all, false};
    }
    return count;
  });
}

template <BucketScheme Scheme>
template <detail::Access access, KeyBatch Keys, class One, class ByKernel>
void DLeftCountingBloomFilter<Scheme>::for_each_key(const Keys& keys, One one, ByKernel by_kernel) const {
  if (kernels_ == nullptr) return detail::for_each_key<access>(hasher_, space_, table_, keys, one);
  const auto run = [&](std::size_t first, Spots spots, std::size_t count) {
    const std::uint64_t* const words = table_.cells().data();
    std::size_t i = 0;
    while (i < count && table_.cells().data() == words) {
      i += by_kernel(first + i, spots + i * num_subtables(), count - i);
      if (i < count) {
        one(first + i,
            static_cast<const std::uint64_t*>(images_of(hasher_(std::span(keys)[first + i])).data()));
        ++i;
      }
    }
    return i;
  };
  detail::for_each_run(hasher_, *kernels_, table_, keys, run);
}

}  // namespace tally
