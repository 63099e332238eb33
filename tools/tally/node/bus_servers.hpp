#pragma once

#include <optional>
#include <string>
#include <vector>

#include "node/server_choice.hpp"

namespace tally::cli {

/// The server that a node subscribes to, and the one where it publishes and keeps its copy: the same, unless it was given two. For
/// one event loop and no threads.
class BusServers {
 public:
  /// Without `publish`, all is at one server of `servers`. With it, the server that is subscribed to may be a replica.
  BusServers(redis_client::Servers servers, std::optional<redis_client::Servers> publish, HostNames& names);

  /// Starts a search for all. If there is nothing to choose, it has ended at once.
  void begin(Nanoseconds now);
  bool is_searching() const noexcept;
  bool has_choice() const noexcept;
  /// Whether the last search found all.
  bool has_found() const noexcept;
  /// Whether it found all, and another than is used.
  bool has_found_others() const noexcept;
  /// What the last search found is used from now on. Call it only after has_found.
  void use_found();
  /// Why the last search failed.
  std::string faults() const;
  /// See ServerChoice.
  Nanoseconds between_searches() const noexcept;

  /// The server that is used for messages and copies of our own. Until use_found it has no host and no socket.
  const redis_client::Address& to_publish() const noexcept { return all_.front().used; }
  const redis_client::Address& to_subscribe() const noexcept { return all_.back().used; }
  /// All that were given, and what is used.
  std::string shown() const;
  std::string shown_used() const;

  void add_polled(std::vector<pollfd>& polled) const;
  void step(const std::vector<pollfd>& polled, Nanoseconds now);
  Nanoseconds deadline() const noexcept;

 private:
  struct One {
    ServerChoice choice;
    redis_client::Address used = {};
  };
  std::vector<One> all_;  // to publish, and to subscribe: one or two
};

}  // namespace tally::cli
