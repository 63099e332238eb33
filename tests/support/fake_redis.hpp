#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace tally::test {

/// A server that speaks the protocol of Redis and answers as a test says: on a port of 127.0.0.1, in a thread of its own.
class FakeRedis {
 public:
  using Words = std::vector<std::string>;
  /// What the client gets, as it is on the wire. Nothing: the connection ends instead.
  using Answer = std::optional<std::string>;
  using Serve = std::function<Answer(const Words&)>;

  explicit FakeRedis(Serve serve)
      : serve_(std::move(serve)), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(listener_, 64) != 0 ||
        getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      throw std::runtime_error("no port for a fake server");
    }
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { run(); });
  }
  ~FakeRedis() {
    stops_ = true;
    thread_.join();
    for (const auto& [file, bytes] : connections_) close(file);
    close(listener_);
  }
  FakeRedis(const FakeRedis&) = delete;
  FakeRedis& operator=(const FakeRedis&) = delete;

  std::uint16_t port() const { return port_; }
  std::string host_and_port() const { return "127.0.0.1:" + std::to_string(port_); }
  std::uint64_t num_commands() const { return num_commands_; }
  /// The commands so far, each as words with blanks between them; of a long word, its size.
  std::vector<std::string> commands() {
    const std::scoped_lock lock(mutex_);
    return log_;
  }

 private:
  void run() {
    while (!stops_) {
      std::vector<pollfd> polled{{listener_, POLLIN, 0}};
      for (const auto& [file, bytes] : connections_) polled.push_back({file, POLLIN, 0});
      if (poll(polled.data(), polled.size(), 5) <= 0) continue;
      if (polled[0].revents != 0)
        connections_.emplace(accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC), "");
      for (std::size_t i = 1; i < polled.size(); ++i) {
        if (polled[i].revents != 0 && !read_from(polled[i].fd)) {
          close(polled[i].fd);
          connections_.erase(polled[i].fd);
        }
      }
    }
  }

  /// Returns false at the end of the connection. One that ends without a reply still delivers those before: closed at once,
  /// it would take them along where the client sends more.
  bool read_from(int file) {
    std::string& bytes = connections_.at(file);
    const bool has_ended = ended_.contains(file);
    std::string part(std::size_t{1} << 16, '\0');
    const ssize_t count = recv(file, part.data(), part.size(), 0);
    if (count <= 0) {
      ended_.erase(file);
      return false;
    }
    if (has_ended) return true;
    bytes.append(part, 0, static_cast<std::size_t>(count));
    while (const std::optional<Words> words = take_command(bytes)) {
      remember(*words);
      const Answer answer = serve_(*words);
      if (!answer) {
        ended_.insert(file);
        return ::shutdown(file, SHUT_WR) == 0;
      }
      std::string_view left = *answer;
      while (!left.empty()) {
        const ssize_t sent = ::send(file, left.data(), left.size(), MSG_NOSIGNAL);
        if (sent <= 0) return false;
        left.remove_prefix(static_cast<std::size_t>(sent));
      }
    }
    return true;
  }

  /// A complete command at the start of the bytes, which it removes.
  static std::optional<Words> take_command(std::string& bytes) {
    std::size_t at = 0;
    const auto number = [&](char kind) -> std::optional<std::size_t> {
      const std::size_t end = bytes.find("\r\n", at);
      if (end == std::string::npos || bytes[at] != kind) return std::nullopt;
      const std::size_t value = std::stoul(bytes.substr(at + 1, end - at - 1));
      at = end + 2;
      return value;
    };
    const auto num_words = number('*');
    if (!num_words) return std::nullopt;
    Words words;
    while (words.size() < *num_words) {
      const auto size = number('$');
      if (!size || bytes.size() < at + *size + 2) return std::nullopt;
      words.push_back(bytes.substr(at, *size));
      at += *size + 2;
    }
    bytes.erase(0, at);
    return words;
  }

  void remember(const Words& words) {
    std::string text;
    for (const std::string& word : words) {
      text += (text.empty() ? "" : " ") + (word.size() > 40 ? std::to_string(word.size()) + " bytes" : word);
    }
    const std::scoped_lock lock(mutex_);
    log_.push_back(text);
    ++num_commands_;
  }

  Serve serve_;
  int listener_;
  std::uint16_t port_ = 0;
  std::map<int, std::string> connections_;
  std::set<int> ended_;
  std::mutex mutex_;
  std::vector<std::string> log_;
  std::atomic<std::uint64_t> num_commands_ = 0;
  std::atomic<bool> stops_ = false;
  std::thread thread_;
};

// Replies.

inline std::string bulk(std::string_view text) {
  return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}
inline std::string integer(std::uint64_t number) { return ":" + std::to_string(number) + "\r\n"; }
inline std::string array_of(const std::vector<std::string>& replies) {
  std::string bytes = "*" + std::to_string(replies.size()) + "\r\n";
  for (const std::string& reply : replies) bytes += reply;
  return bytes;
}

inline constexpr const char* no_cluster = "-ERR This instance has cluster support disabled\r\n";

/// The reply of CLUSTER SLOTS: ranges of slots, each up to a last one, and the ports of their masters.
inline std::string slots_reply(const std::vector<std::pair<std::uint64_t, std::uint16_t>>& ranges) {
  std::vector<std::string> replies;
  std::uint64_t first = 0;
  for (const auto& [last, port] : ranges) {
    replies.push_back(
        array_of({integer(first), integer(last), array_of({bulk("127.0.0.1"), integer(port), bulk("id")})}));
    first = last + 1;
  }
  return array_of(replies);
}

/// What the module does with TALLY.BATCH and the commands around it: for OVER, with plain counts of digests.
class FakeStore {
 public:
  using Words = FakeRedis::Words;

  std::string serve(const Words& words) {
    if (words[0] == "CLUSTER") return no_cluster;
    if (words[0] == "GET") {
      const auto found = texts.find(words[1]);
      return found == texts.end() ? "$-1\r\n" : bulk(found->second);
    }
    if (words[0] == "SET") return texts.emplace(words[1], words[2]).second ? "+OK\r\n" : "$-1\r\n";
    if (words[0] == "PING") return "+PONG\r\n";
    if (words[0] == "WAIT") return integer(num_replicas);
    if (words[0] == "TALLY.OVERCREATE") {
      shards[words[1]];
      return "+OK\r\n";
    }
    if (words[0] == "TALLY.ENDWRITER") return integer(shards[words[1]].writers.erase(words[2]));
    if (words[0] != "TALLY.BATCH") return "-ERR unknown command\r\n";
    if (shards.count(words[1]) == 0) {
      return words[5] == "TOP" ? "-TopK: key does not exist\r\n"
                               : "-ERR the key does not exist; create it\r\n";
    }
    if (words.back().size() > std::size_t{16} << 16) return "-ERR the digests are too many\r\n";
    Shard& shard = shards[words[1]];
    const std::uint64_t sequence = std::stoull(words[3]);
    if (shard.has_forgotten && shard.writers.count(words[2]) == 0 && sequence > 1) {
      return "-FORGOTTEN this key has forgotten the writer\r\n";
    }
    Writer& writer = shard.writers[words[2]];
    if (sequence > writer.last + 1) {
      return "-GAP " + std::to_string(writer.last) + " is the last batch of this writer here; send " +
             std::to_string(writer.last + 1) + " next\r\n";
    }
    writer.replies.erase(writer.replies.begin(), writer.replies.lower_bound(std::stoull(words[4])));
    if (sequence <= writer.last) {
      const auto kept = writer.replies.find(sequence);
      return kept != writer.replies.end() ? kept->second : "-ERR the reply of batch is not kept any more\r\n";
    }
    writer.last = sequence;
    return writer.replies[sequence] = apply(shard, words);
  }

  struct Writer {
    std::uint64_t last = 0;
    std::map<std::uint64_t, std::string> replies;
  };
  struct Shard {
    std::map<std::string, Writer> writers;
    std::map<std::string, std::uint64_t> counts;  // of digests
    std::vector<std::string> applied;             // the last word of each batch
    bool has_forgotten = false;
  };
  std::map<std::string, Shard> shards;
  std::map<std::string, std::string> texts;
  std::uint64_t num_replicas = 0;

 private:
  static std::string apply(Shard& shard, const Words& words) {
    shard.applied.push_back(words.back());
    if (words[5] != "OVER") return array_of({integer(shard.applied.size()), integer(std::stoull(words[3]))});
    std::vector<std::string> reached;
    for (std::size_t i = 0; 16 * i < words[7].size(); ++i) {
      if (++shard.counts[words[7].substr(16 * i, 16)] == std::stoull(words[6])) reached.push_back(integer(i));
    }
    return array_of(reached);
  }
};

}  // namespace tally::test
