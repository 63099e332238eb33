#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "tally/detail/streams/time_ring.hpp"
#include "tally/export.hpp"
#include "tally/sketches/space_saving.hpp"
#include "tally/sketches/top_keys.hpp"
#include "tally/streams/ranking.hpp"
#include "tally/streams/records.hpp"

namespace tally {

/// The most frequent keys of a stream, or of its last window.
///
/// A window is divided into slots, and each of the last num_slots + 1 slots has a TopKeys. So the counts reach back at
/// least one window, and at most one window and one slot. The bounds of a key are the sums of its bounds in the slots.
///
/// Laws: those of TopKeys and SpaceSaving for the records in the slots. After a call that threw std::bad_alloc, the stream
/// may only be destroyed.
/// Thread rule: one thread at a time.
class TALLY_EXPORT TopStream {
 public:
  /// How many candidates a TopStream keeps, how it counts them, and over which window.
  struct Options {
    std::uint64_t capacity = 0;              ///< number of candidates per slot
    CountMinShape sketch = {};               ///< for TopKeys
    bool space_saving = false;               ///< use SpaceSaving instead of TopKeys
    std::optional<Nanoseconds> window = {};  ///< at least 1; nothing: the whole stream
    std::uint32_t num_slots = 1;             ///< of a window, at least 1
    KeyHasher hasher = 0;
  };

  /// Throws what TopKeys and SpaceSaving throw, and std::invalid_argument if the window or number of slots is 0.
  explicit TopStream(const Options& options);
  /// The stream that saved this state, without taking memory beside that of the state, whatever capacity the options claim.
  /// Throws as `restore`, too.
  TopStream(const Options& options, StateReader& state, const std::optional<HashKey>& key);
  TopStream(TopStream&&) noexcept = default;
  TopStream& operator=(TopStream&&) noexcept = default;
  ~TopStream() = default;

  /// Adds records: keys, digests, weights if they are not 1, and times if there is a window. Throws std::invalid_argument
  /// for spans of different lengths; std::bad_alloc.
  void add(const StreamRecords& records);

  /// All candidates with their bounds over all slots, in no order; valid until the next call of another function. No key
  /// is missing whose share of the total is above 1 / `capacity`.
  Ranking candidates() const;

  /// A file of kind top-keys or space-saving. Throws std::logic_error for a stream with a window.
  std::vector<std::byte> file() const;

  /// The whole state of the stream; for `restore` see ThresholdStream.
  void save(StateWriter& state) const;
  void restore(StateReader& state, const std::optional<HashKey>& key);

  std::uint64_t memory_bytes() const noexcept;
  std::uint64_t num_records() const noexcept { return num_records_; }  ///< without those left out as too late
  const TimeSteps& clock() const noexcept { return ring_.clock(); }

 private:
  using Slot = std::variant<TopKeys<>, SpaceSaving>;

  Options options_;
  detail::TimeRing<Slot> ring_;
  std::uint64_t num_records_ = 0;
};

}  // namespace tally
