#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "tally/streams/state_loader.hpp"
#include "tally/streams/state_pieces.hpp"
#include "tally/streams/sum.hpp"
#include "tally/streams/threshold.hpp"

namespace tally::redis {

/// Of a key with a window, unless its options say it.
inline constexpr std::uint64_t default_window_bytes = std::uint64_t{16} << 20;

/// The options of `tally over`.
struct OverOptions {
  std::uint64_t threshold = 1;
  std::optional<Nanoseconds> window = {};
  std::uint32_t num_slots = 4;
  std::optional<std::uint64_t> memory_bytes = {};
  std::optional<std::uint64_t> num_keys = {};
  std::optional<double> false_positive_rate = {};
  CounterUpdate update = CounterUpdate::plain;
  std::uint64_t seed = 0;

  /// What a state contains of them.
  StateOptions list() const;
};

/// Counts items and says which have just reached a threshold: in all, or within a window. It sizes itself as `tally over`
/// does.
class OverStream {
 public:
  /// Throws std::invalid_argument for options out of range or that contradict each other, and std::bad_alloc.
  explicit OverStream(const OverOptions& options);
  /// From what `pieces` returned, once it is complete. Throws FormatError, StateMismatch and std::bad_alloc.
  explicit OverStream(StateLoader&& state);
  /// An empty one with the options of a state, for which require_options_that_fit has been called. Throws FormatError and
  /// std::bad_alloc.
  static OverStream empty(const StateLoader& state);

  const OverOptions& options() const noexcept { return options_; }
  KeyHasher hasher() const noexcept { return options_.seed; }

  /// Adds items at this time, which counts only with a window. Returns those that are reported now, in order; valid until
  /// the next call. After std::bad_alloc a part of the items is counted.
  std::span<const ReachedKey> add(std::span<const Hash128> digests, Nanoseconds time);

  /// ThresholdStream has the same functions. A stream with a window does not grow.
  std::uint64_t memory_bytes_with(std::uint64_t num_items) const;
  std::uint64_t bytes_of_new_filters(std::uint64_t num_items) const;
  std::uint64_t most_bytes_to_add(std::uint64_t num_items) const;

  /// Valid until the stream changes or moves.
  StatePieces pieces() const;
  std::uint64_t memory_bytes() const { return memory_bytes_with(0); }

  using Stream = std::variant<ThresholdStream, SumStream>;
  const Stream& stream() const noexcept { return stream_; }

 private:
  OverOptions options_;
  Stream stream_;
};

/// Throws FormatError for options that are damaged, or that take far more memory than the state.
void require_options_that_fit(const StateLoader& state);

}  // namespace tally::redis
