// What a program without the module does for `tally over N --store`: INCRBY for every key, in pipelines, and prints the keys
// whose count reaches N. It sends each key of a part of the input once, with its number there.
//
// usage: count_by_incrby N SERVER[,SERVER...] FILE    (servers as host:port, of one cluster or a single one)

#include <hiredis/hiredis.h>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tally/redis_client/address.hpp"
#include "tally/redis_client/cluster.hpp"
#include "tally/redis_client/hash_slot.hpp"

namespace {

constexpr std::size_t lines_per_part = 16384;

struct FreeContext {
  void operator()(redisContext* context) const { redisFree(context); }
};

class Counter {
 public:
  Counter(std::uint64_t threshold, const std::string& servers)
      : threshold_(threshold), cluster_({.servers = parsed(servers)}) {
    for (const auto& server : cluster_.slots().masters()) {
      connections_.emplace_back(redisConnect(server.host.c_str(), server.port));
      if (!connections_.back() || connections_.back()->err != 0)
        throw std::runtime_error("cannot connect to " + server.shown());
    }
    sent_.resize(connections_.size());
  }

  void count(const std::unordered_map<std::string_view, std::uint64_t>& keys) {
    for (auto& keys_of_server : sent_) keys_of_server.clear();
    for (const auto& [key, number] : keys) {
      const auto* const owner = cluster_.slots().find(tally::redis_client::hash_slot(key));
      const auto index = static_cast<std::size_t>(owner - cluster_.slots().masters().data());
      redisAppendCommand(connections_[index].get(), "INCRBY %b %llu", key.data(), key.size(),
                         static_cast<unsigned long long>(number));
      sent_[index].emplace_back(key, number);
    }
    // All servers work at the same time.
    for (const auto& connection : connections_) {
      for (int is_done = 0; is_done == 0;) {
        if (redisBufferWrite(connection.get(), &is_done) != REDIS_OK)
          throw std::runtime_error(connection->errstr);
      }
    }
    for (std::size_t i = 0; i < connections_.size(); ++i) {
      for (const auto& [key, number] : sent_[i]) {
        void* reply = nullptr;
        if (redisGetReply(connections_[i].get(), &reply) != REDIS_OK)
          throw std::runtime_error(connections_[i]->errstr);
        const auto& own = *static_cast<redisReply*>(reply);
        if (own.type != REDIS_REPLY_INTEGER)
          throw std::runtime_error(own.str != nullptr ? own.str : "unknown reply");
        const auto after = static_cast<std::uint64_t>(own.integer);
        if (after >= threshold_ && after - number < threshold_) std::cout << key << '\n';
        freeReplyObject(reply);
      }
    }
  }

 private:
  static std::vector<tally::redis_client::Address> parsed(const std::string& servers) {
    return tally::redis_client::parse_store_address("redis://" + servers + "/unused").servers;
  }

  std::uint64_t threshold_;
  tally::redis_client::Cluster cluster_;
  std::vector<std::unique_ptr<redisContext, FreeContext>> connections_;
  std::vector<std::vector<std::pair<std::string_view, std::uint64_t>>> sent_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: count_by_incrby N SERVER[,SERVER...] FILE\n";
    return 2;
  }
  try {
    std::uint64_t threshold = 0;
    const std::string_view text = argv[1];
    std::from_chars(text.data(), text.data() + text.size(), threshold);
    std::ios::sync_with_stdio(false);
    Counter counter(threshold, argv[2]);
    std::ifstream input(argv[3]);
    std::vector<std::string> lines;
    std::unordered_map<std::string_view, std::uint64_t> counts;
    const auto count_lines = [&] {
      counts.clear();
      for (const std::string& line : lines) ++counts[line];
      counter.count(counts);
      lines.clear();
    };
    for (std::string line; std::getline(input, line);) {
      lines.push_back(line);
      if (lines.size() == lines_per_part) count_lines();
    }
    count_lines();
  } catch (const std::exception& error) {
    std::cerr << "count_by_incrby: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
