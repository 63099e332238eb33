#pragma once

#include <chrono>
#include <optional>
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

using MaybeKey = std::optional<MessageKey>;

/// The key of a group, and that of another one.
inline MessageKey sample_key(std::uint8_t first_byte = 0) {
  HashKey secret{};
  for (std::size_t i = 0; i < secret.size(); ++i) secret[i] = static_cast<std::byte>(first_byte + i);
  return MessageKey(secret);
}

inline DirectorySummary<CountingBloomFilter<>> sample_bits_directory(const MaybeKey& key = {}) {
  return {sample_bits(), KeyHasher(42), SummaryOptions{.publisher = "node-1", .epoch = 1000, .key = key}};
}
inline DirectorySummary<DLeftCountingBloomFilter<>> sample_cells_directory(const MaybeKey& key = {}) {
  return {sample_cells(), KeyHasher(42), SummaryOptions{.publisher = "node-1", .epoch = 1000, .key = key}};
}

/// The messages of a directory's first versions, by name: the same ones always.
template <class Directory>
std::vector<std::pair<std::string, MessageBytes>> history(Directory directory, const MaybeKey& signing) {
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
  const MessageKey* const own_key = signing ? &*signing : nullptr;
  messages.emplace_back("request",
                        request_message({"node-1", {999, 3}, 5, sample_time, own_key}, directory.layout()));
  const std::uint64_t digest = digest_of(directory.publisher().published());
  messages.emplace_back(
      "stored",
      stored_message({"node-1", directory.version(), digest, sample_time, own_key}, directory.layout()));
  return messages;
}

/// Every kind and coding, of bits and of cells.
inline std::vector<std::pair<std::string, MessageBytes>> sample_messages(const MaybeKey& key = {}) {
  std::vector<std::pair<std::string, MessageBytes>> messages;
  for (auto& [name, bytes] : history(sample_bits_directory(key), key)) {
    messages.emplace_back("bits-" + name, std::move(bytes));
  }
  for (auto& [name, bytes] : history(sample_cells_directory(key), key)) {
    messages.emplace_back("cells-" + name, std::move(bytes));
  }
  return messages;
}

}  // namespace tally::test
