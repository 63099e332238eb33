#pragma once

#include <poll.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "node/api.hpp"
#include "node/commands.hpp"
#include "node/directory_file.hpp"
#include "node/service_manager.hpp"
#include "node/summary_node.hpp"
#include "text/duration.hpp"

namespace tally::cli {

/// The time that the parts of a node are given.
Nanoseconds steady_now() noexcept;

/// The process of a node: takes lines and requests until a signal or the end of the input ends it, then publishes and saves what
/// is left.
///
/// Once it is ending, its sockets are closed: it takes no more changes, and loses none that it has answered.
class NodeLoop {
 public:
  struct Options {
    NodeCommands::Options commands;
    std::string group;
    ApiOptions api;
    bool reads_input = true;
    Nanoseconds linger = 0;          ///< the longest time to wait for Redis at the end
    std::function<void()> reload{};  ///< at SIGHUP; empty: there is nothing to read again
  };

  /// `saved` is where the directory is saved, or null. Throws what Api throws.
  NodeLoop(const Options& options, SummaryNode& node, DirectoryFile* saved);

  /// Until the end. Then throws std::runtime_error if something could not be saved or published, or if another node has taken
  /// the name. Returns the number of lines and changes of the input that were refused.
  std::uint64_t run();

 private:
  void turn();
  void wait_for_events();
  void reload();
  void save_if_due(Nanoseconds now);
  void save_all();
  void end(Nanoseconds now);
  bool is_ending() const noexcept { return end_by_.has_value(); }
  bool is_done() const;
  void require_published() const;

  Options options_;
  SummaryNode& node_;
  DirectoryFile* saved_;
  NodeCommands commands_;
  std::optional<Api> api_;  // until it is ending
  ServiceManager service_;
  std::vector<pollfd> polled_;
  std::optional<Nanoseconds> end_by_;
  std::string save_error_;
};

}  // namespace tally::cli
