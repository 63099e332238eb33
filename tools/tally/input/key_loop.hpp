#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "input/key_reader.hpp"
#include "tally/hashing/key_hasher.hpp"
#include "text/output.hpp"

namespace tally::cli {

/// Results of one batch, which is never longer than this.
template <class Value>
using Batch = std::array<Value, KeyReader::max_keys_a_call>;

/// Fills the first of `digests` with the digests of the keys.
void hash_all(const KeyHasher& hasher, std::span<const std::string_view> keys, Batch<Hash128>& digests);

/// Reads and hashes all keys, and calls use(keys, digests) for each batch. Returns the number of keys.
template <class Use>
std::uint64_t for_each_batch(const InputOptions& input, const KeyHasher& hasher, bool quiet, Use use) {
  KeyReader reader(input);
  Progress progress(quiet);
  Batch<Hash128> digests;
  std::uint64_t num_keys = 0;
  while (true) {
    const std::span<const std::string_view> keys = reader.next();
    if (keys.empty()) return num_keys;
    hash_all(hasher, keys, digests);
    use(keys, std::span<const Hash128>(digests.data(), keys.size()));
    num_keys += keys.size();
    progress.update(num_keys, reader.bytes_read(), reader.total_bytes());
  }
}

}  // namespace tally::cli
