#pragma once

#include <poll.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/host_names.hpp"
#include "tally/redis_client/connection.hpp"
#include "tally/redis_client/servers.hpp"
#include "text/duration.hpp"

namespace tally::cli {

/// Finds the server to use now: the first of a list that answers and is no replica, or the master that a sentinel names. For one
/// event loop and no threads.
///
/// A search asks one server or sentinel after the other over a connection of its own, so it disturbs no other. Whatever they
/// answer, or if they answer nothing, it ends: a sentinel and its master have 2 s each, a server of a list 5 s. The sentinel that answered is the first to be
/// asked by the next search. Of a sentinel only an IP address is believed.
class ServerChoice {
 public:
  enum class Role { primary, any };

  /// With Role::any, a server that is a replica will do.
  ServerChoice(redis_client::Servers servers, Role role, HostNames& names);

  const redis_client::Servers& servers() const noexcept { return servers_; }

  /// Starts a search, and drops one that is under way. If there is nothing to choose, it has ended at once.
  void begin(Nanoseconds now);
  bool is_searching() const noexcept { return question_ != nullptr; }
  /// What the last search found; nothing while it is under way, and if it failed.
  const std::optional<redis_client::Address>& found() const noexcept { return found_; }
  /// Why each server was passed over in the last search.
  const std::string& faults() const noexcept { return faults_; }
  /// The time between two searches while a server is used, which tell whether another one is to be used instead. Short while
  /// one is used that is not the first of the list.
  Nanoseconds between_searches(const redis_client::Address& used) const noexcept;

  /// Appends the descriptors for poll.
  void add_polled(std::vector<pollfd>& polled) const;
  /// `polled` is what add_polled appended, after poll.
  void step(const std::vector<pollfd>& polled, Nanoseconds now);
  /// The latest time for the next call of step.
  Nanoseconds deadline() const noexcept;

 private:
  struct Question {
    redis_client::Address address;
    bool is_of_sentinel = false;
    Nanoseconds end_by = 0;
    std::optional<redis_client::Connection> connection;  // none while the name is looked up
    bool expects_login = false;
    bool has_answered_ping = false;
  };

  void ask_server(const redis_client::Address& address, Nanoseconds now);
  void ask_sentinel(const redis_client::Address& address, Nanoseconds now);
  void ask_next(Nanoseconds now);
  void connect(Nanoseconds now);
  void take_replies(const std::vector<pollfd>& polled, Nanoseconds now);
  void take_reply(const redisReply& reply, Nanoseconds now);
  void take_master(const redisReply& reply, Nanoseconds now);
  void pass_over(std::string_view why, Nanoseconds now);
  void note_fault(const redis_client::Address& address, std::string_view why);
  const redis_client::Address& nth(std::size_t i) const noexcept;

  redis_client::Servers servers_;
  Role role_;
  HostNames& names_;
  std::size_t first_ = 0;          // to ask, in this search
  std::size_t num_asked_ = 0;      // in this search
  std::size_t last_answered_ = 0;  // of the sentinels
  std::unique_ptr<Question> question_;
  std::vector<redis_client::Address> masters_;  // that sentinels named, in this search
  std::optional<redis_client::Address> found_;
  std::string faults_;
};

}  // namespace tally::cli
