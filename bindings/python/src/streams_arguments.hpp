#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "keys.hpp"
#include "python.hpp"
#include "tally/streams/records.hpp"

// What the constructors and batches of streams take.

namespace tally::python {

/// How a stream hashes its keys.
struct StreamHash {
  KeyHasher hasher = 0;
  std::optional<HashKey> secret = {};  ///< of a keyed hash
  bool is_drawn = false;               ///< neither a seed nor a secret was given: the seed is a random number
};

/// Nobody can prepare keys that collide under a seed that is drawn.
StreamHash stream_hash_from(py::handle seed, py::handle key);

/// The seed as Python sees it: an int, or None with a keyed hash.
py::object seed_of(const KeyHasher& hasher);
/// The end of a repr: "seed 17", or "keyed hash".
std::string seed_text(const KeyHasher& hasher);

/// The more slots, the longer each call takes; the command has the same limit.
inline constexpr std::uint32_t most_slots = 1000;

struct WindowArguments {
  std::optional<Nanoseconds> length;
  std::uint32_t num_slots = 1;
};
WindowArguments window_from(py::handle window_seconds, py::handle num_slots);

/// Weights and times of the keys of a batch; each may be None.
class RecordArguments {
 public:
  RecordArguments(py::handle weights, py::handle times, std::size_t num_keys, bool has_window);
  /// Of one key.
  static RecordArguments of_one(py::handle weight, py::handle time, bool has_window);

  /// Empty: 1 each.
  std::span<const std::uint64_t> weights() const noexcept {
    return weights_ ? weights_->span() : std::span<const std::uint64_t>();
  }
  /// Empty without a window.
  std::span<const Nanoseconds> times() const noexcept { return times_; }

 private:
  RecordArguments() = default;
  void take_times(py::handle times, const char* helper, const char* field, bool has_window);

  std::optional<Numbers> weights_;
  py::object source_;  // keeps the memory of the times
  std::span<const Nanoseconds> times_;
};

}  // namespace tally::python
