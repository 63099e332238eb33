#include "store/reply_lists.hpp"

#include <charconv>

#include "tally/redis_client/reply_text.hpp"

namespace tally::cli {
namespace {

using redis_client::Cluster;
using redis_client::Reply;
using redis_client::StoreError;

void require_type(const redisReply& reply, int type, const std::string& key) {
  if (redis_client::is_error(reply))
    throw StoreError("'" + key + "': " + std::string(redis_client::text_of(reply)));
  if (reply.type != type) throw StoreError("'" + key + "': the reply has an unknown form");
}

void wait_for_all(Cluster& cluster) {
  while (!cluster.is_idle()) cluster.step(redis_client::Connection::second / 10);
}

/// A lane for each shard, made once for each cluster.
std::size_t lane_of(Cluster& cluster, const redis_client::Store& store, std::uint32_t shard) {
  return cluster.lane_of(store.key_of(shard));
}

template <class Take>
void read_unit(Cluster& cluster, const redis_client::Store& store, const InputUnit& unit,
               const char* operation, int type, Take take) {
  for (std::uint32_t shard = 0; shard < unit.num_shards(); ++shard) {
    if (unit.of_shard(shard).empty()) continue;
    const std::string key = store.key_of(shard);
    cluster.send(lane_of(cluster, store, shard), {"TALLY.PACKEDREAD", key, operation, unit.packed(shard)},
                 [&unit, key, shard, type, take](const Reply& reply) {
                   require_type(*reply, type, key);
                   take(*reply, unit.of_shard(shard), key);
                 });
  }
  wait_for_all(cluster);
}

}  // namespace

std::vector<CountedText> read_top_lists(Cluster& cluster, const redis_client::Store& store) {
  std::vector<CountedText> keys;
  for (std::uint32_t shard = 0; shard < store.num_shards(); ++shard) {
    const std::string key = store.key_of(shard);
    cluster.send(lane_of(cluster, store, shard), {"TALLY.TOPK.LIST", key, "WITHCOUNT"},
                 [&keys, key](const Reply& reply) {
                   require_type(*reply, REDIS_REPLY_ARRAY, key);
                   for (std::size_t i = 0; i + 1 < reply->elements; i += 2) {
                     const redisReply& name = *reply->element[i];
                     const redisReply& count = *reply->element[i + 1];
                     require_type(count, REDIS_REPLY_INTEGER, key);
                     if (name.type == REDIS_REPLY_NIL) continue;
                     keys.push_back({std::string(redis_client::text_of(name)),
                                     static_cast<std::uint64_t>(count.integer)});
                   }
                 });
  }
  wait_for_all(cluster);
  return keys;
}

std::vector<bool> query_unit(Cluster& cluster, const redis_client::Store& store, const InputUnit& unit) {
  std::vector<bool> answers(unit.size());
  read_unit(
      cluster, store, unit, "QUERY", REDIS_REPLY_STRING,
      [&answers](const redisReply& reply, std::span<const std::uint32_t> indices, const std::string& key) {
        if (reply.len != indices.size()) throw StoreError("'" + key + "': the reply has a wrong length");
        for (std::size_t i = 0; i < indices.size(); ++i) answers[indices[i]] = reply.str[i] == '1';
      });
  return answers;
}

std::vector<ShardCount> count_unit(Cluster& cluster, const redis_client::Store& store,
                                   const InputUnit& unit) {
  std::vector<ShardCount> counts(unit.size());
  read_unit(
      cluster, store, unit, "COUNT", REDIS_REPLY_ARRAY,
      [&counts](const redisReply& reply, std::span<const std::uint32_t> indices, const std::string& key) {
        if (reply.elements != indices.size()) throw StoreError("'" + key + "': the reply has a wrong length");
        for (std::size_t i = 0; i < indices.size(); ++i) {
          require_type(*reply.element[i], REDIS_REPLY_INTEGER, key);
          const long long count = reply.element[i]->integer;
          counts[indices[i]] = {static_cast<std::uint64_t>(count < 0 ? -count : count), count < 0};
        }
      });
  return counts;
}

ServerPlan plan_on_server(Cluster& cluster, const std::string& name,
                          const std::vector<std::string>& options) {
  Cluster::Arguments words{"TALLY.PLAN"};
  words.insert(words.end(), options.begin(), options.end());
  const Reply reply = cluster.call(name, words);
  require_type(*reply, REDIS_REPLY_ARRAY, name);
  ServerPlan plan;
  for (std::size_t i = 0; i + 1 < reply->elements; i += 2) {
    const std::string_view field = redis_client::text_of(*reply->element[i]);
    const redisReply& value = *reply->element[i + 1];
    if (field == "kind") plan.kind = redis_client::text_of(value);
    if (field == "options") plan.options = redis_client::text_of(value);
    if (field == "bytes") plan.num_bytes = static_cast<std::uint64_t>(value.integer);
    if (field == "false positive rate") plan.false_positive_rate = redis_client::text_of(value);
  }
  if (plan.options.empty()) throw StoreError("the reply of TALLY.PLAN has an unknown form");
  return plan;
}

}  // namespace tally::cli
