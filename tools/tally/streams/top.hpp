#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "input/records.hpp"
#include "streams/ranking.hpp"
#include "streams/state_file.hpp"
#include "streams/time_steps.hpp"
#include "tally/sketches/space_saving.hpp"
#include "tally/sketches/top_keys.hpp"

namespace tally::cli {

/// The most frequent keys of a stream, or of its last window.
///
/// A window is cut into slots, and there is a TopKeys for each of the last num_slots + 1 of them: so what is
/// counted reaches back one window at least, and one window and a slot at most. The bounds of a key are the
/// sums of its bounds in them.
class TopStream {
 public:
  struct Options {
    std::uint64_t capacity = 0;  ///< candidates of each slot
    CountMinShape sketch;        ///< for TopKeys
    bool space_saving = false;   ///< SpaceSaving in place of TopKeys
    std::optional<Nanoseconds> window;
    std::uint32_t num_slots = 1;
    KeyHasher hasher = 0;
  };

  explicit TopStream(const Options& options);

  void add(const Records& records);

  /// As ThresholdStream has them.
  void save(StateWriter& state) const;
  void restore(StateReader& state, const std::optional<HashKey>& key);

  /// All candidates with their bounds over all slots, in no order. No key above a share of the total is missing whose
  /// inverse is at most the capacity.
  Ranking candidates() const;

  /// A file of kind top-keys or space-saving, for a stream without a window.
  std::vector<std::byte> file() const;

  std::uint64_t num_bytes() const noexcept;
  std::uint64_t num_counted() const noexcept { return num_counted_; }  ///< lines
  const TimeSteps& clock() const noexcept { return clock_; }

 private:
  using Slot = std::variant<TopKeys<>, SpaceSaving>;

  void pass(std::uint64_t num_steps);
  Options options_;
  std::vector<Slot> slots_;
  std::size_t current_ = 0;
  TimeSteps clock_;
  std::uint64_t num_counted_ = 0;
};

}  // namespace tally::cli
