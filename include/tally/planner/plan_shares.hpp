#pragma once

#include <cstdint>
#include <functional>
#include <limits>

#include "tally/export.hpp"
#include "tally/hashing/shard.hpp"
#include "tally/planner/requirements.hpp"
#include "tally/shapes/filter_kind.hpp"

namespace tally {

/// One filter that is divided over shares: structures of one shape, each with the keys of one shard (shard_of). Every key
/// is in exactly one of them.
struct ShareRequirements {
  /// Distinct keys of all shares together, at any one time: 1 to 2^40.
  std::uint64_t num_keys = 0;
  /// The most bytes that the structure of one share may take: at least 1. Default: any number.
  std::uint64_t max_bytes_per_share = std::numeric_limits<std::uint64_t>::max();
  /// The probability that some share gets more keys than it is planned for; above 0 and below 1. It is that of one set of
  /// num_keys keys. If keys are replaced, each new set has this probability.
  double failure_probability = 1e-6;
  /// 1 to max_num_shards (shard.hpp), and a multiple of multiple_of; 0: the fewest that fit.
  std::uint32_t num_shares = 0;
  /// For example the number of servers, so that each gets the same number of shares: 1 to max_num_shards.
  std::uint32_t multiple_of = 1;
};

/// How a filter is divided over shares.
struct SharePlan {
  std::uint32_t num_shares = 0;
  /// The number of keys that each structure is planned for.
  std::uint64_t keys_per_share = 0;
  /// Of such a structure; all shares together take num_shares times as many.
  std::uint64_t bytes_per_share = 0;
  /// Bound on the probability that some share gets more keys, at most the one that was allowed.
  double failure_probability = 0;
};

/// The number of shares, and the number of keys that each must be planned for. This is more than num_keys / num_shares:
/// theory::largest_share, 0.44% more for 10^8 keys in 64 shares, and 14% more for 10^5.
///
/// Keys are counted, not their insertions: a key that is inserted often makes its share busier, not larger.
///
/// `bytes_of` returns the bytes of a structure for a number of keys, 1 to num_keys. It must not fall as the keys rise,
/// because the fewest shares that fit are found by bisection: about 16 calls. Whatever it throws goes through.
///
/// Throws std::invalid_argument for requirements out of range, and if no number of shares up to max_num_shards fits, or the
/// given one does not; the message says what would.
/// @source theory::largest_share
[[nodiscard]] TALLY_EXPORT SharePlan
plan_shares(const ShareRequirements& requirements,
            const std::function<std::uint64_t(std::uint64_t num_keys)>& bytes_of);

/// The same for structures that plan_shape(kind, of_share) plans, with of_share.num_keys = keys_per_share. All other fields
/// of `of_share` are about one share: its false positive rate is that of the whole filter, because a lookup asks one share.
/// Plan that shape with num_keys = keys_per_share of the result. Also throws std::invalid_argument if of_share has a
/// num_keys, memory_bytes or histogram, for a sketch (its size does not depend on the number of keys), and as plan_shape.
[[nodiscard]] TALLY_EXPORT SharePlan plan_shares(const ShareRequirements& requirements, FilterKind kind,
                                                 const Requirements& of_share);

}  // namespace tally
