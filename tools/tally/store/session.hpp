#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "store/options.hpp"
#include "tally/planner/plan_shares.hpp"
#include "tally/redis_client/store.hpp"

namespace tally::cli {

/// A master answers nobody while it hands a shard over to another one.
inline constexpr std::uint64_t most_bytes_of_shard = std::uint64_t{64} << 20;

/// The options of a store by name, and what they are: for comparison with those that it was made with.
using StoreWords = std::map<std::string, std::string>;

/// A connection to the servers of --store, and the structure there.
class StoreSession {
 public:
  StoreSession(const StoreOptions& options, bool quiet);

  redis_client::Cluster& cluster() noexcept { return cluster_; }
  const std::string& name() const noexcept { return name_; }

  /// The store, which must have this kind. Throws std::runtime_error if there is none.
  const redis_client::Store& open(const std::string& kind);
  /// The same; if there is none, `plan` describes it. Throws std::runtime_error if `given` has an option that differs from
  /// that of a store that is there. `must_be_new`: if one is there.
  const redis_client::Store& open_or_make(const std::string& kind, const StoreWords& given,
                                          const std::function<redis_client::StoreDescription()>& plan,
                                          bool must_be_new = false);

  /// How many shards a new store has, and for how many keys each is planned. `bytes_of` as in plan_shares, which throws.
  SharePlan plan(std::uint64_t num_keys, const StoreOptions& options,
                 const std::function<std::uint64_t(std::uint64_t num_keys)>& bytes_of) const;
  /// What the number of shards of a new store is a multiple of, so that each master gets about the same number.
  std::uint32_t shards_multiple() const;
  /// The number of shards of a new store: the given one, or one from `least` on with which the masters have about equal shares.
  std::uint32_t balanced(std::uint32_t least, const StoreOptions& options) const;

 private:
  void require_kind(const std::string& kind) const;

  std::string name_;
  redis_client::Cluster cluster_;
  std::optional<redis_client::Store> store_;
};

}  // namespace tally::cli
