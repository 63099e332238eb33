#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "comes_true.hpp"
#include "running_redis.hpp"

namespace tally::test {

using Words = std::vector<std::string>;

/// A reply as it came: its type is the first byte of the protocol, RESP2 or RESP3.
struct RedisReply {
  char type = '_';
  std::string text;                  // of a string, a number, an error
  std::vector<RedisReply> elements;  // of an array; of a map, names and values in turn
  bool is_nil = false;

  /// On one line: `:1`, `#t`, `+OK`, `-ERR bad capacity`, `"bytes"`, `nil` (RESP2), `_` (RESP3), `[:1, :0]`, `{+width, :8}`.
  std::string shown() const {
    if (type == '_') return "_";
    if (is_nil) return "nil";
    if (type == '$') return '"' + text + '"';
    if (type != '*' && type != '%') return type + text;
    std::string line(1, type == '*' ? '[' : '{');
    for (const RedisReply& element : elements) {
      if (line.size() > 1) line += ", ";
      line += element.shown();
    }
    return line + (type == '*' ? ']' : '}');
  }
};

/// A connection to a server by its socket.
class RedisConnection {
 public:
  explicit RedisConnection(const std::string& path) : file_(connect_to_redis(path)) {
    if (file_ < 0) throw std::runtime_error("no server at " + path);
  }
  ~RedisConnection() { close(file_); }
  RedisConnection(const RedisConnection&) = delete;
  RedisConnection& operator=(const RedisConnection&) = delete;

  RedisReply call(const Words& words) {
    if (!send_to_redis(file_, words)) throw std::runtime_error("the server has ended the connection");
    return read_reply();
  }

 private:
  void receive() {
    std::string bytes(std::size_t{1} << 16, '\0');
    const ssize_t count = recv(file_, bytes.data(), bytes.size(), 0);
    if (count <= 0) throw std::runtime_error("the server has ended the connection");
    buffer_.append(bytes, 0, static_cast<std::size_t>(count));
  }
  std::string take(std::size_t length) {
    while (buffer_.size() < length + 2) receive();
    std::string bytes = buffer_.substr(0, length);
    buffer_.erase(0, length + 2);
    return bytes;
  }
  RedisReply read_reply() {
    std::size_t end = 0;
    while ((end = buffer_.find("\r\n")) == std::string::npos) receive();
    RedisReply reply;
    const std::string line = take(end);
    reply.type = line.at(0);
    reply.text = line.substr(1);
    if (std::string_view("$*%").find(reply.type) == std::string_view::npos) return reply;
    const long length = std::stol(std::exchange(reply.text, ""));
    if (length < 0) {
      reply.is_nil = true;
    } else if (reply.type == '$') {
      reply.text = take(static_cast<std::size_t>(length));
    } else {
      const long num_elements = reply.type == '%' ? 2 * length : length;
      for (long i = 0; i < num_elements; ++i) reply.elements.push_back(read_reply());
    }
    return reply;
  }

  int file_;
  std::string buffer_;
};

/// A Redis server with the module, as RunningRedis, and a connection to it.
class RunningModule {
 public:
  explicit RunningModule(Words flags = {}, const Words& module_options = {})
      : flags_(std::move(flags)),
        redis_(all_flags(flags_, module_options), true),
        connection_(redis_.socket()) {}

  static Words all_flags(const Words& flags, const Words& module_options) {
    Words all{"--enable-debug-command", "yes"};
    for (const char* cause : {"user-del", "user-flush", "server-del", "expire", "eviction"}) {
      // Valkey would free memory in the background, and so some time after the reply.
      all.insert(all.end(), {std::string("--lazyfree-lazy-") + cause, "no"});
    }
    all.insert(all.end(), {"--loadmodule", TALLY_MODULE});
    all.insert(all.end(), module_options.begin(), module_options.end());
    all.insert(all.end(), flags.begin(), flags.end());
    return all;
  }

  RedisReply call(const Words& words) { return connection_->call(words); }
  /// The reply, shown on one line.
  std::string operator()(const Words& words) { return call(words).shown(); }
  std::string digest(const std::string& key) { return (*this)({"DEBUG", "DIGEST-VALUE", key}); }
  long long integer(const Words& words) {
    const RedisReply reply = call(words);
    if (reply.type != ':') throw std::runtime_error(words[0] + " replies " + reply.shown());
    return std::stoll(reply.text);
  }

  /// A number with a fraction as this server writes it: some write 0.9 as 0.90000000000000002.
  std::string written(const std::string& number) {
    call({"ZADD", "numbers", number, "member"});
    const std::string text = call({"ZSCORE", "numbers", "member"}).text;
    call({"DEL", "numbers"});
    return text;
  }

  std::uint16_t port() const { return redis_.port(); }
  std::string socket() const { return redis_.socket(); }
  /// As after a power cut.
  void kill_and_restart() {
    connection_.reset();
    redis_.kill_now();
    redis_.start();
    connection_.emplace(redis_.socket());
  }
  /// With other options of the module.
  void kill_and_restart(const Words& module_options) {
    connection_.reset();
    redis_.kill_now();
    redis_.start_with(all_flags(flags_, module_options));
    connection_.emplace(redis_.socket());
  }

 private:
  Words flags_;
  RunningRedis redis_;
  std::optional<RedisConnection> connection_;
};

/// Whether the replica is in step with its master before long.
inline bool follows_its_master(RunningModule& replica) {
  return comes_true([&] {
    return replica({"INFO", "replication"}).find("master_link_status:up") != std::string::npos;
  });
}

/// Starts a rewrite of the append-only file. Returns whether it ends before long.
inline bool rewrites_append_only_file(RunningModule& redis) {
  redis({"BGREWRITEAOF"});
  return comes_true([&] {
    const std::string info = redis({"INFO", "persistence"});
    return info.find("aof_rewrite_in_progress:0") != std::string::npos &&
           info.find("aof_rewrite_scheduled:0") != std::string::npos;
  });
}

/// A test that needs a server.
class WithModule : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_redis()) GTEST_SKIP() << redis_server() << " is not installed (script/packages.txt)";
  }
};

/// {arguments, reply as shown}; the rows are run in order.
struct ExpectedReply {
  Words words;
  std::string reply;
};

inline void expect_replies(RunningModule& redis, const std::vector<ExpectedReply>& rows) {
  for (const ExpectedReply& row : rows) {
    std::string command;
    for (const std::string& word : row.words) command += word + " ";
    EXPECT_EQ(redis(row.words), row.reply) << command;
  }
}

/// `count` keys with this prefix, from number `first` on, after the words of a command.
inline Words with_keys(Words words, std::string_view prefix, int first, int count) {
  for (int i = first; i < first + count; ++i) words.push_back(std::string(prefix) + std::to_string(i));
  return words;
}

inline constexpr const char* shown_wrong_type =
    "-WRONGTYPE Operation against a key holding the wrong kind of value";

}  // namespace tally::test
