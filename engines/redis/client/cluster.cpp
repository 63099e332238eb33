#include "cluster_parts.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <limits>
#include <utility>

namespace tally::redis_client {
namespace {

constexpr Nanoseconds most_pause = 1000 * millisecond;
constexpr Nanoseconds slow_connection = 100 * millisecond;
constexpr Nanoseconds pause_between_refreshes = 100 * millisecond;
constexpr Nanoseconds silence_before_refresh = 1000 * millisecond;
constexpr Nanoseconds patience_of_the_hurried = 5 * Connection::second;
// Commands of a lane on their way, and those that only replicas have yet to confirm besides.
constexpr std::size_t window = 8;
constexpr std::size_t most_unanswered_sent = 32;
// More than this stays in the lanes, where it can still go to another server.
constexpr std::size_t most_unsent_bytes = std::size_t{1} << 20;
constexpr std::string_view longest_wait_for_replicas_in_ms = "500";

template <class Words>
void send_words(Connection& connection, const Words& words) {
  std::vector<std::string_view> views(std::begin(words), std::end(words));
  connection.send(views);
}

}  // namespace

Nanoseconds Cluster::now() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * Connection::second + time.tv_nsec;
}

Cluster::Cluster(Options options) : options_(std::move(options)), now_(now()), started_(now_) {
  if (options_.servers.empty()) throw std::invalid_argument("servers: there is none; give one or more");
  while (!knows_slots_) step(100 * millisecond);
}

Cluster::~Cluster() = default;

std::size_t Cluster::add_lane(std::string_view key) {
  const std::size_t number = lanes_.size();
  lanes_.push_back(
      std::make_unique<Lane>(Lane{.number = number, .key = std::string(key), .slot = hash_slot(key)}));
  first_lanes_.emplace(key, number);
  return number;
}

std::size_t Cluster::lane_of(std::string_view key) {
  const auto found = first_lanes_.find(key);
  return found != first_lanes_.end() ? found->second : add_lane(key);
}

void Cluster::send(std::size_t number, Arguments arguments, Answer answer) {
  Lane& lane = *lanes_[number];
  if (lane.queue.empty()) lane.progress_at = now();
  lane.queue.push_back({std::move(arguments), std::move(answer), nullptr});
}

void Cluster::drop_all(std::size_t number) {
  Lane& lane = *lanes_[number];
  rewind(lane);
  lane.queue.clear();
}

std::size_t Cluster::num_unanswered(std::size_t number) const noexcept {
  return lanes_[number]->queue.size();
}

bool Cluster::is_idle() const noexcept {
  return std::ranges::all_of(lanes_, [](const auto& lane) { return lane->queue.empty(); });
}

Reply Cluster::call(std::string_view key, Arguments arguments) {
  const std::size_t number = lane_of(key);
  Reply taken;
  send(number, std::move(arguments), [&](Reply reply) { taken = std::move(reply); });
  try {
    while (!taken) step(100 * millisecond);
  } catch (...) {
    drop_all(number);
    throw;
  }
  return taken;
}

// Nodes.

Cluster::Node& Cluster::node_of(const Address& address) {
  const auto found = std::ranges::find_if(nodes_, [&](const auto& node) { return node->address == address; });
  if (found != nodes_.end()) return **found;
  nodes_.push_back(std::make_unique<Node>(address));
  return *nodes_.back();
}

void Cluster::connect(Node& node) {
  if (node.connection || now_ < node.next_try) return;
  try {
    node.connection.emplace(node.address, options_.limits, now_);
    node.connects_since = now_;
    node.num_pings = 0;
    node.sent.clear();
    if (!node.address.password.empty()) node.sent.push_back({.kind = Sent::Kind::own});
  } catch (const ConnectionError& error) {
    lose(node, error.what());
  }
}

void Cluster::lose(Node& node, std::string_view why) {
  if (node.connection && node.connection->is_connected()) ++num_connections_lost_;
  const std::string text = "Redis at " + node.address.shown() + ": " + std::string(why);
  if (!node.loss_said) options_.say(text + "; trying again");
  node.loss_said = true;
  last_trouble_ = text;
  const bool asked =
      std::ranges::any_of(node.sent, [](const Sent& sent) { return sent.kind == Sent::Kind::slots; });
  if (asked) asks_slots_ = false;
  node.connection.reset();
  node.sent.clear();
  node.waits = false;
  // One that worked is tried again at once.
  if (std::exchange(node.works, false)) {
    node.next_try = now_;
  } else {
    node.next_try = now_ + node.pause;
    node.pause = std::min(2 * node.pause, most_pause);
  }
  for (const auto& lane : lanes_) {
    if (lane->node != &node) continue;
    lane->trouble = text;
    lane->asked.reset();
    rewind(*lane);
  }
  wants_slots_ = true;
}

// Lanes.

void Cluster::rewind(Lane& lane) {
  for (Command& command : lane.queue) command.reply.reset();
  ++lane.generation;
  lane.num_replied = 0;
  lane.num_sent = 0;
  lane.node = nullptr;
}

void Cluster::pump() {
  // The one that waits longest comes first: where connections break again and again, others would take all turns.
  const auto waits_since = [](const auto& lane) {
    return lane->queue.empty() ? std::numeric_limits<Nanoseconds>::max() : lane->progress_at;
  };
  const auto first = std::ranges::min_element(lanes_, {}, waits_since);
  for (auto lane = first; lane != lanes_.end(); ++lane) pump(**lane);
  for (auto lane = lanes_.begin(); lane != first; ++lane) pump(**lane);
  wait_for_replicas();
}

void Cluster::pump(Lane& lane) {
  if (lane.num_replied + lane.num_sent == lane.queue.size() || now_ < lane.resume_at) return;
  const Address* const owner = lane.asked ? &*lane.asked : slots_.find(lane.slot);
  if (owner == nullptr) {
    hold(lane, "no master has the slot " + std::to_string(lane.slot) + " of '" + lane.key + "'");
    return;
  }
  Node& node = node_of(*owner);
  if (lane.node != nullptr && lane.node != &node) rewind(lane);
  connect(node);
  if (!node.connection || !node.connection->is_connected()) return;
  while (lane.num_sent < window &&
         lane.num_replied + lane.num_sent < std::min(lane.queue.size(), most_unanswered_sent) &&
         node.connection->num_unsent_bytes() < most_unsent_bytes) {
    Command& command = lane.queue[lane.num_replied + lane.num_sent];
    if (lane.asked) {
      constexpr std::array<std::string_view, 1> asking{"ASKING"};
      send_words(*node.connection, asking);
      node.sent.push_back({.kind = Sent::Kind::own});
    }
    send_words(*node.connection, command.arguments);
    if (std::exchange(command.was_sent, true)) ++num_sent_again_;
    node.sent.push_back({.kind = Sent::Kind::command, .lane = lane.number, .generation = lane.generation});
    ++lane.num_sent;
    lane.node = &node;
  }
}

/// Asks each server for a confirmation of all that has a reply, unless one is on its way.
void Cluster::wait_for_replicas() {
  if (options_.num_replicas == 0) return;
  for (const auto& lane : lanes_) {
    if (lane->node == nullptr || lane->num_replied == 0 || lane->node->waits) continue;
    lane->node->to_confirm.push_back(
        {lane->number, lane->generation, lane->num_answered + lane->num_replied});
  }
  const std::string number = std::to_string(options_.num_replicas);
  const std::array<std::string_view, 3> words{"WAIT", number, longest_wait_for_replicas_in_ms};
  for (const auto& node : nodes_) {
    if (node->to_confirm.empty()) continue;
    send_words(*node->connection, words);
    node->sent.push_back({.kind = Sent::Kind::wait, .covered = std::exchange(node->to_confirm, {})});
    node->waits = true;
  }
}

// Slots.

void Cluster::refresh_slots() {
  const bool stands_still = std::ranges::any_of(lanes_, [&](const auto& lane) {
    return !lane->queue.empty() && now_ - lane->progress_at > silence_before_refresh;
  });
  const bool asks = asks_slots_ && now_ - asked_at_ < silence_before_refresh;  // a server may hang
  if (!(wants_slots_ || stands_still) || asks || now_ < next_refresh_) return;
  // All that are known, in turn.
  std::vector<Address> known = slots_.masters();
  known.insert(known.end(), options_.servers.begin(), options_.servers.end());
  Node& node = node_of(known[next_asked_ % known.size()]);
  connect(node);
  if (!node.connection) {
    ++next_asked_;
    if (next_asked_ % known.size() == 0) next_refresh_ = now_ + least_pause;
    return;
  }
  if (!node.connection->is_connected()) {
    // While one takes long to connect, the others are tried.
    if (now_ - node.connects_since > slow_connection) ++next_asked_;
    return;
  }
  ++next_asked_;
  constexpr std::array<std::string_view, 2> words{"CLUSTER", "SLOTS"};
  send_words(*node.connection, words);
  node.sent.push_back({.kind = Sent::Kind::slots});
  asks_slots_ = true;
  asked_at_ = now_;
  next_refresh_ = now_ + pause_between_refreshes;
}

// Steps.

void Cluster::check_patience() const {
  const Nanoseconds patience =
      options_.is_hurried() ? std::min(options_.patience, patience_of_the_hurried) : options_.patience;
  const auto limit = [&](Nanoseconds since) { return now_ - since > patience; };
  const std::string seconds = std::to_string(patience / Connection::second);
  if (!knows_slots_ && limit(started_)) {
    throw Unavailable(last_trouble_ + "; no server has answered for " + seconds + " s");
  }
  for (const auto& lane : lanes_) {
    if (lane->queue.empty() || !limit(lane->progress_at)) continue;
    const std::string& trouble = lane->trouble.empty() ? last_trouble_ : lane->trouble;
    throw Unavailable((trouble.empty() ? "the server does not answer" : trouble) + "; '" + lane->key +
                      "' has had no answer for " + seconds + " s");
  }
}

Nanoseconds Cluster::deadline() const noexcept {
  Nanoseconds first = next_refresh_ > now_ ? next_refresh_ : now_ + silence_before_refresh;
  for (const auto& node : nodes_) {
    if (node->connection) first = std::min(first, node->connection->deadline());
    else if (node->next_try > now_) first = std::min(first, node->next_try);
  }
  for (const auto& lane : lanes_) {
    if (!lane->queue.empty() && lane->resume_at > now_) first = std::min(first, lane->resume_at);
  }
  return first;
}

void Cluster::step(Nanoseconds longest) {
  now_ = now();
  check_patience();
  refresh_slots();
  pump();
  std::vector<pollfd> polled;
  std::vector<Node*> owners;
  for (const auto& node : nodes_) {
    if (!node->connection) continue;
    polled.push_back(node->connection->polled());
    owners.push_back(node.get());
  }
  const Nanoseconds wait = std::clamp(deadline() - now_, Nanoseconds{0}, longest);
  if (poll(polled.data(), polled.size(), static_cast<int>((wait + millisecond - 1) / millisecond)) < 0)
    return;
  now_ = now();
  for (std::size_t i = 0; i < owners.size(); ++i) {
    Node& node = *owners[i];
    try {
      node.connection->step(polled[i].revents, now_);
      for (; node.num_pings < node.connection->num_pings(); ++node.num_pings) {
        node.sent.push_back({.kind = Sent::Kind::own});
      }
      read_replies(node);
    } catch (const ConnectionError& error) {
      lose(node, error.what());
    }
  }
  pump();
}

}  // namespace tally::redis_client
