#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "comes_true.hpp"
#include "command_runner.hpp"
#include "server_port.hpp"

namespace tally::test {

/// The server that tests start: redis-server, or what TALLY_REDIS_SERVER names, such as valkey-server.
inline std::string redis_server() {
  const char* const name = std::getenv("TALLY_REDIS_SERVER");
  return name != nullptr ? name : "redis-server";
}

inline bool has_redis() { return run_program({"sh", "-c", "command -v " + redis_server()}).exit_code == 0; }

/// A socket that is connected to the server at this path; -1 if there is none.
inline int connect_to_redis(const std::string& path) {
  const int file = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  if (connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return file;
  close(file);
  return -1;
}

/// Sends a command to the server. Returns false if the server has ended the connection.
template <class Words>
bool send_to_redis(int file, const Words& words) {
  std::string command = "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string_view word : words) {
    command += "$" + std::to_string(word.size()) + "\r\n";
    command.append(word).append("\r\n");
  }
  std::string_view left = command;
  while (!left.empty()) {
    const ssize_t count = ::send(file, left.data(), left.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    left.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

/// A Redis server of a test's own, in a directory of its own, that keeps nothing: by a socket, and by a port
/// of this machine if `with_port`. It can be killed and started again where it was.
class RunningRedis {
 public:
  explicit RunningRedis(std::vector<std::string> flags = {}, bool with_port = false)
      : flags_(std::move(flags)) {
    if (with_port) port_.emplace();
    start();
  }
  ~RunningRedis() { kill_now(); }
  RunningRedis(const RunningRedis&) = delete;
  RunningRedis& operator=(const RunningRedis&) = delete;

  std::string socket() const { return directory_ / "redis.sock"; }
  std::uint16_t port() const { return port_ ? port_->number() : std::uint16_t{0}; }

  void start() {
    std::vector<std::string> arguments{redis_server(),
                                       "--port",
                                       std::to_string(port()),
                                       "--unixsocket",
                                       socket(),
                                       "--save",
                                       "",
                                       "--appendonly",
                                       "no",
                                       "--dir",
                                       directory_ / "",
                                       "--bind",
                                       "127.0.0.1"};
    arguments.insert(arguments.end(), flags_.begin(), flags_.end());
    child_ = spawn_with_pipes(arguments, "/dev/null");
    if (!comes_true([&] { return answers(); })) throw std::runtime_error(redis_server() + " does not answer");
  }
  void start_with(std::vector<std::string> flags) {
    flags_ = std::move(flags);
    start();
  }
  /// As a power cut would.
  void kill_now() {
    if (child_.id == 0) return;
    kill(child_.id, SIGKILL);
    child_.wait();
    close(child_.input);
    close(child_.output);
    close(child_.error);
    child_ = {};
  }
  void send(int signal_number) { kill(child_.id, signal_number); }

  /// The first bytes of the answer, or what an error says; empty if there is no server.
  std::string call(std::initializer_list<std::string_view> arguments) const {
    const int file = connect_to_redis(socket());
    if (file < 0) return "";
    (void)send_to_redis(file, arguments);  // a refusal may be there to read
    std::string answer(4096, '\0');
    const ssize_t count = recv(file, answer.data(), answer.size(), 0);
    answer.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    close(file);
    return answer;
  }

 private:
  bool answers() const {
    const std::string answer = call({"PING"});
    return answer.starts_with("+PONG") || answer.starts_with("-NOAUTH");
  }

  TemporaryDirectory directory_;
  std::vector<std::string> flags_;
  std::optional<ServerPort> port_;
  SpawnedProcess child_;
};

}  // namespace tally::test
