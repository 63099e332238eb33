#include "tally/redis_client/slot_map.hpp"

#include <hiredis/hiredis.h>

#include <algorithm>

namespace tally::redis_client {
namespace {

bool is_integer(const redisReply& reply, long long least, long long most) {
  return reply.type == REDIS_REPLY_INTEGER && reply.integer >= least && reply.integer <= most;
}

/// A server is an array of a host, a port and more. A host that the server does not know, or that is empty, is that of the
/// server that was asked.
std::optional<Address> server_of(const redisReply& reply, const Address& asked) {
  if (reply.type != REDIS_REPLY_ARRAY || reply.elements < 2) return std::nullopt;
  const redisReply& host = *reply.element[0];
  const redisReply& port = *reply.element[1];
  if (!is_integer(port, 1, 65535)) return std::nullopt;
  Address server = asked;
  server.port = static_cast<std::uint16_t>(port.integer);
  const std::string name = host.type == REDIS_REPLY_STRING ? std::string(host.str, host.len) : "";
  if (!name.empty() && name != "?") server.host = name;
  if (server.host.empty()) server.host = "127.0.0.1";  // it was asked by its socket
  server.socket_path.clear();
  return server;
}

}  // namespace

SlotMap SlotMap::single(const Address& server) {
  SlotMap map;
  map.masters_ = {server};
  std::ranges::fill(map.owners_, std::uint16_t{0});
  map.is_single_ = true;
  return map;
}

std::optional<SlotMap> SlotMap::from_reply(const redisReply& reply, const Address& asked) {
  if (reply.type != REDIS_REPLY_ARRAY) return std::nullopt;
  SlotMap map;
  bool is_first = true;
  for (std::size_t i = 0; i < reply.elements; ++i) {
    const redisReply& range = *reply.element[i];
    if (range.type != REDIS_REPLY_ARRAY || range.elements < 3) return std::nullopt;
    if (!is_integer(*range.element[0], 0, num_hash_slots - 1) ||
        !is_integer(*range.element[1], range.element[0]->integer, num_hash_slots - 1)) {
      return std::nullopt;
    }
    const std::optional<Address> server = server_of(*range.element[2], asked);
    if (!server) return std::nullopt;
    const std::uint16_t number = map.number_of(*server);
    std::fill(map.owners_.begin() + range.element[0]->integer,
              map.owners_.begin() + range.element[1]->integer + 1, number);
    const std::size_t num_replicas = range.elements - 3;
    map.least_replicas_ = is_first ? num_replicas : std::min(map.least_replicas_, num_replicas);
    is_first = false;
  }
  return map;
}

const Address* SlotMap::find(std::uint32_t slot) const noexcept {
  const std::uint16_t number = owners_[slot];
  return number == nobody ? nullptr : &masters_[number];
}

void SlotMap::set(std::uint32_t slot, const Address& server) { owners_[slot] = number_of(server); }

std::uint16_t SlotMap::number_of(const Address& server) {
  const auto found = std::ranges::find(masters_, server);
  if (found != masters_.end()) return static_cast<std::uint16_t>(found - masters_.begin());
  constexpr std::size_t most = 4096;  // a Redis Cluster has at most 1000
  if (masters_.size() == most) return nobody;
  masters_.push_back(server);
  return static_cast<std::uint16_t>(masters_.size() - 1);
}

}  // namespace tally::redis_client
