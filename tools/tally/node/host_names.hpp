#pragma once

#include <poll.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tally/redis_client/address.hpp"
#include "text/duration.hpp"

namespace tally::cli {

/// Looks up the names of servers in threads, so that an event loop never waits for DNS.
///
/// A name is looked up before each connection, because its address may have changed. If that fails, or takes longer than 2 s, the
/// last address that was found will do. All functions are for the thread of the loop.
class HostNames {
 public:
  /// Where to connect to; neither while the name is being looked up.
  struct Found {
    std::optional<redis_client::Address> address = {};  ///< with an IP address as its host, or a socket
    std::string fault = {};                             ///< why there is none

    bool is_pending() const noexcept { return !address && fault.empty(); }
  };
  /// What a lookup found: one of both.
  struct Answer {
    std::string ip_address = {};
    std::string fault = {};
  };
  using LookUp = std::function<Answer(const std::string& host)>;

  /// `look_up` is called in threads of its own, one at a time per name.
  explicit HostNames(LookUp look_up = ask_system);
  ~HostNames();
  HostNames(const HostNames&) = delete;
  HostNames& operator=(const HostNames&) = delete;

  /// Starts a lookup if it needs one. Call it again, after the next step, until it is not pending.
  Found find(const redis_client::Address& address, Nanoseconds now);

  /// Appends the descriptor for poll.
  void add_polled(std::vector<pollfd>& polled) const;
  void step(Nanoseconds now);
  /// The latest time for the next call of step, and then of find.
  Nanoseconds deadline() const noexcept;

  /// getaddrinfo, which prefers IPv4 as hiredis does.
  static Answer ask_system(const std::string& host);

 private:
  struct Bell;
  struct Lookup;
  struct Name {
    std::shared_ptr<Lookup> lookup = {};  // under way
    Nanoseconds started_at = 0;
    std::optional<Nanoseconds> ended_at = {};
    std::string ip_address = {};  // the last that was found
    std::string fault = {};       // of the last lookup
    std::optional<Nanoseconds> wake_at = {};
  };

  void start(const std::string& host, Name& name, Nanoseconds now);
  static void take_answer(Name& name, Nanoseconds now);

  LookUp look_up_;
  std::shared_ptr<Bell> bell_;
  std::map<std::string, Name> names_;
};

}  // namespace tally::cli
