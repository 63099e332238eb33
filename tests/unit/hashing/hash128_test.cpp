#include "tally/hashing/hash128.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "tally/hashing/key_hasher.hpp"

namespace tally {
namespace {

struct Golden {
  std::size_t length;
  Hash128 digest;
};

// From the command `xxhsum -H2` (Debian package xxhash 0.8.1), which prints the high half first. The keys are
// `length` letters x, one key for each branch of the hash: 0, 1 to 3, 4 to 8, 9 to 16, 17 to 128, 129 to 240
// and more bytes.
TEST(Hash128, EqualsTheIndependentCommandForEveryBranchOfKeyLengths) {
  const std::vector<Golden> goldens = {
      {0, {0x6001c324468d497f, 0x99aa06d3014798d8}},   {1, {0xeaf06c6480b2cd11, 0x5c7401c0ec22eeee}},
      {3, {0x75920d64d617a183, 0x8467ca65b94d45f9}},   {8, {0x926874e5432bc207, 0xa2560a4ef6cd547b}},
      {16, {0x76ba55acf0be061e, 0xceb3fbd8af7001ac}},  {100, {0xe18dc405a95cc094, 0xadd9998d55ed3962}},
      {200, {0x0f7bed28ebd8500d, 0x062dfbe359870f1a}}, {300, {0xa5d1b4607dc83554, 0x125237ea2ad7bc7a}},
  };
  for (const Golden& golden : goldens) {
    EXPECT_EQ(hash_key(std::string(golden.length, 'x'), 0), golden.digest) << golden.length;
  }
}

// The command knows only the seed 0. These are our own, and pin what files depend on.
TEST(Hash128, KeepsItsValuesUnderOtherSeeds) {
  constexpr std::uint64_t last = ~std::uint64_t{0};
  EXPECT_EQ(hash_key("", 1), (Hash128{0x6131b78f753823cd, 0xd9265cc53bb2b9ae}));
  EXPECT_EQ(hash_key("", 42), (Hash128{0x3c1d09e9fe249164, 0x16c20acd33f7af2f}));
  EXPECT_EQ(hash_key("", last), (Hash128{0x2d10110a247d19dd, 0x5334ec22748b5fcd}));
  EXPECT_EQ(hash_key("a", 1), (Hash128{0xd2f6d0996f37a720, 0xfdd9b77fdcaf3221}));
  EXPECT_EQ(hash_key("a", last), (Hash128{0x43a7e49bc8a25756, 0x952ec4387f5e4d9f}));
  EXPECT_EQ(hash_key("0123456789abcdef", 42), (Hash128{0x87bf450a3908d40d, 0x0feddd190ab1a4db}));
  EXPECT_EQ(hash_key(std::string(300, 'x'), 1), (Hash128{0x34c297d5dc46ccff, 0xaa1a1a8c3739a6f5}));
  EXPECT_EQ(hash_key(std::string(300, 'x'), last), (Hash128{0x28816e1a6bf11388, 0x35ceaea79f3ec4fd}));
}

TEST(Hash128, AnIntegerIsItsEightLittleEndianBytes) {
  const std::string bytes("\xef\xcd\xab\x89\x67\x45\x23\x01", 8);
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{7}}) {
    EXPECT_EQ(hash_key(std::uint64_t{0x0123456789abcdef}, seed), hash_key(bytes, seed));
  }
  EXPECT_EQ(hash_key(std::uint64_t{0x0123456789abcdef}, 0),
            (Hash128{0xdc7da55868feb560, 0x9d0a16a121edc615}));  // the command, on these bytes
}

TEST(Hash128, TheEmptyKeyIsAKeyOfItsOwnWhateverItsAddress) {
  EXPECT_EQ(hash_key(KeyBytes{}, 3), hash_key(std::string_view("abc").substr(3), 3));
  EXPECT_NE(hash_key("", 3), hash_key(std::string_view("\0", 1), 3));
}

TEST(Hash128, SeesEveryByteOfAKeyNulBytesIncluded) {
  const std::string key("a\0b\0\0", 5);
  for (std::size_t length = 0; length < key.size(); ++length) {
    EXPECT_NE(hash_key(std::string_view(key).substr(0, length), 0), hash_key(key, 0)) << length;
  }
  for (std::size_t i = 0; i < key.size(); ++i) {
    std::string other = key;
    other[i] ^= 1;
    EXPECT_NE(hash_key(other, 0), hash_key(key, 0)) << i;
  }
}

}  // namespace
}  // namespace tally
