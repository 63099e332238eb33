#pragma once

#include <cstdint>
#include <vector>

namespace tally::bench {

/// Which keys are in the structures, and which ones a round uses: every structure gets the same. A key is a number; its
/// digest is digest_of(number). Structures that can remove exchange members in each round; the others keep the first ones.
class Workload {
 public:
  /// At least 10,000 and at most 2^31 keys.
  explicit Workload(std::uint64_t num_keys);

  /// A structure that can remove replaces as many members in a round as in four passes.
  static constexpr std::uint64_t passes_with_replacements = 4;

  /// In a pass, which times one operation: at most 2^18, and a quarter of the members at most.
  std::uint64_t keys_per_pass() const noexcept { return keys_per_pass_; }

  /// Exchanges the members that were replaced in the last round, and chooses the keys of the next one.
  void next_round();

  /// In random order.
  const std::vector<std::uint32_t>& first_members() const noexcept { return first_members_; }
  const std::vector<std::uint32_t>& members() const noexcept { return members_; }

  /// Where the passes of this round begin among the members; other rounds begin elsewhere.
  std::uint64_t start() const noexcept { return start_; }
  /// Of the random choices in this round.
  std::uint64_t salt() const noexcept { return salt_; }
  /// The keys from this number on have never been members; they replace members in this round.
  std::uint64_t first_new() const noexcept { return first_new_; }

 private:
  std::vector<std::uint32_t> first_members_;
  std::vector<std::uint32_t> members_;
  std::uint64_t keys_per_pass_;
  std::uint64_t round_ = 0;
  std::uint64_t salt_ = 0;
  std::uint64_t start_ = 0;
  std::uint64_t first_new_;
};

}  // namespace tally::bench
