#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "tally/detail/pause.hpp"
#include "tally/detail/unset_array.hpp"
#include "tally/filters/key_batch.hpp"

namespace tally::detail {

/// What the threads count in a part of a structure, such as its insertions.
using PartTotals = std::array<std::uint64_t, 3>;

/// Locks for parts of a structure, each of which belongs to one thread at a time. The keys of a batch are collected by part,
/// so that a lock is taken for many of them at once.
class PartLocks {
 public:
  static constexpr std::uint32_t max_parts = 64;
  static constexpr std::uint32_t max_slots = 2048;

  /// For 1 to max_parts parts.
  explicit PartLocks(std::uint32_t num_parts) noexcept : num_parts_(num_parts) {}

  std::uint32_t num_parts() const noexcept { return num_parts_; }

  /// Calls use(totals of the part) while no other thread is in the part; returns what it returns.
  template <class Use>
  auto in_part(std::uint32_t part, Use use) {
    const std::unique_lock alone = locked(part);
    return use(parts_[part].totals);
  }

  /// Calls use(totals of one part), which throws nothing, while no other thread is in any part, if nobody is in one now or was
  /// waited for lately; returns whether it did.
  template <class Use>
  bool try_all_parts(Use use) noexcept {
    if (const std::uint32_t left = num_crowded_.load(std::memory_order_relaxed); left != 0) {
      num_crowded_.store(left - 1, std::memory_order_relaxed);
      return false;
    }
    std::uint32_t num_locked = 0;
    while (num_locked < num_parts_ && parts_[num_locked].mutex.try_lock()) ++num_locked;
    const bool are_all = num_locked == num_parts_;
    if (are_all) use(parts_[0].totals);
    else be_crowded();
    while (num_locked > 0) parts_[--num_locked].mutex.unlock();
    return are_all;
  }

  /// For every key: calls place_of(digest), then part_of(place), and then put(slot, index, digest, place), which keeps in the
  /// slot what is needed of the key. Calls use(part, totals of the part, first slot, number of slots) while no other thread is
  /// in the part, for keys of a part in their order, and prefetch(first slot, number of slots) before that. Slots are below
  /// `max_slots`.
  template <KeyBatch Keys, class PlaceOf, class PartOf, class Put, class Prefetch, class Use>
  void in_parts(const KeyHasher& hasher, const Keys& key_range, PlaceOf place_of, PartOf part_of, Put put,
                Prefetch prefetch, Use use) {
    assert_uniform(key_range);
    const std::span keys(key_range);
    std::array<std::uint32_t, max_parts> counts{};
    const std::uint32_t slots_per_part = max_slots / num_parts_;
    const auto prefetch_part = [&](std::uint32_t part) {
      prefetch(std::size_t{part} * slots_per_part, std::size_t{counts[part]});
    };
    const auto use_part = [&](std::uint32_t part) {
      use(part, parts_[part].totals, std::size_t{part} * slots_per_part, std::size_t{counts[part]});
      counts[part] = 0;
    };
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const Hash128 digest = hasher(keys[i]);
      const auto place = place_of(digest);
      const std::uint32_t part = part_of(place);
      put(std::size_t{part} * slots_per_part + counts[part], i, digest, place);
      if (++counts[part] < slots_per_part) continue;
      prefetch_part(part);
      const std::unique_lock alone = locked(part);
      use_part(part);
    }
    use_rest(counts, prefetch_part, use_part);
  }

  /// The sums of the totals of all parts.
  PartTotals totals() noexcept {
    PartTotals sums{};
    for_each_part([&](const PartTotals& own) {
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += own[i];
    });
    return sums;
  }
  void clear_totals() noexcept {
    num_crowded_ = 0;
    for_each_part([](PartTotals& own) { own = {}; });
  }

 private:
  struct alignas(64) Part {
    std::mutex mutex;
    PartTotals totals{};
  };

  /// How often try_all_parts does nothing after threads met.
  static constexpr std::uint32_t crowded_calls = 64;
  void be_crowded() noexcept { num_crowded_.store(crowded_calls, std::memory_order_relaxed); }

  /// A thread is in a part for less than a microsecond, unless it is in all of them or has lost its processor. Sleeping and
  /// being woken takes many times as long, so this one looks again some times before it sleeps.
  std::unique_lock<std::mutex> locked(std::uint32_t part) {
    constexpr int num_looks = 100;
    std::unique_lock lock(parts_[part].mutex, std::try_to_lock);
    for (int i = 0; i < num_looks && !lock; ++i) {
      pause();
      lock.try_lock();
    }
    if (!lock) {
      be_crowded();
      lock.lock();
    }
    return lock;
  }

  template <class Use>
  void for_each_part(Use use) noexcept {
    for (std::uint32_t part = 0; part < num_parts_; ++part) in_part(part, use);
  }

  /// First the parts that nobody is in, so that threads rarely wait for each other. The lines of a part are prefetched while
  /// those of the one before are used: those of all parts would not stay in the fastest cache.
  template <class Prefetch, class Use>
  void use_rest(const std::array<std::uint32_t, max_parts>& counts, Prefetch prefetch, Use use) {
    UnsetArray<std::uint32_t, max_parts + 1> left;
    std::uint32_t num_left = 0;
    for (std::uint32_t part = 0; part < num_parts_; ++part) {
      left[num_left] = part;
      num_left += counts[part] != 0;
    }
    if (num_left > 0) prefetch(left[0]);
    std::uint32_t num_busy = 0;
    for (std::uint32_t i = 0; i < num_left; ++i) {
      if (i + 1 < num_left) prefetch(left[i + 1]);
      const std::unique_lock alone(parts_[left[i]].mutex, std::try_to_lock);
      if (alone) use(left[i]);
      else left[num_busy++] = left[i];
    }
    for (std::uint32_t i = 0; i < num_busy; ++i) {
      const std::unique_lock alone = locked(left[i]);
      use(left[i]);
    }
  }

  std::uint32_t num_parts_;
  std::atomic<std::uint32_t> num_crowded_ = 0;
  std::array<Part, max_parts> parts_;
};

}  // namespace tally::detail
