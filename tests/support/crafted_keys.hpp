#pragma once

#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "random.hpp"
#include "tally/hashing/hash128.hpp"
#include "tally/hashing/mix64.hpp"

// What an opponent sends who has read our source.

namespace tally::test {

/// Different keys of 128 bytes, none with a newline, that have one digest under `seed`.
///
/// Of XXH3's inputs of 17 to 128 bytes, 16 bytes a and b go into the sum of one half as the product of a ^ (s + seed) and
/// b ^ (t - seed), s and t being words of its secret, and into the other half as the exclusive or with a + b. With
/// a = s + seed the product is 0 whatever b is. Two such pairs, at 48 and at 32, go into the upper half one after the other:
/// where the sum that lies between them is 0 too (a third pair, at 80), the two exclusive ors cancel.
inline std::vector<std::string> keys_of_one_digest(std::size_t num_keys, std::uint64_t seed) {
  const auto word_of_secret = [](std::size_t offset) {
    std::uint64_t word = 0;
    std::memcpy(&word, XXH3_kSecret + offset, sizeof word);
    return word;
  };
  Random random(seed);
  std::string key(128, 'x');
  const auto put = [&](std::size_t at, std::uint64_t word) {
    std::memcpy(key.data() + at, &word, sizeof word);
  };
  const std::uint64_t first = word_of_secret(96) + seed;
  const std::uint64_t second = word_of_secret(64) + seed;
  put(48, first);
  put(32, second);
  put(80, word_of_secret(80) + seed);
  constexpr std::uint64_t both_sums = 0x0123456789abcdef;
  std::set<std::string> keys;
  while (keys.size() < num_keys) {
    const std::uint64_t free = random.next();
    put(56, free);
    put(40, ((first + free) ^ both_sums) - second);
    if (key.find('\n') == key.npos) keys.insert(key);
  }
  return {keys.begin(), keys.end()};
}

/// The number whose product with that odd one is 1, modulo 2^64: by Newton's iteration.
inline std::uint64_t inverse_of(std::uint64_t odd) {
  std::uint64_t inverse = odd;
  for (int i = 0; i < 6; ++i) inverse *= 2 - odd * inverse;
  return inverse;
}

/// What mix64 makes `x` of. In a table that takes its slots by mix64, what 1, 2, 3 ... become is in one slot.
inline std::uint64_t unmix64(std::uint64_t x) {
  for (int i = 0; i < 2; ++i) x = (x ^ (x >> 32)) * inverse_of(0xd6e8feb86659fd93);
  return x ^ (x >> 32);
}

/// Different entries of 31-mers (KmerScanner's: 1 + 62 bits) that `unmix` makes of 1, 2, 3 and so on.
template <class Unmix>
std::vector<std::uint64_t> entries_of_one_slot(std::size_t num_entries, Unmix unmix) {
  std::vector<std::uint64_t> entries;
  for (std::uint64_t mixed = 1; entries.size() < num_entries; ++mixed) {
    const std::uint64_t entry = unmix(mixed);
    if (entry != 0 && (entry - 1) >> 62 == 0) entries.push_back(entry);
  }
  return entries;
}

}  // namespace tally::test
