#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tally/redis_client/connection.hpp"
#include "tally/redis_client/slot_map.hpp"

namespace tally::redis_client {

/// No server has answered for too long, or the servers are not what the client needs. The message says which, and what
/// was tried.
struct Unavailable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A server, or a Redis Cluster, for one thread and one event loop.
///
/// Commands go to lanes: a lane has the commands of one key, and each of them is answered in order, by the master that has
/// the slot of the key. Several commands of a lane are on their way at once. After a lost connection, a lost slot (MOVED,
/// ASK), a refusal that passes (TRYAGAIN, CLUSTERDOWN, LOADING, READONLY) and a failover, the lane sends all commands again
/// that are not answered, in order. So a command may run twice: send only commands for which that does not matter, such as
/// TALLY.BATCH, which the server recognises.
///
/// All functions that wait throw Unavailable.
class Cluster {
 public:
  struct Options {
    std::vector<Address> servers;  ///< to ask first; all have the same user and password
    ReplyLimits limits = {.max_bytes = std::size_t{16} << 20, .max_elements = std::size_t{1} << 18};
    /// An answer counts when this many replicas have the change (WAIT).
    std::uint32_t num_replicas = 0;
    /// How long a lane may wait for an answer.
    Nanoseconds patience = 60 * Connection::second;
    /// Whether somebody wants the program to end: then `patience` is 5 s at most.
    std::function<bool()> is_hurried = [] { return false; };
    std::function<void(std::string_view)> say = [](std::string_view) {};
  };

  using Arguments = std::vector<std::string>;
  /// Gets the reply, which may be an error other than those above. It may call send and drop_all.
  using Answer = std::function<void(Reply)>;

  /// Connects, and learns who has which slot. Throws Unavailable, and std::invalid_argument if there is no server to ask.
  explicit Cluster(Options options);
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  /// A new lane, for this key.
  std::size_t add_lane(std::string_view key);
  /// The first lane of this key; a new one if there is none.
  std::size_t lane_of(std::string_view key);
  /// Puts a command at the end of a lane.
  void send(std::size_t lane, Arguments arguments, Answer answer);
  /// Takes all commands from a lane. Those on their way may still run; nobody gets their answers.
  void drop_all(std::size_t lane);
  std::size_t num_unanswered(std::size_t lane) const noexcept;
  bool is_idle() const noexcept;

  /// Sends and receives what it can, and waits for that for at most this time. Returns early after a signal.
  void step(Nanoseconds longest);
  /// Sends one command for a key and waits for the reply.
  Reply call(std::string_view key, Arguments arguments);

  const SlotMap& slots() const noexcept { return slots_; }
  /// Commands that were sent more than once.
  std::uint64_t num_sent_again() const noexcept { return num_sent_again_; }
  std::uint64_t num_connections_lost() const noexcept { return num_connections_lost_; }

  static Nanoseconds now() noexcept;

 private:
  struct Command;
  struct Lane;
  struct Sent;
  struct Node;

  Node& node_of(const Address& address);
  void connect(Node& node);
  void lose(Node& node, std::string_view why);
  void read_replies(Node& node);
  void take_reply(Node& node, Sent sent, Reply reply);
  void take_answer(Node& node, Lane& lane, Reply reply);
  void take_wait(const Sent& sent, const redisReply& reply);
  void take_slots(Node& node, const redisReply& reply);
  [[noreturn]] static void refuse_login(const Node& node, const redisReply& error);
  bool take_refusal(Lane& lane, const Node& node, std::string_view error);
  void redirect(Lane& lane, const Node& node, std::string_view error);
  void answer_first(Lane& lane);
  void rewind(Lane& lane);
  void hold(Lane& lane, std::string_view why);
  void pump();
  void pump(Lane& lane);
  void wait_for_replicas();
  void refresh_slots();
  void check_patience() const;
  Nanoseconds deadline() const noexcept;

  Options options_;
  SlotMap slots_;
  bool knows_slots_ = false;
  bool wants_slots_ = true;
  bool asks_slots_ = false;
  Nanoseconds asked_at_ = 0;
  Nanoseconds next_refresh_ = 0;
  std::size_t next_asked_ = 0;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::map<std::string, std::size_t, std::less<>> first_lanes_;
  std::vector<std::unique_ptr<Node>> nodes_;
  Nanoseconds now_ = 0;
  Nanoseconds started_;
  std::string last_trouble_;
  std::uint64_t num_sent_again_ = 0;
  std::uint64_t num_connections_lost_ = 0;
};

}  // namespace tally::redis_client
