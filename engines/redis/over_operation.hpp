#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "call.hpp"
#include "over_value.hpp"

namespace tally::redis {

/// Items for a key of TALLY.OVER*, whose limits are checked.
class OverOperation {
 public:
  /// `milliseconds`: the time of the items, which only a key with a window may be given (default: the server's clock).
  /// Throws Refusal for such a time, and for more items than the limits of the call allow.
  OverOperation(const Call& call, const OverValue& value, std::size_t num_items,
                std::optional<std::int64_t> milliseconds);

  /// What replicas receive as the time of the items; nothing for a key without a window.
  std::optional<std::int64_t> replicated_milliseconds() const noexcept { return replicated_; }

  /// Adds the digests. Returns those that have just reached N, valid until the next call. Throws std::bad_alloc, and then
  /// changes nothing.
  std::span<const ReachedKey> run(OverValue& value, std::span<const Hash128> digests) const;

 private:
  std::int64_t milliseconds_ = 0;
  std::optional<std::int64_t> replicated_;
};

}  // namespace tally::redis
