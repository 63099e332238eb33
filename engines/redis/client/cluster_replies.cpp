#include <algorithm>
#include <array>

#include "cluster_parts.hpp"
#include "tally/redis_client/reply_text.hpp"

// What Cluster does with replies: answers, redirections, refusals that pass, confirmations of replicas, slots.

namespace tally::redis_client {
namespace {

constexpr Nanoseconds pause_after_refusal = 50 * millisecond;

std::string_view word(std::string_view text, std::size_t index) noexcept {
  for (; index > 0; --index) text.remove_prefix(std::min(text.find(' '), text.size() - 1) + 1);
  return text.substr(0, text.find(' '));
}

}  // namespace

/// Another try would have the same result for a password or a permission, but not while a server loads its file.
void Cluster::refuse_login(const Node& node, const redisReply& error) {
  const std::string_view kind = word(text_of(error), 0);
  if (kind == "LOADING" || kind == "MASTERDOWN" || kind == "BUSY") {
    throw ConnectionError(std::string(text_of(error)));
  }
  throw Unavailable("Redis at " + node.address.shown() + ": " + std::string(text_of(error)));
}

void Cluster::read_replies(Node& node) {
  while (node.connection) {
    Reply reply = node.connection->next_reply();
    if (!reply) return;
    if (node.sent.empty()) throw ConnectionError("the server sent a reply that belongs to no command");
    Sent sent = std::move(node.sent.front());
    node.sent.pop_front();
    take_reply(node, std::move(sent), std::move(reply));
  }
}

void Cluster::take_reply(Node& node, Sent sent, Reply reply) {
  switch (sent.kind) {
    case Sent::Kind::own:
      if (reply->type == REDIS_REPLY_ERROR) refuse_login(node, *reply);
      return;
    case Sent::Kind::slots:
      asks_slots_ = false;
      take_slots(node, *reply);
      return;
    case Sent::Kind::wait:
      node.waits = false;
      take_wait(sent, *reply);
      return;
    case Sent::Kind::command:
      Lane& lane = *lanes_[sent.lane];
      if (sent.generation == lane.generation) take_answer(node, lane, std::move(reply));
  }
}

void Cluster::take_answer(Node& node, Lane& lane, Reply reply) {
  if (reply->type == REDIS_REPLY_ERROR && take_refusal(lane, node, text_of(*reply))) return;
  node.works = true;
  node.pause = least_pause;
  if (std::exchange(node.loss_said, false)) options_.say("Redis at " + node.address.shown() + ": connected");
  lane.trouble.clear();
  lane.progress_at = now_;
  --lane.num_sent;
  lane.queue[lane.num_replied].reply = std::move(reply);
  ++lane.num_replied;
  if (options_.num_replicas == 0) answer_first(lane);
}

/// Returns whether the command must be sent again.
bool Cluster::take_refusal(Lane& lane, const Node& node, std::string_view error) {
  const std::string_view kind = word(error, 0);
  if (kind == "MOVED" || kind == "ASK") {
    redirect(lane, node, error);
    return true;
  }
  constexpr std::array<std::string_view, 8> passing{"TRYAGAIN",   "CLUSTERDOWN", "LOADING", "READONLY",
                                                    "MASTERDOWN", "NOREPLICAS",  "BUSY",    "UNBLOCKED"};
  if (std::ranges::find(passing, kind) == passing.end()) return false;
  rewind(lane);
  hold(lane, error);
  return true;
}

void Cluster::redirect(Lane& lane, const Node& node, std::string_view error) {
  const std::optional<Address> server = redirected(node.address, error);
  if (!server) throw ConnectionError("sent '" + std::string(error) + "'");
  rewind(lane);
  // Where servers send a lane in circles, it takes a pause.
  if (lane.trouble.starts_with(word(error, 0))) hold(lane, error);
  lane.trouble = error;
  if (word(error, 0) == "ASK") {
    lane.asked = *server;
    return;
  }
  lane.asked.reset();
  slots_.set(lane.slot, *server);
  wants_slots_ = true;
}

void Cluster::take_wait(const Sent& sent, const redisReply& reply) {
  if (reply.type == REDIS_REPLY_ERROR) throw ConnectionError(std::string(text_of(reply)));
  for (const Sent::Covered& covered : sent.covered) {
    Lane& lane = *lanes_[covered.lane];
    if (lane.generation != covered.generation) continue;
    if (reply.integer < static_cast<long long>(options_.num_replicas)) {
      lane.trouble = "WAIT: " + std::to_string(reply.integer) + " replicas of " +
                     std::to_string(options_.num_replicas) + " have the change";
      continue;
    }
    lane.progress_at = now_;
    while (lane.generation == covered.generation && lane.num_answered < covered.number) answer_first(lane);
  }
}

/// The callback may change the lane, and may add lanes.
void Cluster::answer_first(Lane& lane) {
  Command command = std::move(lane.queue.front());
  lane.queue.pop_front();
  --lane.num_replied;
  ++lane.num_answered;
  command.answer(std::move(command.reply));
}

void Cluster::hold(Lane& lane, std::string_view why) {
  lane.trouble = why;
  lane.resume_at = now_ + pause_after_refusal;
  wants_slots_ = true;
}

void Cluster::take_slots(Node& node, const redisReply& reply) {
  if (reply.type == REDIS_REPLY_ERROR) {
    const std::string_view error = text_of(reply);
    // "ERR This instance has cluster support disabled"
    if (error.find("cluster support") != std::string_view::npos) {
      slots_ = SlotMap::single(node.address);
      knows_slots_ = true;
      wants_slots_ = false;
      return;
    }
    refuse_login(node, reply);
  }
  std::optional<SlotMap> slots = SlotMap::from_reply(reply, node.address);
  if (!slots) throw ConnectionError("the reply of CLUSTER SLOTS has an unknown form");
  if (slots->masters().empty()) return;  // a node that has not joined yet
  slots_ = *std::move(slots);
  knows_slots_ = true;
  wants_slots_ = false;
  for (const auto& lane : lanes_) {
    if (lane->asked || lane->node == nullptr) continue;
    const Address* const owner = slots_.find(lane->slot);
    if (owner != nullptr && *owner != lane->node->address) rewind(*lane);
  }
}

}  // namespace tally::redis_client
