#pragma once

#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tally/redis_client/cluster.hpp"

// What the files of Cluster share.

namespace tally::redis_client {

inline constexpr Nanoseconds millisecond = 1'000'000;
inline constexpr Nanoseconds least_pause = 50 * millisecond;

struct Cluster::Command {
  Arguments arguments;
  Answer answer;
  Reply reply;  // when replicas have yet to confirm it
  bool was_sent = false;
};

/// Of the commands in the queue, the first `num_replied` have a reply, and the next `num_sent` are on their way.
struct Cluster::Lane {
  std::size_t number = 0;
  std::string key = {};
  std::uint32_t slot = 0;
  std::deque<Command> queue = {};
  std::size_t num_replied = 0;
  std::size_t num_sent = 0;
  std::uint64_t num_answered = 0;
  std::uint64_t generation = 0;       // replies to what an older one sent are dropped
  Node* node = nullptr;               // where the commands are that were sent
  std::optional<Address> asked = {};  // after ASK
  Nanoseconds resume_at = 0;
  Nanoseconds progress_at = 0;
  std::string trouble = {};
};

/// What a reply of a connection will answer.
struct Cluster::Sent {
  enum class Kind { own, command, slots, wait } kind = Kind::own;
  std::size_t lane = 0;
  std::uint64_t generation = 0;
  struct Covered {
    std::size_t lane;
    std::uint64_t generation;
    std::uint64_t number;  // of the last answer that it confirms
  };
  std::vector<Covered> covered = {};
};

struct Cluster::Node {
  explicit Node(Address where) : address(std::move(where)) {}

  Address address;
  std::optional<Connection> connection;
  std::deque<Sent> sent;
  std::uint64_t num_pings = 0;
  bool waits = false;
  bool works = false;  // it has answered
  std::vector<Sent::Covered> to_confirm;
  Nanoseconds connects_since = 0;
  Nanoseconds next_try = 0;
  Nanoseconds pause = least_pause;
  bool loss_said = false;
};

}  // namespace tally::redis_client
