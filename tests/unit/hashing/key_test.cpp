#include "tally/hashing/key.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "tally/filters/bloom.hpp"
#include "tally/hashing/key_builder.hpp"
#include "tally/sketches/count_min.hpp"
#include "tally/sketches/space_saving.hpp"

namespace {

enum class Colour : std::int16_t { red = -1, blue = 300 };
enum class Letter : char { a };

struct Flow {
  std::array<std::uint8_t, 4> address;
  std::uint16_t port;
};
void append_key(tally::KeyBuilder& builder, const Flow& flow) { builder.append(flow.address, flow.port); }

struct Session {
  Flow flow;
  std::string user;
};
void append_key(tally::KeyBuilder& builder, const Session& session) {
  builder.append(session.flow, session.user, Colour::blue);
}

struct Id {
  std::uint32_t value;
};
void append_key(tally::KeyBuilder& builder, Id id) { builder.append(id.value); }

struct NoKey {
  int value;
};

using tally::Hash128;
using tally::Key;

// What is a key, and what is not. A parameter K&& has these types.
static_assert(Key<int> && Key<const int&> && Key<std::uint8_t> && Key<signed char> && Key<long long&>);
static_assert(Key<Colour> && !Key<Letter> && !Key<std::byte>);
static_assert(!Key<bool> && !Key<char> && !Key<char8_t> && !Key<wchar_t> && !Key<float> && !Key<double&>);
static_assert(Key<std::string> && Key<const std::string&> && Key<std::string_view>);
static_assert(Key<const char (&)[4]> && !Key<char (&)[4]> && !Key<const char*> && !Key<char*> &&
              !Key<void*> && !Key<std::nullptr_t> && !Key<const char (&)[2][2]>);
static_assert(Key<std::vector<std::byte>> && Key<std::span<const std::byte>> && Key<std::array<char, 4>&> &&
              Key<unsigned char (&)[4]> && Key<const std::byte (&)[4]> && Key<std::vector<unsigned char>>);
static_assert(!Key<std::vector<int>> && !Key<std::vector<std::string>> && !Key<NoKey> && !Key<std::wstring>);
static_assert(Key<Flow> && Key<const Session&> && Key<Hash128>);

template <class Structure, class K>
concept Inserts = requires(Structure& structure, K&& key) {
  structure.insert(static_cast<K&&>(key));
};
static_assert(Inserts<tally::BloomFilter<>, int> && !Inserts<tally::BloomFilter<>, double> &&
              !Inserts<tally::BloomFilter<>, NoKey> && !Inserts<tally::BloomFilter<>, std::nullptr_t> &&
              !Inserts<tally::BloomFilter<>, char (&)[8]>);

template <class Structure, class K, class Weight>
concept Adds = requires(Structure& structure, K&& key, Weight weight) {
  structure.add(static_cast<K&&>(key), weight);
};
static_assert(Adds<tally::CountMinSketch<>, int, unsigned> && !Adds<tally::CountMinSketch<>, int, double> &&
              !Adds<tally::CountMinSketch<>, int, bool>);
static_assert(Adds<tally::SpaceSaving, const char (&)[2], unsigned> &&
              Adds<tally::SpaceSaving, std::string&, std::uint64_t> &&
              !Adds<tally::SpaceSaving, int, unsigned> &&
              !Adds<tally::SpaceSaving, std::nullptr_t, unsigned> &&
              !Adds<tally::SpaceSaving, const char*, unsigned>);

template <class Keys>
concept Batch = tally::KeyBatch<Keys>;
static_assert(Batch<std::vector<std::string>> && Batch<std::vector<int>> && !Batch<std::vector<double>> &&
              !Batch<std::vector<const char*>> && !Batch<std::vector<NoKey>>);

Hash128 digest_of(auto&& key) { return tally::KeyHasher(7)(static_cast<decltype(key)&&>(key)); }

Hash128 digest_of_bytes(std::vector<unsigned> bytes) {
  std::vector<std::byte> own;
  for (const unsigned byte : bytes) own.push_back(std::byte(byte));
  return digest_of(own);
}

TEST(Key, AnIntegerOfAnyTypeIsItsEightLittleEndianBytes) {
  const Hash128 three_hundred = digest_of_bytes({0x2c, 1, 0, 0, 0, 0, 0, 0});
  EXPECT_EQ(digest_of(std::int16_t{300}), three_hundred);
  EXPECT_EQ(digest_of(std::uint64_t{300}), three_hundred);
  EXPECT_EQ(digest_of(Colour::blue), three_hundred);
  const Hash128 minus_one = digest_of_bytes({255, 255, 255, 255, 255, 255, 255, 255});
  EXPECT_EQ(digest_of(std::int8_t{-1}), minus_one);
  EXPECT_EQ(digest_of(-1L), minus_one);
  EXPECT_EQ(digest_of(Colour::red), minus_one);
  EXPECT_EQ(digest_of(~std::uint64_t{0}), minus_one);
  EXPECT_NE(digest_of(~std::uint32_t{0}), minus_one);
}

TEST(Key, TextAndBytesAreTheirBytesWhateverHoldsThem) {
  const Hash128 abc = digest_of_bytes({'a', 'b', 'c'});
  EXPECT_EQ(digest_of("abc"), abc);
  EXPECT_EQ(digest_of(std::string("abc")), abc);
  EXPECT_EQ(digest_of(std::string_view("abc")), abc);
  EXPECT_EQ(digest_of(std::array{'a', 'b', 'c'}), abc);
  EXPECT_EQ(digest_of(std::vector<unsigned char>{'a', 'b', 'c'}), abc);
  const unsigned char array[] = {'a', 'b', 'c'};
  EXPECT_EQ(digest_of(array), abc);
  EXPECT_EQ(digest_of(""), digest_of_bytes({}));
}

TEST(Key, AConstantArrayOfCharCountsItsNulsButNotOneAtItsEnd) {
  EXPECT_EQ(digest_of("ab\0cd"), digest_of_bytes({'a', 'b', 0, 'c', 'd'}));
  static constexpr char unterminated[4] = {10, 0, 0, 1};
  EXPECT_EQ(digest_of(unterminated), digest_of_bytes({10, 0, 0, 1}));
  static constexpr char longer[8] = {10, 0, 9, 9};
  EXPECT_EQ(digest_of(longer), digest_of_bytes({10, 0, 9, 9, 0, 0, 0}));
}

TEST(Key, ATypeOfOnesOwnIsTheBytesOfItsParts) {
  const Flow flow{{10, 0, 0, 1}, 443};
  const std::vector<unsigned> bytes{4, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 1, 0xbb, 1, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(digest_of(flow), digest_of_bytes(bytes));
  std::vector<unsigned> more = bytes;
  more.insert(more.end(), {2, 0, 0, 0, 0, 0, 0, 0, 'm', 'e', 0x2c, 1, 0, 0, 0, 0, 0, 0});
  EXPECT_EQ(digest_of(Session{flow, "me"}), digest_of_bytes(more));
  EXPECT_EQ(digest_of(Id{5}), digest_of(5));
}

TEST(Key, EveryByteOfALongTypeOfOnesOwnCounts) {
  for (const std::size_t size : {100, 219, 220, 221, 500, 5000}) {
    const Session session{{{1, 2, 3, 4}, 5}, std::string(size, 'x')};
    EXPECT_EQ(digest_of(session), digest_of(Session(session)));
    for (std::size_t i = 0; i < size; i += size < 300 ? 1 : 37) {
      Session other = session;
      other.user[i] = 'y';
      ASSERT_NE(digest_of(session), digest_of(other)) << size << ' ' << i;
    }
    Session shorter = session;
    shorter.user.pop_back();
    EXPECT_NE(digest_of(session), digest_of(shorter));
  }
}

TEST(Key, AFilterTakesATypeOfOnesOwn) {
  tally::BloomFilter<> filter({.num_bits = 4096, .num_hashes = 5}, 1);
  filter.insert(Flow{{10, 0, 0, 1}, 443});
  EXPECT_TRUE(filter.may_contain(Flow{{10, 0, 0, 1}, 443}));
  EXPECT_FALSE(filter.may_contain(Flow{{10, 0, 0, 1}, 444}));
}

TEST(Key, AWeightIsAnUnsignedIntegerOrAConstantThatIsNotNegative) {
  tally::CountMinSketch<> sketch({.width = 64, .depth = 2, .num_copies = 1, .counter_bits = 64}, 1);
  sketch.add("x", 5);
  sketch.add("x", std::uint8_t{200});
  sketch.add("x");
  EXPECT_EQ(sketch.count("x").value, 206u);
}

}  // namespace
