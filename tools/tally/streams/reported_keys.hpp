#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "streams/recent_digests.hpp"
#include "tally/sets/hash_set.hpp"

namespace tally::cli {

/// The digests of keys that were reported: a set, and beside it the latest ones, which a batch of keys that was looked
/// up in the set beforehand may still hold.
///
/// Either `add` puts them into the set at once, or, from the first call of begin_batch_ahead on, they wait for a call of
/// `remember`. Then `find_absent` and `remember` may run in one thread, and everything else in another one.
class ReportedKeys {
 public:
  /// As of HashSet.
  explicit ReportedKeys(std::uint64_t max_bytes) : set_(max_bytes) {}

  /// Writes the indices of the digests that are not in the set, in order, and returns how many there are.
  std::size_t find_absent(std::span<const Hash128> digests, std::span<std::uint32_t> indices) const noexcept {
    return set_.find_absent(digests, indices);
  }
  /// Throws std::bad_alloc.
  void remember(std::span<const Hash128> digests);

  /// The next batch was looked up in the set as it is now.
  void begin_batch() { begin_batch_after(latest_.size()); }
  /// It was looked up when the first `num_remembered` of all that were added had been remembered.
  void begin_batch_ahead(std::uint64_t num_remembered) {
    remembers_at_once_ = false;
    begin_batch_after(num_remembered);
  }
  /// Whether a digest of the batch, which was not in the set, has been added since.
  bool has_since(Hash128 digest) const noexcept { return latest_.contains(digest, first_since_lookup_); }

  /// 'full': the set may not grow any more, and the digest is not in it. Throws std::bad_alloc, and it is not in it then.
  HashSet::Outcome add(Hash128 digest);
  /// What was added since the batch began; valid until the next call of another function.
  std::span<const Hash128> added() const noexcept { return latest_.from(first_of_batch_); }

  /// Not while another thread may call `remember`.
  const HashSet& set() const noexcept { return set_; }
  void restore(HashSet set) { set_ = std::move(set); }

 private:
  void begin_batch_after(std::uint64_t num_in_set);

  HashSet set_;
  RecentDigests latest_;
  std::uint64_t first_since_lookup_ = 0;
  std::uint64_t first_of_batch_ = 0;
  bool remembers_at_once_ = true;
};

}  // namespace tally::cli
