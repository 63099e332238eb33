#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "running_module.hpp"
#include "tally/hashing/key_hasher.hpp"

namespace tally::test {

/// The digests of items as a client of TALLY.PACKED and TALLY.BATCH sends them.
inline std::string packed(const std::vector<std::string>& items, std::uint64_t seed = 1) {
  std::string bytes;
  for (const std::string& item : items) {
    const Hash128 digest = KeyHasher(seed)(item);
    for (const std::uint64_t word : {digest.low, digest.high}) {
      for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(word >> 8 * i & 0xff));
    }
  }
  return bytes;
}

/// The digests of `count` keys with this prefix, from number `first` on.
inline std::string packed_keys(std::string_view prefix, int first, int count, std::uint64_t seed = 1) {
  return packed(with_keys({}, prefix, first, count), seed);
}

inline Words with_words(Words words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// A batch of writer "w", or another one, with the words of its operation.
inline Words batch(const std::string& key, std::uint64_t sequence, std::uint64_t oldest,
                   const Words& operation, const std::string& writer = "w") {
  return with_words({"TALLY.BATCH", key, writer, std::to_string(sequence), std::to_string(oldest)},
                    operation);
}

}  // namespace tally::test
