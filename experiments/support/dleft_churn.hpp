#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "random.hpp"
#include "tally/filters/dleft_kernels.hpp"
#include "tally/filters/dleft_table.hpp"

namespace tally::experiments {

using test::Random;

/// The process of Bonomi et al. 2006: fingerprints of random keys are inserted; then each step removes one of them
/// at random and inserts that of a fresh key. A key that the table has no room for is an overflow, and
/// the next fresh one takes its place, so that the number of keys stays.
///
/// It does what insert_batch and remove_batch of DLeftCountingBloomFilter do, on fingerprints and in the order of
/// the process: the kernel, if there is one for the shape, and DLeftTable for what the kernel leaves.
template <BucketScheme Scheme>
class DLeftChurn {
 public:
  using Places = std::array<std::uint64_t, max_num_subtables>;

  DLeftChurn(const DLeftShape& shape, std::uint64_t seed)
      : random_(seed), table_(shape, random_.next()), kernels_(detail::dleft_kernels(shape)) {}

  /// Inserts until there are so many; watch(places, whether the fingerprint is new) after every insertion.
  template <class Watch>
  void fill(std::uint64_t num_keys, Watch watch) {
    while (keys_.size() < num_keys) keys_.push_back(insert_fresh(watch));
  }
  void fill(std::uint64_t num_keys) { fill(num_keys, unwatched); }

  template <class Watch>
  void churn(std::uint64_t num_steps, Watch watch) {
    for (std::uint64_t i = 0; i < num_steps; ++i) {
      std::uint64_t& key = keys_[random_.below(keys_.size())];
      remove(key);
      key = insert_fresh(watch);
    }
  }
  void churn(std::uint64_t num_steps) { churn(num_steps, unwatched); }

  const DLeftTable<Scheme>& table() const noexcept { return table_; }
  std::uint64_t num_keys() const noexcept { return keys_.size(); }
  Random& random() noexcept { return random_; }
  std::uint64_t num_full() const noexcept { return num_full_; }
  std::uint64_t num_rescues() const noexcept { return num_rescues_; }

 private:
  static constexpr auto unwatched = [](const Places&, bool) {};

  detail::DLeftView view() noexcept {
    const DLeftShape& shape = table_.shape();
    return {table_.cells().data(), shape.buckets_per_subtable, shape.num_subtables,
            shape.remainder_bits,  shape.remainder_bits,       (1u << shape.counter_bits) - 1};
  }

  // A kernel's remove needs a counter.
  bool may_use_kernel() const noexcept { return kernels_ != nullptr && table_.shape().counter_bits != 0; }

  void remove(std::uint64_t fingerprint) noexcept {
    Places places;
    table_.scheme().place_all(fingerprint, table_.shape().num_subtables, places.data());
    bool removed = false;
    std::uint64_t num_emptied = 0;
    if (!may_use_kernel() || kernels_->remove(view(), places.data(), 1, &removed, num_emptied) == 0)
      (void)table_.remove(places.data());
    table_.add_fingerprints(0 - num_emptied);
  }

  template <class Watch>
  std::uint64_t insert_fresh(Watch watch) {
    using Inserted = DLeftInserted;
    while (true) {
      const std::uint64_t fingerprint = table_.shape().fingerprint_space().fingerprint_of(random_.digest());
      Places places;
      table_.scheme().place_all(fingerprint, table_.shape().num_subtables, places.data());
      const std::uint64_t num_before = table_.num_fingerprints();
      std::uint64_t num_new = 0;
      Inserted how = Inserted::plainly;
      if (!may_use_kernel() || kernels_->insert(view(), places.data(), 1, num_new) == 0)
        how = table_.insert(places.data());
      table_.add_fingerprints(num_new);
      num_full_ += how == Inserted::no_cell || how == Inserted::no_spill;
      num_rescues_ += how == Inserted::by_moves;
      if (how != Inserted::plainly && how != Inserted::by_moves) continue;
      watch(places, table_.num_fingerprints() != num_before);
      return fingerprint;
    }
  }

  Random random_;
  DLeftTable<Scheme> table_;
  const detail::DLeftKernels* kernels_;
  std::vector<std::uint64_t> keys_;  // their fingerprints
  std::uint64_t num_full_ = 0;
  std::uint64_t num_rescues_ = 0;
};

}  // namespace tally::experiments
