#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "input/key_reader.hpp"
#include "tally/hashing/key_hasher.hpp"

namespace tally::cli {

/// What two threads do with keys, one by one, where those in some set need no more work and others come to be in it.
///
/// `find_absent` and `remember` are called by the second thread, `use` by the one that calls read_ahead: the set
/// belongs to the one, everything else to the other.
struct WorkForTwo {
  using Keys = std::span<const std::string_view>;
  using Digests = std::span<const Hash128>;

  /// Writes the indices of the digests that are not in the set, in order, and returns how many there are. There is room
  /// for those of all digests, or more.
  std::function<std::size_t(Digests digests, std::span<std::uint32_t> indices)> find_absent;

  /// Puts into the set what `use` returned, all of it sooner or later, in that order.
  std::function<void(Digests digests)> remember;

  /// Takes the keys in their order, but for those that find_absent did not name, of which there were `num_others` more.
  /// `num_remembered`: of all that earlier calls returned, so many were in the set by then; some of the others may
  /// be among the keys. Returns the digests that are to be remembered, valid until the next call.
  std::function<Digests(Keys keys, Digests digests, std::uint64_t num_others, std::uint64_t num_remembered)>
      use;
};

/// Whether all input is files, and not tiny ones. What is still being written is better read by one thread: keys are
/// used at once then.
bool can_read_ahead(const InputOptions& input);

/// Reads and hashes all keys, and works on them, in two threads. `use` has KeyReader::max_keys_a_call keys a call at
/// most. False, and nothing has been done, if there is no second thread to be had. Throws as KeyReader does, and what
/// the work throws.
bool read_ahead(const InputOptions& input, const KeyHasher& hasher, bool quiet, const WorkForTwo& work);

}  // namespace tally::cli
