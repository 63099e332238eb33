// A replica of a filter next to a client of Redis: it answers "not there" without a round trip, and asks Redis only where
// it says "maybe". The program counts the round trips that this saves.
//
// Usage: near_replica SOCKET, the path of the Unix socket of a server with the module.

#include <hiredis/hiredis.h>

#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tally/tally.hpp"

namespace {

using Reply = std::unique_ptr<redisReply, decltype(&freeReplyObject)>;

/// A connection to Redis that counts its round trips.
class Redis {
 public:
  explicit Redis(const char* socket) : context_(redisConnectUnix(socket), redisFree) {
    if (context_ == nullptr || context_->err != 0) throw std::runtime_error("cannot connect to Redis");
  }

  Reply call(const std::vector<std::string>& words) {
    std::vector<const char*> texts;
    std::vector<std::size_t> lengths;
    for (const std::string& word : words) {
      texts.push_back(word.data());
      lengths.push_back(word.size());
    }
    ++num_round_trips_;
    Reply reply(static_cast<redisReply*>(redisCommandArgv(context_.get(), static_cast<int>(words.size()),
                                                          texts.data(), lengths.data())),
                freeReplyObject);
    if (reply == nullptr) throw std::runtime_error("Redis has closed the connection");
    if (reply->type == REDIS_REPLY_ERROR) throw std::runtime_error(reply->str);
    return reply;
  }

  std::uint64_t num_round_trips() const { return num_round_trips_; }

 private:
  std::unique_ptr<redisContext, decltype(&redisFree)> context_;
  std::uint64_t num_round_trips_ = 0;
};

std::string_view text_of(const redisReply& reply) { return {reply.str, reply.len}; }

std::uint64_t seed_of(Redis& redis, const std::string& key) {
  const Reply info = redis.call({"TALLY.INFO", key});
  for (std::size_t i = 0; i + 1 < info->elements; i += 2) {
    if (text_of(*info->element[i]) == "seed") return std::stoull(info->element[i + 1]->str);
  }
  throw std::runtime_error("TALLY.INFO has no seed");
}

/// A set in Redis with a replica of it here.
class NearSet {
 public:
  NearSet(Redis& redis, std::string key)
      : redis_(redis), key_(std::move(key)), replica_({.hasher = seed_of(redis, key_)}) {}

  /// Brings the replica to what Redis holds now. A program calls this as often as its answers may be late.
  void refresh() {
    if (!apply_since(version_)) apply_since("0");
  }

  /// Whether the set has the item: "no" as of the last refresh, "maybe" as of now.
  bool may_contain(const std::string& item) {
    if (!replica_.may_contain(std::string_view(item))) return false;
    return redis_.call({"TALLY.QUERY", key_, item})->element[0]->integer == 1;
  }

 private:
  bool apply_since(const std::string& version) {
    Reply reply = redis_.call({"TALLY.SUMMARY", key_, "SINCE", version});
    // Of a large filter, the server prepares a part with each call.
    while (reply->element[1]->elements == 0) reply = redis_.call({"TALLY.SUMMARY", key_, "SINCE", version});
    const redisReply& messages = *reply->element[1];
    for (std::size_t i = 0; i < messages.elements; ++i) {
      const std::string_view message = text_of(*messages.element[i]);
      (void)replica_.apply(std::as_bytes(std::span(message)));
    }
    version_ = text_of(*reply->element[0]);
    return replica_.status().is_current();
  }

  Redis& redis_;
  std::string key_;
  tally::SummaryReplica replica_;
  std::string version_ = "0";
};

void add_users(Redis& redis, int first, int count) {
  std::vector<std::string> words{"TALLY.ADD", "users"};
  for (int i = first; i < first + count; ++i) words.push_back("user" + std::to_string(i));
  redis.call(words);
}

}  // namespace

int main(int, char** arguments) try {
  Redis writer(arguments[1]);
  writer.call({"TALLY.CREATE", "users", "--keys", "20000", "--kind", "bloom", "--seed", "1"});
  add_users(writer, 0, 9000);

  Redis redis(arguments[1]);
  NearSet users(redis, "users");
  users.refresh();
  const auto ask = [&](int first, int count) {
    int num_found = 0;
    for (int i = first; i < first + count; ++i)
      num_found += users.may_contain("user" + std::to_string(i)) ? 1 : 0;
    return num_found;
  };
  const int found_before = ask(8000, 10000);
  add_users(writer, 9000, 500);
  users.refresh();  // a delta, not the filter again
  const int found_after = ask(8000, 10000);

  std::cout << "20000 questions, " << found_before << " and " << found_after << " of 10000 found\n"
            << redis.num_round_trips() << " round trips instead of 20000\n";
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
