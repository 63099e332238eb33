#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tally/detail/streams/recent_digests.hpp"
#include "tally/export.hpp"
#include "tally/sets/hash_set.hpp"

namespace tally {

/// The digests of keys that were reported: a set, and a list of the latest ones. A batch that was looked up in the set
/// earlier may still contain keys of that list.
///
/// `add` inserts a digest into the set at once, or, after the first call of begin_batch_ahead, only when `remember` is
/// called. Then one thread may call `find_absent` and `remember`, and another thread all other functions.
class TALLY_EXPORT ReportedKeys {
 public:
  /// As in HashSet.
  explicit ReportedKeys(std::uint64_t max_bytes) : set_(max_bytes) {}
  ReportedKeys(const ReportedKeys&) = delete;
  ReportedKeys& operator=(const ReportedKeys&) = delete;

  /// Writes the indices of the digests that are not in the set, in order, and returns their number.
  std::size_t find_absent(std::span<const Hash128> digests, std::span<std::uint32_t> indices) const noexcept {
    return set_.find_absent(digests, indices);
  }
  /// Throws std::bad_alloc.
  void remember(std::span<const Hash128> digests);

  /// Begins a batch that was looked up in the present set.
  void begin_batch() { begin_batch_after(latest_.size()); }
  /// Begins a batch that was looked up when the set had the first `num_remembered` of all added digests.
  void begin_batch_ahead(std::uint64_t num_remembered) {
    remembers_at_once_ = false;
    begin_batch_after(num_remembered);
  }
  /// Whether a digest of the batch that was not in the set has been added since then.
  bool has_since(Hash128 digest) const noexcept { return latest_.contains(digest, first_since_lookup_); }

  /// 'full': the set cannot grow any more. Then, and if it throws std::bad_alloc, the digest is not in the set.
  HashSet::Outcome add(Hash128 digest);
  /// The digests added since the batch began; valid until the next call of another function.
  std::span<const Hash128> added() const noexcept { return latest_.from(first_of_batch_); }

  /// Must not be called while another thread may call `remember`.
  const HashSet& set() const noexcept { return set_; }
  void restore(HashSet set) { set_ = std::move(set); }

 private:
  void begin_batch_after(std::uint64_t num_in_set);

  HashSet set_;
  detail::RecentDigests latest_;
  std::uint64_t first_since_lookup_ = 0;
  std::uint64_t first_of_batch_ = 0;
  bool remembers_at_once_ = true;
};

}  // namespace tally
