#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tally/hashing/hash128.hpp"
#include "tally/redis_client/batch_writer.hpp"

namespace tally::cli {

/// Consecutive keys of the input, which are sent together: to each shard those that belong to it.
class InputUnit {
 public:
  using Numbers = std::vector<std::uint64_t>;

  explicit InputUnit(std::uint32_t num_shards) : indices_(num_shards), replies_(num_shards) {}

  void add(std::string_view text, Hash128 digest, std::uint32_t shard) {
    const auto index = static_cast<std::uint32_t>(ends_.size());
    texts_.append(text);
    ends_.push_back(texts_.size());
    digests_.push_back(digest);
    indices_[shard].push_back(index);
    most_in_a_shard_ = std::max(most_in_a_shard_, indices_[shard].size());
  }

  std::size_t size() const noexcept { return ends_.size(); }
  std::size_t most_in_a_shard() const noexcept { return most_in_a_shard_; }
  /// What is printed of a key.
  std::string_view text(std::size_t i) const noexcept {
    const std::uint64_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(texts_).substr(begin, ends_[i] - begin);
  }
  const std::string& texts() const noexcept { return texts_; }
  std::span<const std::uint64_t> ends() const noexcept { return ends_; }
  std::size_t num_bytes() const noexcept {
    return texts_.size() + size() * (sizeof(std::uint64_t) + sizeof(Hash128) + sizeof(std::uint32_t));
  }

  /// The keys of a shard, by their numbers in the unit.
  std::span<const std::uint32_t> of_shard(std::uint32_t shard) const noexcept { return indices_[shard]; }
  /// Their digests, in the bytes that TALLY.BATCH takes.
  std::string packed(std::uint32_t shard) const {
    std::vector<Hash128> digests;
    digests.reserve(indices_[shard].size());
    for (const std::uint32_t index : indices_[shard]) digests.push_back(digests_[index]);
    return redis_client::packed(digests);
  }

  /// The reply of a shard; empty until it has come.
  Numbers& reply(std::uint32_t shard) noexcept { return replies_[shard]; }
  const Numbers& reply(std::uint32_t shard) const noexcept { return replies_[shard]; }
  std::uint32_t num_shards() const noexcept { return static_cast<std::uint32_t>(indices_.size()); }

  std::uint64_t number = 0;      ///< 1, 2, 3, ... for a writer
  std::uint64_t first_line = 0;  ///< of the input, counted from 1
  std::size_t num_awaited = 0;   ///< shards that have not replied
  bool is_repeated = false;      ///< it was in the log of a run that ended before
  bool is_printed = false;

 private:
  std::string texts_;
  std::vector<std::uint64_t> ends_;
  std::vector<Hash128> digests_;
  std::vector<std::vector<std::uint32_t>> indices_;
  std::vector<Numbers> replies_;
  std::size_t most_in_a_shard_ = 0;
};

}  // namespace tally::cli
