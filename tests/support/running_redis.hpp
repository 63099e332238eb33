#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdint>
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
#include "http.hpp"

namespace tally::test {

inline bool has_redis() { return run_program({"sh", "-c", "command -v redis-server"}).exit_code == 0; }

/// A Redis server of a test's own, in a directory of its own, that keeps nothing: by a socket, and by a free
/// port of this machine if `with_port`. It can be killed and started again where it was.
class RunningRedis {
 public:
  explicit RunningRedis(std::vector<std::string> flags = {}, bool with_port = false)
      : flags_(std::move(flags)), port_(with_port ? free_port() : 0) {
    start();
  }
  ~RunningRedis() { kill_now(); }
  RunningRedis(const RunningRedis&) = delete;
  RunningRedis& operator=(const RunningRedis&) = delete;

  std::string socket() const { return directory_ / "redis.sock"; }
  std::uint16_t port() const { return port_; }

  void start() {
    std::vector<std::string> arguments{"redis-server",
                                       "--port",
                                       std::to_string(port_),
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
    if (!comes_true([&] { return answers(); })) throw std::runtime_error("redis-server does not answer");
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
    const int file = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, socket().c_str(), sizeof address.sun_path - 1);
    std::string answer;
    if (connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
      std::string command = "*" + std::to_string(arguments.size()) + "\r\n";
      for (const std::string_view argument : arguments) {
        command += "$" + std::to_string(argument.size()) + "\r\n";
        command.append(argument).append("\r\n");
      }
      std::string_view left = command;
      ssize_t count = 1;
      while (!left.empty() && (count = ::send(file, left.data(), left.size(), MSG_NOSIGNAL)) > 0) {
        left.remove_prefix(static_cast<std::size_t>(count));
      }
      answer.resize(4096);
      count = recv(file, answer.data(), answer.size(), 0);
      answer.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    }
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
  std::uint16_t port_;
  SpawnedProcess child_;
};

}  // namespace tally::test
