#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "entries.hpp"
#include "key_numbers.hpp"
#include "measured.hpp"
#include "structure.hpp"
#include "support/rounds.hpp"
#include "workload.hpp"

namespace tally::bench {

/// One structure that holds the members of a workload. A wrong answer ends the program.
class Trial {
 public:
  /// Fills it and checks it. If `hashed`, keys are texts of 16 bytes, else ready digests.
  Trial(const Entry& entry, const Workload& workload, bool hashed);

  /// A pass of each operation. Times are kept unless the round is only for warming up. `lines` is memory for the reads of
  /// random lines, at least as large as the structure.
  void run_round(std::span<const std::uint64_t> lines, bool is_kept);

  /// That all members are there.
  void check_members();

  const Measured& measured() const noexcept { return measured_; }

 private:
  void fill();
  void check_absent();
  void time_lines(std::span<const std::uint64_t> lines, OperationTimes& batches, OperationTimes& single);
  void time_lookups(Call call, OperationTimes& times);
  /// Of members, where nothing can be removed.
  void time_insertions(Call call, OperationTimes& times);
  /// Two passes of replacements, from number `first` of those of the round on.
  void time_replacements(Call call, OperationTimes& times, std::uint64_t first);

  /// `count` keys from place `first` of a pass on; valid until the next call with the same memory.
  template <class NumberOf>
  SomeKeys keys(Keys& memory, NumberOf number_of, std::uint64_t first, std::size_t count = batch) const {
    const auto number = [&](std::size_t i) { return number_of(first + i); };
    if (hashed_) return {.texts = memory.texts_by(number, count)};
    return {.digests = memory.digests_by(number, count)};
  }
  SomeKeys members(std::uint64_t first, std::size_t count = batch) {
    return keys(
        keys_, [this](std::uint64_t i) { return numbers_.member(i); }, first, count);
  }
  /// Times a pass of use(keys) and keeps the time. No pass of a round has the keys of another one, unless there are too few:
  /// their lines would still be in the caches.
  template <class NumberOf, class Use>
  void time_pass(OperationTimes& times, Operation operation, NumberOf number_of, Use use);

  const Workload& workload_;
  bool hashed_;
  std::unique_ptr<Structure> structure_;
  KeyNumbers numbers_;
  Measured measured_;
  std::uint64_t num_passed_ = 0;  // keys in this round so far
  Keys keys_;
  Keys more_keys_;
};

}  // namespace tally::bench
