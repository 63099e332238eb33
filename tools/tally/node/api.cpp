#include "node/api.hpp"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/secret_file.hpp"
#include "node/http_protocol.hpp"
#include "node/line_protocol.hpp"
#include "text/output.hpp"

namespace tally::cli {
namespace {

constexpr std::size_t max_body_bytes = std::size_t{8} << 20;

/// A name such as 127.example.com is not.
bool is_loopback(const std::string& host) {
  in_addr address{};
  const bool is_ip_4 = ::inet_pton(AF_INET, host.c_str(), &address) == 1;
  return host == "localhost" || host == "::1" || (is_ip_4 && ntohl(address.s_addr) >> 24 == 127);
}

}  // namespace

NodeApi::Options ApiOptions::http_options() const {
  NodeApi::Options http;
  http.key_type = lines.key_type;
  if (!token_file.empty()) http.token = secret_in("--api-token-file", token_file);
  if (listen.empty()) return http;
  const std::string host = ListenAddress::parse_tcp(listen).host;
  if (!is_loopback(host) && http.token.empty())
    throw std::invalid_argument(fmt::format(
        "--api-listen: '{}' is reachable from other machines; give a --api-token-file too, or listen at "
        "127.0.0.1",
        host));
  if (std::ranges::find(http.hosts, host) == http.hosts.end()) http.hosts.push_back(host);
  return http;
}

void ApiOptions::check() const {
  (void)http_options();
  if (socket.empty() || socket == "none") return;
  check_socket_path(socket);
  const std::filesystem::path directory = std::filesystem::path(socket).parent_path();
  const std::string place = directory.empty() ? "." : directory.string();
  if (::access(place.c_str(), W_OK | X_OK) == 0) return;
  throw std::system_error(errno, std::generic_category(), fmt::format("--api-socket: '{}'", place));
}

std::string default_api_socket(const std::string& group, const std::string& name) {
  const char* const of_service = std::getenv("RUNTIME_DIRECTORY");
  if (of_service != nullptr && *of_service != '\0') {
    const std::string_view all = of_service;  // the first of several
    return fmt::format("{}/{}.sock", all.substr(0, all.find(':')), name);
  }
  const char* const of_session = std::getenv("XDG_RUNTIME_DIR");
  if (of_session == nullptr || *of_session == '\0') return "";
  return fmt::format("{}/tally-{}-{}.sock", of_session, group, name);
}

Api::Api(const ApiOptions& options, const std::string& group, SummaryNode& node)
    : options_(options), node_(node), http_(options.http_options(), node), server_({}) {
  if (options.socket.empty()) {
    listen_at_default(default_api_socket(group, node.name()));
  } else if (options.socket != "none") {
    server_.listen_at({.path = options.socket, .mode = options.socket_mode});
  }
  if (!options.listen.empty()) server_.listen_at(ListenAddress::parse_tcp(options.listen));
  if (options.socket.empty() && options.listen.empty()) return;
  for (const std::string& shown : server_.shown_addresses())
    remark(options.quiet, fmt::format("answering at {}", shown));
}

void Api::listen_at_default(const std::string& path) {
  std::string why = "there is no directory for its socket ($RUNTIME_DIRECTORY, $XDG_RUNTIME_DIR)";
  try {
    if (!path.empty()) return server_.listen_at({.path = path, .mode = options_.socket_mode});
  } catch (const std::exception& error) {
    why = error.what();
  }
  if (options_.is_only_way && options_.listen.empty()) {
    throw std::invalid_argument(
        fmt::format("--no-input: nobody could reach this node: {}; give --api-socket or --api-listen, or "
                    "'--api-socket none' "
                    "if that is intended",
                    why));
  }
  if (!path.empty()) warn(fmt::format("{}; answering at no unix socket", why));
}

void Api::step(const std::vector<pollfd>& polled, Nanoseconds now) {
  server_.step(polled, now, [this](char first, bool is_local) { return protocol(first, is_local); });
}

std::unique_ptr<ApiProtocol> Api::protocol(char first, bool is_local) {
  if (begins_a_line(first)) {
    std::function<bool(std::string_view)> is_token;
    if (!is_local && http_.has_token())
      is_token = [this](std::string_view token) { return http_.is_token(token); };
    return make_line_protocol(options_.lines, node_, std::move(is_token));
  }
  return make_http_protocol(is_local, max_body_bytes, http_);
}

}  // namespace tally::cli
