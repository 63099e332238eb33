#include "node/api_server.hpp"

#include <fmt/core.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "text/host_and_port.hpp"
#include "text/numbers.hpp"

namespace tally::cli {
namespace {

constexpr int most_waiting = 256;
constexpr int most_accepted_at_once = 64;
constexpr Nanoseconds after_an_error = nanoseconds_per_second / 100;

[[noreturn]] void throw_cannot_listen(const std::string& where, int error) {
  throw std::runtime_error(
      fmt::format("cannot listen at {}: {}", where, std::generic_category().message(error)));
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  check_socket_path(path);
  std::copy(path.begin(), path.end(), address.sun_path);
  return address;
}

/// A socket file that nobody listens at is what a node left that was killed.
void remove_dead_socket(const std::string& path, const sockaddr_un& address) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISSOCK(status.st_mode)) return;
  const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return;
  const bool is_dead = ::connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
                       errno == ECONNREFUSED;
  ::close(probe);
  if (is_dead) ::unlink(path.c_str());
}

int listening_at_path(const std::string& path, std::uint32_t mode) {
  const sockaddr_un address = address_of(path);
  remove_dead_socket(path, address);
  const int made = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (made < 0) throw_cannot_listen(path, errno);
  const mode_t before = ::umask(0777 & ~mode);
  const bool is_bound = ::bind(made, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  const int error = errno;
  ::umask(before);
  if (is_bound && ::listen(made, most_waiting) == 0) return made;
  ::close(made);
  throw_cannot_listen(path, is_bound ? errno : error);
}

std::uint16_t port_of(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                                             : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

int listening_at(const ListenAddress& wanted) {
  const std::string shown = host_and_port(wanted.host, wanted.port);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(wanted.host.c_str(), std::to_string(wanted.port).c_str(), &hints, &found);
  if (error != 0)
    throw std::runtime_error(fmt::format("--api-listen: '{}': {}", wanted.host, ::gai_strerror(error)));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  const int made = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (made < 0) throw_cannot_listen(shown, errno);
  const int yes = 1;
  ::setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (::bind(made, found->ai_addr, found->ai_addrlen) == 0 && ::listen(made, most_waiting) == 0) return made;
  const int why = errno;
  ::close(made);
  throw_cannot_listen(shown, why);
}

}  // namespace

void check_socket_path(const std::string& path) {
  constexpr std::size_t most = sizeof sockaddr_un::sun_path - 1;
  if (path.size() <= most) return;
  throw std::invalid_argument(
      fmt::format("--api-socket: '{}' has {} bytes; must have at most {}", path, path.size(), most));
}

ListenAddress ListenAddress::parse_tcp(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const auto refuse = [&] {
    throw std::invalid_argument(fmt::format(
        "'{}' is no address; give HOST:PORT, or :PORT for 127.0.0.1, such as :8080 or [::1]:8080", text));
  };
  if (colon == text.npos) refuse();
  ListenAddress address;
  address.host = text.substr(0, colon);
  if (address.host.empty()) address.host = "127.0.0.1";
  if (address.host.starts_with('[') && address.host.ends_with(']'))
    address.host = address.host.substr(1, address.host.size() - 2);
  else if (address.host.find(':') != std::string::npos) refuse();
  try {
    address.port = static_cast<std::uint16_t>(parse_count(text.substr(colon + 1), {0, 65'535}));
  } catch (const std::invalid_argument&) {
    refuse();
  }
  return address;
}

ApiServer::Listener::~Listener() {
  ::close(socket);
  if (!path.empty()) ::unlink(path.c_str());
}

void ApiServer::listen_at(const ListenAddress& address) {
  if (!address.path.empty()) {
    listeners_.emplace_back(listening_at_path(address.path, address.mode), address.path,
                            "unix:" + address.path);
    return;
  }
  const int socket = listening_at(address);
  listeners_.emplace_back(socket, "", host_and_port(address.host, port_of(socket)));
}

std::vector<std::string> ApiServer::shown_addresses() const {
  std::vector<std::string> shown;
  for (const Listener& listener : listeners_) shown.push_back(listener.shown);
  return shown;
}

void ApiServer::add_polled(std::vector<pollfd>& polled, Nanoseconds now) const {
  for (const Listener& listener : listeners_) {
    if (now >= accepts_at_) polled.push_back({listener.socket, POLLIN, 0});
    for (const ApiConnection& connection : listener.connections)
      polled.push_back({connection.socket(), connection.events(), 0});
  }
}

void ApiServer::accept_from(Listener& listener, Nanoseconds now) {
  Connections& connections = listener.connections;
  for (int i = 0; i < most_accepted_at_once; ++i) {
    const int socket = ::accept4(listener.socket, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket < 0) {
      const bool is_out_of_files = errno == EMFILE || errno == ENFILE;
      if (is_out_of_files) accepts_at_ = now + after_an_error;
      return;
    }
    if (connections.size() >= limits_.max_connections)
      connections.erase(std::ranges::min_element(connections, {}, &ApiConnection::waiting_since));
    connections.emplace_back(socket, !listener.path.empty(), limits_, now);
  }
}

void ApiServer::step(const std::vector<pollfd>& polled, Nanoseconds now, const MakeApiProtocol& make) {
  if (now >= accepts_at_) accepts_at_ = 0;
  std::unordered_map<int, short> events;
  for (const pollfd& entry : polled)
    if (entry.fd >= 0 && entry.revents != 0) events[entry.fd] |= entry.revents;
  const auto events_of = [&](int socket) {
    const auto found = events.find(socket);
    return found == events.end() ? short{0} : found->second;
  };
  const auto is_over = [&](ApiConnection& connection) {
    try {
      connection.step(events_of(connection.socket()), now, make);
      return connection.is_closed();
    } catch (const std::bad_alloc&) {  // it costs the client its connection, and nobody else anything
      return true;
    }
  };
  for (Listener& listener : listeners_) {
    std::erase_if(listener.connections, is_over);
    if (events_of(listener.socket) != 0) accept_from(listener, now);
  }
}

Nanoseconds ApiServer::deadline() const {
  Nanoseconds first = accepts_at_ == 0 ? std::numeric_limits<Nanoseconds>::max() : accepts_at_;
  for (const Listener& listener : listeners_)
    for (const ApiConnection& connection : listener.connections)
      first = std::min(first, connection.deadline());
  return first;
}

}  // namespace tally::cli
