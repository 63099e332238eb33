#pragma once

// The batch forms of CompactDLeftFilter, whose header includes this one.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tally/detail/compact/batches.hpp"
#include "tally/detail/parameter_error.hpp"
#include "tally/filters/compact_dleft.hpp"

namespace tally {

template <KeyBatch Keys>
void CompactDLeftFilter::insert_batch(const Keys& keys, std::span<InsertResult> results) {
  detail::require_one_per_key("insert_batch", "results", std::span(keys).size(), results.size());
  const auto insert = [&](std::size_t first, const detail::CompactSpot* spots, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      std::uint64_t num_new = 0;
      const std::size_t num_inserted = table_.kernels().insert_all(spots + i, count - i, num_new);
      table_.add_fingerprints(num_new);
      totals_.num_insertions += num_inserted;
      std::fill_n(results.begin() + first + i, num_inserted, InsertResult::counted);
      i += num_inserted;
      if (i < count) results[first + i] = result_of_insert(table_.insert_without_room(spots[i]));
    }
  };
  detail::for_each_compact_run(hasher_, table_, keys, insert);
}

template <KeyBatch Keys>
void CompactDLeftFilter::remove_batch(const Keys& keys, std::span<RemoveResult> results) {
  detail::require_one_per_key("remove_batch", "results", std::span(keys).size(), results.size());
  const auto remove = [&](std::size_t first, const detail::CompactSpot* spots, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      std::uint64_t num_removed = 0;
      std::uint64_t num_gone = 0;
      const std::size_t num_done =
          table_.kernels().remove_all(spots + i, count - i, results.data() + first + i,
                                      table_.spills().size() != 0, num_removed, num_gone);
      table_.add_fingerprints(0 - num_gone);
      totals_.num_removes += num_removed;
      totals_.num_refused_removes += num_done - num_removed;
      i += num_done;
      if (i < count) results[first + i] = result_of_remove(table_.remove_at_max(spots[i]));
    }
  };
  detail::for_each_compact_run(hasher_, table_, keys, remove);
}

template <KeyBatch Keys>
void CompactDLeftFilter::may_contain_batch(const Keys& keys, std::span<bool> results) const {
  detail::require_one_per_key("may_contain_batch", "results", std::span(keys).size(), results.size());
  const auto look_up = [&](std::size_t first, const detail::CompactSpot* spots, std::size_t count) {
    table_.kernels().contains_all(spots, count, results.data() + first);
  };
  detail::for_each_compact_run(hasher_, table_, keys, look_up);
}

template <KeyBatch Keys>
void CompactDLeftFilter::count_batch(const Keys& keys, std::span<Count> results) const {
  detail::require_one_per_key("count_batch", "results", std::span(keys).size(), results.size());
  const auto count_run = [&](std::size_t first, const detail::CompactSpot* spots, std::size_t count) {
    std::array<std::uint32_t, detail::most_keys_per_run> in_cells;
    table_.kernels().count_all(spots, count, in_cells.data());
    for (std::size_t i = 0; i < count; ++i) results[first + i] = {table_.total(in_cells[i], spots[i]), false};
  };
  detail::for_each_compact_run(hasher_, table_, keys, count_run);
}

}  // namespace tally
