#include "tally/hashing/random_seed.hpp"

#include <gtest/gtest.h>

#include <set>

namespace tally {
namespace {

TEST(RandomSeed, DrawsAreDifferentInEveryHalf) {
  std::set<std::uint32_t> halves;
  for (int i = 0; i < 50; ++i) {
    const std::uint64_t seed = random_seed();
    halves.insert(static_cast<std::uint32_t>(seed));
    halves.insert(static_cast<std::uint32_t>(seed >> 32));
  }
  EXPECT_GE(halves.size(), 98u);  // two equal ones of 100 have the probability 1e-6
}

TEST(RandomHashKey, DrawsAreDifferentAndLeaveNoByteConstant) {
  HashKey all_or{};
  HashKey all_and;
  all_and.fill(std::byte{0xff});
  std::set<std::uint64_t> ids;
  for (int i = 0; i < 50; ++i) {
    const HashKey key = random_hash_key();
    ids.insert(KeyHasher::keyed(key).seed_or_key_id());
    for (std::size_t byte = 0; byte < key.size(); ++byte) {
      all_or[byte] |= key[byte];
      all_and[byte] &= key[byte];
    }
  }
  EXPECT_EQ(ids.size(), 50u);
  for (std::size_t byte = 0; byte < all_or.size(); ++byte) {
    EXPECT_EQ(all_or[byte], std::byte{0xff});
    EXPECT_EQ(all_and[byte], std::byte{0});
  }
}

}  // namespace
}  // namespace tally
