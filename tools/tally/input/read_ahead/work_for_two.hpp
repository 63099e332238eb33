#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "tally/hashing/hash128.hpp"

namespace tally::cli {

/// What the first two threads do with keys, one by one, if keys in some set need no more work and others enter the set.
///
/// The second thread calls `find_absent` and `remember`, and so owns the set. The thread that calls read_ahead calls `use`,
/// and owns everything else. What find_absent throws, read_ahead throws once all keys that were named before are used.
struct WorkForTwo {
  using Texts = std::span<const std::string_view>;
  using Digests = std::span<const Hash128>;

  /// Writes the indices of the digests that are not in the set, in order, and returns their number. `indices` is at least
  /// as long as `digests`. If it is empty, `use` receives all keys, and the second thread only reads and hashes.
  std::function<std::size_t(Digests digests, std::span<std::uint32_t> indices)> find_absent;

  /// Whether find_absent may be called by any thread, by several at once, and for digests in any order: then all call it.
  bool in_any_order = false;

  /// Inserts into the set what `use` returned: all of it sooner or later, in that order.
  std::function<void(Digests digests)> remember;

  /// Takes the keys in their order, and the texts that are printed of them, without those that find_absent did not name, of
  /// which there were `num_others` more. At that time the first `num_remembered` digests of all that earlier calls returned
  /// were in the set; some of the later ones may be among the keys. Returns the digests to remember, valid until the next call.
  std::function<Digests(Texts texts, Digests digests, std::uint64_t num_others, std::uint64_t num_remembered)>
      use;
};

}  // namespace tally::cli
