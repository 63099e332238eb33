#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "tally/filters/counting_bloom.hpp"
#include "tally/filters/dleft_counting_bloom.hpp"
#include "tally/summaries/directory_summary.hpp"
#include "tally/summaries/message.hpp"

namespace tally::test {

using MessageBytes = std::vector<std::byte>;

inline constexpr SummaryTime sample_time{std::chrono::microseconds{1'700'000'000'000'000}};

inline CountingBloomShape sample_bits() { return {.num_counters = 1003, .num_hashes = 4}; }
inline DLeftShape sample_cells() {
  return {.buckets_per_subtable = 3,
          .num_subtables = 3,
          .cells_per_bucket = 5,
          .remainder_bits = 10,
          .counter_bits = 2,
          .least_remainder_bits = 8,
          .grows = true};
}

inline DirectorySummary<CountingBloomFilter<>> sample_bits_directory() {
  return {sample_bits(), KeyHasher(42), SummaryOptions{"node-1", 1000}};
}
inline DirectorySummary<DLeftCountingBloomFilter<>> sample_cells_directory() {
  return {sample_cells(), KeyHasher(42), SummaryOptions{"node-1", 1000}};
}

/// The messages of a directory's first versions, by name: the same ones always.
template <class Directory>
std::vector<std::pair<std::string, MessageBytes>> history(Directory directory) {
  std::vector<std::pair<std::string, MessageBytes>> messages;
  const auto insert = [&](std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t key = first; key < end; ++key) (void)directory.insert(key);
  };
  insert(0, 5);
  messages.emplace_back("full-of-few", directory.publish(sample_time));
  insert(5, 9);
  insert(5, 6);
  (void)directory.remove(std::uint64_t{0});
  messages.emplace_back("delta", directory.publish(sample_time));
  messages.emplace_back("heartbeat", directory.heartbeat(sample_time));
  insert(9, directory.layout().has_cells() ? 60 : 150);
  messages.emplace_back("many", directory.publish(sample_time));
  messages.emplace_back("full-of-many", directory.full(sample_time));
  messages.emplace_back("request", request_message({"node-1", {999, 3}, 5, sample_time}, directory.layout()));
  return messages;
}

/// Every kind and coding, of bits and of cells.
inline std::vector<std::pair<std::string, MessageBytes>> sample_messages() {
  std::vector<std::pair<std::string, MessageBytes>> messages;
  for (auto& [name, bytes] : history(sample_bits_directory())) {
    messages.emplace_back("bits-" + name, std::move(bytes));
  }
  for (auto& [name, bytes] : history(sample_cells_directory())) {
    messages.emplace_back("cells-" + name, std::move(bytes));
  }
  return messages;
}

}  // namespace tally::test
