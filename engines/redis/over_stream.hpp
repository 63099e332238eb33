#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "tally/streams/state_kind.hpp"
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
  /// From what `state` returned. Throws FormatError and std::bad_alloc.
  explicit OverStream(std::vector<std::byte> state);

  const OverOptions& options() const noexcept { return options_; }
  KeyHasher hasher() const noexcept { return options_.seed; }

  /// Adds items at this time, which counts only with a window. Returns those that are reported now, in order; valid until
  /// the next call. After std::bad_alloc the stream may only be destroyed.
  std::span<const ReachedKey> add(std::span<const Hash128> digests, Nanoseconds time);

  /// Whether `num_items` more surely do not make it larger than `max_bytes`. False may also mean that they almost would.
  bool has_room_for(std::uint64_t num_items, std::uint64_t max_bytes);

  std::vector<std::byte> state() const;
  std::uint64_t memory_bytes() const;

  using Stream = std::variant<ThresholdStream, SumStream>;
  const Stream& stream() const noexcept { return stream_; }

 private:
  OverOptions options_;
  Stream stream_;
  std::uint64_t num_items_before_check_ = 0;
  std::uint64_t checked_for_bytes_ = 0;
};

}  // namespace tally::redis
