#include "tally/hashing/key_hasher.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "support/expect_refused.hpp"

namespace tally {
namespace {

HashKey counting_key() {
  HashKey key;
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::byte>(i);
  return key;
}

// Key 0, 1, .. 31 and message 0, 1, .. : the published 128-bit test vectors of HighwayHash, for lengths 0
// to 3.
TEST(KeyHasher, TheKeyedHashEqualsThePublishedVectors) {
  const KeyHasher hasher = KeyHasher::keyed(counting_key());
  EXPECT_EQ(hasher(std::string_view()), (Hash128{0x0fed268f9d8ffec7, 0x33565e767f093e6f}));
  EXPECT_EQ(hasher(std::string_view("\0", 1)), (Hash128{0xd6b0a8893681e7a8, 0xdc291df9eb9cdcb4}));
  EXPECT_EQ(hasher(std::string_view("\0\1", 2)), (Hash128{0x3d15ad265a16da04, 0x78085638dc32e868}));
  EXPECT_EQ(hasher(std::string_view("\0\1\2", 3)), (Hash128{0x0607621b295f0beb, 0xbfe69a0fd9cedd79}));
}

// Our own, around the hash's packets of 32 bytes; they pin what files depend on.
TEST(KeyHasher, TheKeyedHashKeepsItsValuesForLongerKeys) {
  const KeyHasher hasher = KeyHasher::keyed(counting_key());
  std::string message;
  for (int i = 0; i < 64; ++i) message += static_cast<char>(i);
  const auto first = [&](std::size_t length) { return hasher(std::string_view(message).substr(0, length)); };
  EXPECT_EQ(first(31), (Hash128{0x06e7b465e8a57c29, 0x52415e3a07f5d446}));
  EXPECT_EQ(first(32), (Hash128{0x1984df66c1434aaa, 0x16fc1958f9b3e4b9}));
  EXPECT_EQ(first(33), (Hash128{0x111678afe0c6c36c, 0xf958b59de5a2849d}));
  EXPECT_EQ(first(64), (Hash128{0x98bb1f7198d4c4f2, 0xe0bc0571de918fc8}));
  EXPECT_EQ(hasher.seed_or_key_id(), 0x78e406bc159f6540u);
}

TEST(KeyHasher, ASeedGivesThePublicHash) {
  const KeyHasher hasher = 42;
  EXPECT_EQ(hasher.id(), HashId::xxh3_128);
  EXPECT_EQ(hasher.seed_or_key_id(), 42u);
  EXPECT_EQ(hasher("abc"), hash_key("abc", 42));
  EXPECT_EQ(hasher(std::uint64_t{5}), hash_key(std::uint64_t{5}, 42));
}

TEST(KeyHasher, TakesADigestAsItIs) {
  const Hash128 digest{1, 2};
  EXPECT_EQ(KeyHasher(7)(digest), digest);
  EXPECT_EQ(KeyHasher::keyed(counting_key())(digest), digest);
}

TEST(KeyHasher, TheKeyedHashTakesAnIntegerAsItsBytesToo) {
  const KeyHasher hasher = KeyHasher::keyed(counting_key());
  EXPECT_EQ(hasher(std::uint64_t{0x0123456789abcdef}),
            hasher(std::string_view("\xef\xcd\xab\x89\x67\x45\x23\x01")));
}

TEST(KeyHasher, EveryBitOfTheSecretKeyChangesDigestAndId) {
  std::set<std::uint64_t> ids;
  std::set<std::uint64_t> digests;
  ids.insert(KeyHasher::keyed(counting_key()).seed_or_key_id());
  digests.insert(KeyHasher::keyed(counting_key())("abc").low);
  for (std::size_t bit = 0; bit < 256; ++bit) {
    HashKey key = counting_key();
    key[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    ids.insert(KeyHasher::keyed(key).seed_or_key_id());
    digests.insert(KeyHasher::keyed(key)("abc").low);
  }
  EXPECT_EQ(ids.size(), 257u);
  EXPECT_EQ(digests.size(), 257u);
}

TEST(KeyHasher, EqualMeansTheSameHashAndSeedOrKey) {
  const KeyHasher keyed = KeyHasher::keyed(counting_key());
  EXPECT_EQ(KeyHasher(1), KeyHasher(1));
  EXPECT_NE(KeyHasher(1), KeyHasher(2));
  EXPECT_EQ(keyed, KeyHasher::keyed(counting_key()));
  EXPECT_NE(keyed, KeyHasher::keyed(HashKey{}));
  EXPECT_NE(keyed, KeyHasher(keyed.seed_or_key_id()));
}

TEST(KeyHasher, ADifferenceIsNamed) {
  const KeyHasher keyed = KeyHasher::keyed(counting_key());
  require_same_hasher("X", KeyHasher(1), KeyHasher(1));
  require_same_hasher("X", keyed, keyed);
  test::expect_refused([&] { require_same_hasher("X", KeyHasher(1), KeyHasher(2)); },
                       {"X: cannot merge: seed is 1 here and 2 there"});
  test::expect_refused([&] { require_same_hasher("X", KeyHasher(1), keyed); },
                       {"X: cannot merge: hash is xxh3-128 here and highwayhash-128 there"});
  test::expect_refused([&] { require_same_hasher("X", keyed, KeyHasher::keyed(HashKey{})); },
                       {"X: cannot merge: key id is "});
}

}  // namespace
}  // namespace tally
