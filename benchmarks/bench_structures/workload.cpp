#include "workload.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "support/rounds.hpp"
#include "tally/hashing/mix64.hpp"
#include "tally/hashing/range_reduction.hpp"

namespace tally::bench {

Workload::Workload(std::uint64_t num_keys)
    : first_members_(num_keys),
      keys_per_pass_(std::min<std::uint64_t>(1 << 18, num_keys / passes_with_replacements) / batch * batch),
      first_new_(num_keys) {
  std::iota(first_members_.begin(), first_members_.end(), 0u);
  for (std::uint64_t i = num_keys - 1; i > 0; --i)
    std::swap(first_members_[i], first_members_[reduce_to_range(mix64(i), i + 1)]);
  members_ = first_members_;
}

void Workload::next_round() {
  if (round_ > 0) {
    for (std::uint64_t i = 0; i < passes_with_replacements * keys_per_pass_; ++i)
      members_[(start_ + i) % members_.size()] = static_cast<std::uint32_t>(first_new_++);
  }
  ++round_;
  salt_ = mix64(round_) << 32;
  start_ = reduce_to_range(mix64(salt_), members_.size());
}

}  // namespace tally::bench
