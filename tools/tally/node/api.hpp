#pragma once

#include <poll.h>

#include <optional>
#include <string>
#include <vector>

#include "node/api_server.hpp"
#include "node/line_session.hpp"
#include "node/node_api.hpp"
#include "node/summary_node.hpp"

namespace tally::cli {

struct ApiOptions {
  std::string socket;  ///< path of a unix socket; "none"; empty: default_api_socket
  std::uint32_t socket_mode = 0600;
  std::string listen;  ///< HOST:PORT; empty: no TCP
  std::string token_file;
  LineSession::Options lines;
  bool quiet = false;
  bool is_only_way =
      false;  ///< nothing else reads input, so that without a socket nobody could reach the node

  /// With the token of the file. Throws std::invalid_argument for addresses that cannot be, or need a token, and what reading a
  /// secret throws.
  NodeApi::Options http_options() const;
  /// Throws what http_options throws, and std::invalid_argument or std::system_error if there can be no socket at the path that was
  /// given. Opens none.
  void check() const;
};

/// Where a node listens without --api-socket: in the directory that the service manager or the session has for sockets. Empty if
/// there is none.
std::string default_api_socket(const std::string& group, const std::string& name);

/// The sockets of a node, where it speaks HTTP and lines.
class Api {
 public:
  /// Throws what ApiOptions::http_options throws, and std::runtime_error if it cannot listen there. A default socket that cannot be is
  /// none, unless it is the only way to the node.
  Api(const ApiOptions& options, const std::string& group, SummaryNode& node);
  Api(const Api&) = delete;  // the server's protocols point to it
  Api& operator=(const Api&) = delete;

  void add_polled(std::vector<pollfd>& polled, Nanoseconds now) const { server_.add_polled(polled, now); }
  void step(const std::vector<pollfd>& polled, Nanoseconds now);
  Nanoseconds deadline() const { return server_.deadline(); }

 private:
  void listen_at_default(const std::string& path);
  std::unique_ptr<ApiProtocol> protocol(char first, bool is_local);

  ApiOptions options_;
  SummaryNode& node_;
  NodeApi http_;
  ApiServer server_;
};

}  // namespace tally::cli
