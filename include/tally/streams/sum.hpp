#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tally/detail/streams/report_totals.hpp"
#include "tally/detail/streams/time_ring.hpp"
#include "tally/export.hpp"
#include "tally/sets/hash_set.hpp"
#include "tally/sketches/count_min.hpp"
#include "tally/streams/observer.hpp"
#include "tally/streams/reached_key.hpp"
#include "tally/streams/records.hpp"

namespace tally {

/// Reports every key of a stream when the sum of its weights reaches a threshold: in the whole stream, or in a window.
///
/// A window is divided into slots, and each of the last num_slots + 1 slots has a Count-Min sketch. So the sums reach
/// back at least one window, and at most one window and one slot. No sketch estimates too low: every key whose sum reaches
/// the threshold within any time of the window's length is reported then, unless one of these slots has a report of it. A
/// key is reported falsely if it reaches the threshold only within a window and a slot, or if each of its counters is too
/// high by at least what it lacks. Once the set of reported keys is full, a key may be reported again.
///
/// Laws: the reports do not depend on how the stream is divided into batches, or on a stop between them (save, restore).
/// After a call that threw std::bad_alloc, the stream may only be destroyed.
/// Thread rule: one thread at a time.
/// @source conservative update: Estan and Varghese 2002; the bound: Cormode and Muthukrishnan 2003
class TALLY_EXPORT SumStream {
 public:
  /// What a SumStream counts up to, with how much memory, and over which window.
  struct Options {
    std::uint64_t threshold = 1;
    std::uint64_t memory_bytes = std::uint64_t{16} << 20;  ///< maximum of sketches and reported keys together
    std::optional<Nanoseconds> window = {};                ///< at least 1; nothing: the whole stream
    std::uint32_t num_slots = 1;                           ///< of a window, at least 1
    KeyHasher hasher = 0;
  };

  /// The stream calls only filled_reported_keys of the observer, which may be null and must outlive the stream. Throws
  /// std::invalid_argument if the memory is below least_memory_bytes, or the window or number of slots is 0; std::bad_alloc.
  explicit SumStream(const Options& options, StreamObserver* observer = nullptr);
  /// The stream that saved this state, without taking memory beside that of the state. Throws as `restore`, too.
  SumStream(const Options& options, StateReader& state, const std::optional<HashKey>& key,
            StreamObserver* observer = nullptr);
  SumStream(SumStream&&) noexcept = default;
  SumStream& operator=(SumStream&&) noexcept = default;
  ~SumStream() = default;

  /// The smallest possible memory for this number of slots.
  static std::uint64_t least_memory_bytes(const Options& options) noexcept;

  /// Adds records: digests, weights if they are not 1, and times if there is a window. Returns the keys that are reported
  /// now, in order; valid until the next call. Throws std::invalid_argument for spans of different lengths; std::bad_alloc.
  std::span<const ReachedKey> add(const StreamRecords& records);

  /// The whole state of the stream; for `restore` see ThresholdStream.
  void save(StateWriter& state) const;
  void restore(StateReader& state, const std::optional<HashKey>& key);

  std::uint64_t num_records() const noexcept { return num_records_; }  ///< without those left out as too late
  std::uint64_t total() const noexcept;  ///< sum of all weights; with a window, of those in it
  std::uint64_t num_reported() const noexcept { return totals_.num_reported; }
  /// As in ThresholdStreamStatistics.
  std::uint64_t num_possible_repeats() const noexcept { return totals_.num_possible_repeats; }
  std::uint64_t memory_bytes() const noexcept;
  /// An upper bound of the memory that a call with `num_records` allocates, at its peak.
  std::uint64_t most_bytes_to_add(std::uint64_t num_records) const noexcept;
  /// The probability that a sum is too high by more than epsilon times `total` is at most the failure probability.
  CountMinBound bound() const noexcept { return ring_.slots()[0].sums.bound(); }
  const TimeSteps& clock() const noexcept { return ring_.clock(); }

 private:
  struct Slot {
    CountMinSketch<> sums;
    HashSet reported;
  };

  void add_part(const StreamRecords& records, std::size_t first_index);
  void report_key(Hash128 digest, ReachedKey key);

  Options options_;
  StreamObserver* observer_;
  std::uint64_t set_bytes_;  // of one slot
  detail::TimeRing<Slot> ring_;
  std::vector<ReachedKey> reached_;
  std::uint64_t num_records_ = 0;
  detail::ReportTotals totals_;
};

}  // namespace tally
