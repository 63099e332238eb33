#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "store/input_unit.hpp"
#include "tally/redis_client/store.hpp"

// What commands that only read get from the shards.

namespace tally::cli {

struct CountedText {
  std::string key;
  std::uint64_t count = 0;
};

/// The lists of TOPK.* of all shards, in no order.
std::vector<CountedText> read_top_lists(redis_client::Cluster& cluster, const redis_client::Store& store);

/// What TALLY.PACKEDREAD replies for every key of the unit, in its order.
std::vector<bool> query_unit(redis_client::Cluster& cluster, const redis_client::Store& store,
                             const InputUnit& unit);
struct ShardCount {
  std::uint64_t value = 0;
  bool is_saturated = false;
};
std::vector<ShardCount> count_unit(redis_client::Cluster& cluster, const redis_client::Store& store,
                                   const InputUnit& unit);

/// What TALLY.PLAN says of these options.
struct ServerPlan {
  std::string kind;
  std::string options;
  std::uint64_t num_bytes = 0;
  std::string false_positive_rate;  ///< empty if unknown
};
ServerPlan plan_on_server(redis_client::Cluster& cluster, const std::string& name,
                          const std::vector<std::string>& options);

}  // namespace tally::cli
