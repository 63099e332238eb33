#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "input/records.hpp"
#include "streams/state_file.hpp"
#include "streams/time_steps.hpp"
#include "tally/sets/hash_set.hpp"
#include "tally/sketches/count_min.hpp"

namespace tally::cli {

/// Reports every key of a stream when the sum of its weights reaches a threshold: in the whole stream, or in
/// a window.
///
/// A window is cut into slots, and there is a Count-Min sketch for each of the last num_slots + 1 of them: so
/// what is counted reaches back one window at least, and one window and a slot at most. No sketch estimates
/// too low, so every key whose sum reaches the threshold in any stretch of time of the window's length is
/// reported then, if its last report is not in those slots still. A key is reported falsely if it has the
/// threshold only in a window and a slot, or if all its counters are too high by what it lacks.
class SumStream {
 public:
  struct Options {
    std::uint64_t threshold = 1;
    std::uint64_t memory_bytes = 0;  ///< of sketches and reported keys together: a hard bound
    std::optional<Nanoseconds> window;
    std::uint32_t num_slots = 1;
    KeyHasher hasher = 0;
  };
  using Report = std::function<void(std::string_view key, std::uint64_t sum)>;
  using Notice = std::function<void(const std::string& text)>;

  /// Throws std::invalid_argument if so many slots do not fit the memory.
  SumStream(const Options& options, Report report, Notice notice);

  void add(const Records& records);

  /// As ThresholdStream has them.
  void save(StateWriter& state) const;
  void restore(StateReader& state, const std::optional<HashKey>& key);

  std::uint64_t num_counted() const noexcept { return num_counted_; }  ///< lines
  std::uint64_t total() const noexcept;  ///< of all weights; in a window: of those in it
  std::uint64_t num_reported() const noexcept { return num_reported_; }
  std::uint64_t num_repeats_possible() const noexcept { return num_repeats_possible_; }
  std::uint64_t memory_bytes() const noexcept;
  /// A sum is too high by more than epsilon times `total` with the failure probability at most.
  CountMinBound bound() const noexcept { return slots_[0].sums.bound(); }
  const TimeSteps& clock() const noexcept { return clock_; }

 private:
  struct Slot {
    CountMinSketch<> sums;
    HashSet reported;
  };

  void add_part(const Records& records);
  void add_window(const Records& records);
  void pass(std::uint64_t num_steps);
  bool is_reported(Hash128 digest) const noexcept;
  void report_key(std::string_view key, Hash128 digest, std::uint64_t sum);

  Options options_;
  Report report_;
  Notice notice_;
  std::uint64_t set_bytes_;  // of one slot
  std::vector<Slot> slots_;
  std::size_t current_ = 0;
  TimeSteps clock_;

  std::uint64_t num_counted_ = 0;
  std::uint64_t num_reported_ = 0;
  std::uint64_t num_repeats_possible_ = 0;
};

}  // namespace tally::cli
