#pragma once

#include <pwd.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

#include "command_runner.hpp"
#include "http.hpp"
#include "running_command.hpp"
#include "server_port.hpp"

namespace tally::test {

inline constexpr const char* squid_program = "/usr/sbin/squid";

/// A Squid on the loopback, with all of its files in a directory of its own, that ends with this.
class RunningSquid {
 public:
  /// `configuration` is added to what every one here needs.
  explicit RunningSquid(const std::string& configuration)
      : configuration_(directory_.write("squid.conf", common() + configuration)) {
    give_to_squid();
    const CommandResult made =
        run_program({squid_program, "-n", service(), "-N", "-z", "-f", configuration_});
    if (made.exit_code != 0) throw std::runtime_error("squid -z: " + made.output + made.error + log());
    give_to_squid();
    squid_.emplace(std::vector<std::string>{squid_program, "-n", service(), "-N", "-f", configuration_});
    for (int i = 0; i < 600; ++i) {
      try {
        LoopbackSocket::connected(port());
        return;
      } catch (const std::system_error&) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
      }
    }
    throw std::runtime_error("squid does not answer: " + log());
  }

  ~RunningSquid() {
    if (!squid_) return;
    squid_->send(SIGTERM);
    squid_->wait();
  }
  RunningSquid(const RunningSquid&) = delete;
  RunningSquid& operator=(const RunningSquid&) = delete;

  std::uint16_t port() const { return port_.number(); }
  std::string url() const { return "http://" + port_.host_and_port(); }
  std::string get(const std::string& url, const std::string& headers = "") const {
    return http_get(port(), url, headers);
  }
  /// A page of the cache manager.
  std::string manager(const std::string& page) const { return get("/squid-internal-mgr/" + page); }
  /// The line of a request in the access log; empty if there is none.
  std::string access_of(const std::string& url) const {
    const std::string text = read_file(directory_ / "access.log");
    const std::size_t at = text.find(" " + url + " ");
    if (at == std::string::npos) return "";
    const std::size_t begin = text.rfind('\n', at) + 1;
    return text.substr(begin, text.find('\n', at) - begin);
  }
  std::string log() const { return read_file(directory_ / "cache.log"); }

 private:
  // Its segments of shared memory are called by this name, all over the machine.
  std::string service() const { return "tally" + std::to_string(port()); }
  // Squid does not stay root.
  void give_to_squid() const {
    if (::geteuid() != 0) return;
    const passwd* user = ::getpwnam("proxy");
    if (user == nullptr) throw std::runtime_error("squid's user is not there");
    for (const char* name : {"", "cache", "access.log", "cache.log"}) {
      const std::string path = directory_ / name;
      if (std::filesystem::exists(path) && ::chown(path.c_str(), user->pw_uid, user->pw_gid) != 0) {
        throw std::system_error(errno, std::generic_category(), path);
      }
    }
  }
  std::string common() const {
    std::filesystem::create_directory(directory_ / "cache");
    const auto in_directory = [&](const char* name) { return directory_ / name; };
    return "http_port " + port_.host_and_port() +
           "\n"
           "visible_hostname squid-" +
           std::to_string(port()) +
           ".test\n"  // two of one name are taken for a loop

           "http_access allow all\n"
           "cache_mem 4 MB\n"
           "icp_port 0\n"
           "pinger_enable off\n"
           "netdb_filename none\n"
           "max_filedescriptors 1024\n"
           "shutdown_lifetime 0 seconds\n"
           // Whatever is near is otherwise asked itself.
           "minimum_direct_rtt 0\n"
           "minimum_direct_hops 0\n"
           "pid_filename " +
           in_directory("pid") +
           "\n"
           "access_log stdio:" +
           in_directory("access.log") +
           "\n"
           "cache_log " +
           in_directory("cache.log") +
           "\n"
           "cache_store_log none\n"
           "coredump_dir " +
           in_directory("") +
           "\n"
           "cache_dir ufs " +
           in_directory("cache") + " 16 1 1\n";
  }

  TemporaryDirectory directory_;
  ServerPort port_;
  std::string configuration_;
  std::optional<RunningCommand> squid_;
};

}  // namespace tally::test
