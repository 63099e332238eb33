#pragma once

#include <cmath>
#include <cstdint>

#include "support/rounds.hpp"
#include "tally/hashing/mix64.hpp"
#include "workload.hpp"

namespace tally::bench {

/// The numbers of the keys in a pass over one structure, by their place i in the pass.
class KeyNumbers {
 public:
  KeyNumbers(const Workload& workload, bool can_remove)
      : workload_(&workload),
        members_(can_remove ? &workload.members() : &workload.first_members()),
        ln_num_ranks_(std::log(2 * static_cast<double>(members_->size()) + 1)) {}

  std::uint64_t member(std::uint64_t i) const noexcept {
    return (*members_)[(workload_->start() + i) % members_->size()];
  }
  std::uint64_t absent(std::uint64_t i) const noexcept { return first_absent + workload_->start() + i; }
  /// A member or not, with equal probability.
  std::uint64_t mixed(std::uint64_t i) const noexcept { return (random(i) & 1) != 0 ? member(i) : absent(i); }
  /// By Zipf's law with the exponent 1 over all members and as many absent keys, which alternate in rank: a draw from the
  /// density 1 / x, rounded down.
  std::uint64_t zipf(std::uint64_t i) const noexcept {
    const double share = 0x1p-53 * static_cast<double>(random(i) >> 11);
    const auto rank = static_cast<std::uint64_t>(std::exp(share * ln_num_ranks_)) - 1;
    return rank % 2 == 0 ? (*members_)[rank / 2 % members_->size()] : first_absent + rank;
  }
  /// That takes the place of member(i).
  std::uint64_t replacement(std::uint64_t i) const noexcept { return workload_->first_new() + i; }

 private:
  std::uint64_t random(std::uint64_t i) const noexcept { return mix64(workload_->salt() + i); }

  const Workload* workload_;
  const std::vector<std::uint32_t>* members_;
  double ln_num_ranks_;
};

}  // namespace tally::bench
