#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "expect_refused.hpp"
#include "random.hpp"
#include "tally/summaries/squid/counting_digest.hpp"
#include "tally/theory/bloom.hpp"

namespace tally {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Bytes = std::vector<std::byte>;

SquidKey key_of(const std::string& url) { return {SquidMethod::get, url}; }
SquidKey key_of(std::uint64_t i) { return key_of("http://www.example.org/objects/" + std::to_string(i)); }

/// A key whose positions are these in any digest of more bits.
SquidKey key_at(const std::array<std::uint32_t, 4>& words) {
  std::array<std::byte, 16> md5{};
  for (std::size_t i = 0; i < 16; ++i)
    md5[i] = static_cast<std::byte>(words[i / 4] >> (24 - i % 4 * 8) & 0xFF);
  return SquidKey(md5);
}

// The words were computed with another implementation of MD5.
TEST(SquidKey, IsTheMd5OfTheMethodAndTheUrlInBigEndianWords) {
  EXPECT_THAT(key_of(1).words(), ElementsAre(0x5a9f7699, 0xfd01c21a, 0x26e43a84, 0x7134a497));
  EXPECT_THAT(SquidKey(SquidMethod::head, "http://www.example.org/objects/1").words(),
              ElementsAre(0x55a60e2f, 0x4100e72a, 0x713ba70b, 0xb263dc90));
  EXPECT_THAT(key_of("").words(), ElementsAre(0x55a54008, 0xad1ba589, 0xaa210d26, 0x29c1df41));
  EXPECT_THAT(key_at({1, 0x02030405, 3, 0xFFFFFFFF}).words(), ElementsAre(1, 0x02030405, 3, 0xFFFFFFFF));
}

TEST(SquidUrl, IsWrittenAsSquidWritesIt) {
  const std::vector<std::pair<std::string, std::string>> table{
      {"http://a.test/", "http://a.test/"},
      {"http://a.test", "http://a.test/"},
      {"http://a.test?q=1", "http://a.test/?q=1"},
      {"http://a.test#f", "http://a.test/#f"},
      {"HTTP://A.Test/Path?Query#Fragment", "http://a.test/Path?Query#Fragment"},
      {"http://a.test:80/x", "http://a.test/x"},
      {"http://a.test:0080/x", "http://a.test/x"},
      {"http://a.test:/x", "http://a.test/x"},
      {"http://a.test:08080/x", "http://a.test:8080/x"},
      {"https://a.test:443/", "https://a.test/"},
      {"https://a.test:80/", "https://a.test:80/"},
      {"ftp://a.test:21/", "ftp://a.test/"},
      {"http://a.test./x", "http://a.test/x"},
      {"http://user:secret@a.test/x", "http://a.test/x"},
      {"http://a.test/x@y:80", "http://a.test/x@y:80"},
      {"http://a.test//%7Ea/../B", "http://a.test//%7Ea/../B"},
      {"http://[2001:DB8:0:0::0001]:80/x", "http://[2001:db8::1]/x"},
      {"http://[::1]:3128/", "http://[::1]:3128/"},
      {"http://[::1]", "http://[::1]/"},
      {"http://[nonsense]/", "http://[nonsense]/"},
      {"http://[", "http://[/"},
      {"http://a.test:port/", "http://a.test:port/"},
      {"://a.test", "://a.test"},
      {"", ""},
      {"a key of a Store-ID program", "a key of a Store-ID program"},
  };
  for (const auto& [asked, written] : table) {
    EXPECT_EQ(squid_url(asked), written) << asked;
    EXPECT_EQ(squid_url(written), written);
  }
}

TEST(SquidShape, RoundsItsBitsUpToWholeBytes) {
  EXPECT_EQ((SquidShape{1, 5}.num_bytes()), 1U);
  EXPECT_EQ((SquidShape{8, 5}.num_bytes()), 5U);
  EXPECT_EQ((SquidShape{103, 5}.num_bytes()), 65U);
  EXPECT_EQ((SquidShape{103, 5}.num_bits()), 520U);
  EXPECT_EQ((SquidShape{1, 127}.num_bits()), 128U);
}

TEST(SquidShape, RefusesWhatSquidsHeaderCannotSay) {
  test::expect_refused([] { SquidDigest({0, 5}); }, {"SquidDigest", "capacity is 0", "1 to 429496728"});
  test::expect_refused([] { SquidDigest({429'496'729, 5}); }, {"capacity is 429496729"});
  test::expect_refused([] { SquidDigest({1, 0}); }, {"bits_per_entry is 0", "1 to 127"});
  test::expect_refused([] { SquidDigest({1, 128}); }, {"bits_per_entry is 128"});
  test::expect_refused(
      [] {
        CountingSquidDigest({std::numeric_limits<std::uint64_t>::max(), 127});
      },
      {"capacity is 18446744073709551615"});
  test::expect_refused([] { planned_false_positive_rate({0, 5}, 1); }, {"capacity is 0"});
  test::expect_refused(
      [] {
        SquidDigest({1, 8}, {.count = 1u << 31}, BitArray(8));
      },
      {"count is 2147483648"});
  test::expect_refused([] { SquidDigest({1, 8}, {.del_count = 1u << 31}, BitArray(8)); }, {"del_count is"});
  test::expect_refused([] { SquidDigest({1, 8}, {}, BitArray(16)); }, {"number of bits is 16"});
  check_shape(SquidShape{429'496'728, 5});
  check_shape(SquidShape{2'147'483'640, 1});
}

TEST(SquidShape, PlansNinePercentWithFiveBitsAnEntry) {
  EXPECT_NEAR(planned_false_positive_rate({1'000'000, 5}, 1'000'000), 0.0920, 5e-5);
  EXPECT_NEAR(planned_false_positive_rate({1'000'000, 10}, 1'000'000), 0.0118, 5e-5);
  EXPECT_EQ(planned_false_positive_rate({1'000'000, 5}, 0), 0);
}

TEST(SquidDigest, HoldsWhatWasInsertedAndNothingAtFirst) {
  SquidDigest digest({1000, 5});
  for (std::uint64_t i = 0; i < 1000; ++i) EXPECT_FALSE(digest.may_contain(key_of(i)));
  EXPECT_EQ(digest.estimated_false_positive_rate(), 0);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const bool passed = digest.may_contain(key_of(i));
    EXPECT_EQ(digest.insert(key_of(i)), !passed);
    EXPECT_FALSE(digest.insert(key_of(i)));
  }
  for (std::uint64_t i = 0; i < 1000; ++i) EXPECT_TRUE(digest.may_contain(key_of(i)));
  EXPECT_EQ(digest.totals().count, 2000U);
  EXPECT_EQ(digest.totals().del_count, 0U);
}

TEST(SquidDigest, SetsBitIInByteIDividedByEight) {
  SquidDigest digest({16, 5});  // 80 bits
  digest.insert(key_at({0, 9, 79, 80 * 3 + 42}));
  const Bytes bytes = digest.to_bytes();
  Bytes expected(10);
  expected[0] = std::byte{0x01};
  expected[1] = std::byte{0x02};
  expected[5] = std::byte{0x04};
  expected[9] = std::byte{0x80};
  EXPECT_EQ(Bytes(bytes.begin() + 128, bytes.end()), expected);
}

TEST(SquidDigest, WritesItsHeaderInBigEndianAndReadsItAgain) {
  BitArray bits(8 * 0x010203);
  bits.set(5);
  const SquidDigest digest({0x010203, 8}, {.count = 0x04050607, .del_count = 0x08090A0B}, bits);
  const Bytes bytes = digest.to_bytes();
  ASSERT_EQ(bytes.size(), 128U + 0x010203);
  const std::array<unsigned, 22> header{0, 5, 0, 3,    0,    1, 2, 3, 4, 5, 6,
                                        7, 8, 9, 0x0A, 0x0B, 0, 1, 2, 3, 8, 4};
  for (std::size_t i = 0; i < 128; ++i) {
    EXPECT_EQ(std::to_integer<unsigned>(bytes[i]), i < header.size() ? header[i] : 0) << i;
  }
  EXPECT_EQ(SquidDigest::from_bytes(bytes), digest);
}

TEST(SquidDigest, IsReadAgainAtEverySize) {
  for (std::uint64_t capacity = 1; capacity < 70; ++capacity) {
    SquidDigest digest({capacity, static_cast<std::uint32_t>(1 + capacity % 9)});
    for (std::uint64_t i = 0; i < capacity / 2; ++i) digest.insert(key_of(i));
    EXPECT_EQ(SquidDigest::from_bytes(digest.to_bytes()), digest) << capacity;
  }
}

// The error of from_bytes for bytes that are not a digest.
void expect_format_error(const Bytes& bytes, std::uint64_t offset, const std::string& reason) {
  try {
    SquidDigest::from_bytes(bytes);
  } catch (const FormatError& error) {
    EXPECT_EQ(error.offset(), offset) << error.what();
    EXPECT_THAT(error.what(), HasSubstr("Squid digest: "));
    EXPECT_THAT(error.what(), HasSubstr(reason));
    return;
  }
  ADD_FAILURE() << "not refused; expected '" << reason << "'";
}

Bytes with(Bytes bytes, std::size_t at, const std::vector<unsigned>& values) {
  for (const unsigned value : values) bytes.at(at++) = static_cast<std::byte>(value);
  return bytes;
}

TEST(SquidDigest, RefusesEveryHeaderFieldOutOfRange) {
  const Bytes good = SquidDigest({16, 5}).to_bytes();
  expect_format_error(with(good, 0, {0, 2}), 0, "version is 2");
  expect_format_error(with(good, 0, {0x80, 5}), 0, "version is 32773");
  expect_format_error(with(good, 2, {0, 6}), 2, "needs a reader of version 6");
  expect_format_error(with(good, 2, {0xFF, 0xFF}), 2, "needs a reader of version 65535");
  expect_format_error(with(good, 4, {0, 0, 0, 0}), 4, "capacity is 0; must be at least 1");
  expect_format_error(with(good, 4, {0xFF, 0xFF, 0xFF, 0xFF}), 4, "capacity is -1");
  expect_format_error(with(good, 8, {0x80, 0, 0, 0}), 8, "count is -2147483648");
  expect_format_error(with(good, 12, {0xFF, 0, 0, 0}), 12, "del_count is -16777216");
  expect_format_error(with(good, 16, {0, 0, 0, 0}), 16, "mask_size is 0");
  expect_format_error(with(good, 16, {0xFF, 0xFF, 0xFF, 0xFF}), 16, "mask_size is -1");
  expect_format_error(with(good, 16, {0, 0, 0, 11}), 16,
                      "mask_size is 11; capacity and bits_per_entry make it 10");
  expect_format_error(with(good, 20, {0}), 20, "bits_per_entry is 0; must be 1 to 127");
  expect_format_error(with(good, 20, {128}), 20, "bits_per_entry is 128");
  expect_format_error(with(good, 20, {6}), 16, "mask_size is 10");
  expect_format_error(with(good, 21, {5}), 21, "hash_func_count is 5; must be 4");
}

TEST(SquidDigest, ReadsNewerVersionsThatItMayAndIgnoresWhatIsReserved) {
  const SquidDigest digest({16, 5});
  EXPECT_EQ(SquidDigest::from_bytes(with(digest.to_bytes(), 0, {0, 9})), digest);
  EXPECT_EQ(SquidDigest::from_bytes(with(digest.to_bytes(), 0, {0, 3, 0, 5})), digest);
  EXPECT_EQ(SquidDigest::from_bytes(with(digest.to_bytes(), 22, {1, 2, 3})), digest);
}

TEST(SquidDigest, RefusesBytesThatAreMissingOrTooMany) {
  const Bytes good = SquidDigest({16, 5}).to_bytes();
  for (std::size_t size = 0; size < good.size(); ++size) {
    expect_format_error(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)), size,
                        size < 128 ? "must be at least 128, the header" : "of 138 bytes");
  }
  Bytes more = good;
  more.resize(good.size() + 3);
  expect_format_error(more, 138, "3 bytes follow after its end");
}

// A header that promises 256 MiB costs nothing: the bytes are not there.
TEST(SquidDigest, RefusesSizesOf31BitsWithoutTheirBytes) {
  const Bytes good = SquidDigest({16, 5}).to_bytes();
  const std::vector<unsigned> largest{0x7F, 0xFF, 0xFF, 0xFF};
  expect_format_error(with(with(good, 4, largest), 16, largest), 4,
                      "capacity is 2147483647, at 5 bits per entry; the maximum is 429496728");
  expect_format_error(with(with(with(good, 4, largest), 16, largest), 20, {127}), 4, "at 127 bits");
  expect_format_error(
      with(with(with(good, 4, {0x7F, 0xFF, 0xFF, 0xF8}), 16, {0x0F, 0xFF, 0xFF, 0xFF}), 20, {1}), 138,
      "it ends after 138 of 268435583 bytes");
}

TEST(SquidDigest, EstimatesItsErrorFromTheWordsThatFallOnSetBits) {
  SquidDigest small({16, 5});
  small.insert(key_at({0, 1, 2, 3}));
  EXPECT_DOUBLE_EQ(small.fill_ratio(), 4.0 / 80);
  EXPECT_NEAR(small.estimated_false_positive_rate(), std::pow(4.0 / 80, 4), 1e-12);

  // 2^32 = 2.67 x 2^29 x 3: bits below 2^30 stand for three words each, the others for two.
  SquidDigest large({std::uint64_t{3} << 29, 1});
  large.insert(key_at({5, 5, 5, 5}));
  EXPECT_DOUBLE_EQ(large.estimated_false_positive_rate(), std::pow(3 / 0x1p32, 4));
  large.insert(key_at({1u << 30, 1u << 30, 1u << 30, 1u << 30}));
  EXPECT_DOUBLE_EQ(large.estimated_false_positive_rate(), std::pow(5 / 0x1p32, 4));
}

TEST(CountingSquidDigest, ExportsTheDigestOfWhatIsInItAfterAnyChanges) {
  const SquidShape shape{300, 5};
  CountingSquidDigest directory(shape);
  std::map<std::uint64_t, int> present;
  test::Random random(5);
  for (int step = 0; step < 20'000; ++step) {
    const std::uint64_t i = random.below(300);
    if (present[i] > 0) {
      EXPECT_EQ(directory.remove(key_of(i)), RemoveResult::removed);
      --present[i];
    } else {
      EXPECT_EQ(directory.insert(key_of(i)), InsertResult::counted);
      ++present[i];
    }
    if (step % 500 != 0) continue;
    SquidDigest expected(shape);
    for (const auto& [key, count] : present) {
      if (count > 0) expected.insert(key_of(key));
    }
    EXPECT_EQ(directory.digest(), expected) << step;
    EXPECT_EQ(directory.num_keys(), expected.totals().count);
  }
}

TEST(CountingSquidDigest, RefusesARemoveThatIsProvablyIllegalAndChangesNothing) {
  CountingSquidDigest directory({16, 5});
  directory.insert(key_at({1, 2, 3, 4}));
  const SquidDigest before = directory.digest();
  EXPECT_EQ(directory.remove(key_at({1, 2, 3, 5})), RemoveResult::refused);
  EXPECT_EQ(directory.remove(key_at({1, 1, 2, 3})), RemoveResult::refused);  // 1 is there once
  EXPECT_EQ(directory.digest(), before);
  EXPECT_TRUE(directory.may_contain(key_at({1, 2, 3, 4})));
  EXPECT_EQ(directory.remove(key_at({1, 2, 3, 4})), RemoveResult::removed);
  EXPECT_EQ(directory.digest(), SquidDigest({16, 5}));
}

TEST(CountingSquidDigest, KeepsTheBitsOfACounterThatSticks) {
  CountingSquidDigest directory({16, 5});
  for (int i = 0; i < 14; ++i) EXPECT_EQ(directory.insert(key_at({1, 2, 3, 4})), InsertResult::counted);
  EXPECT_EQ(directory.insert(key_at({1, 2, 3, 4})), InsertResult::saturated);
  for (int i = 0; i < 15; ++i) EXPECT_EQ(directory.remove(key_at({1, 2, 3, 4})), RemoveResult::saturated);
  EXPECT_TRUE(directory.may_contain(key_at({1, 2, 3, 4})));
  EXPECT_EQ(directory.digest().totals(), (SquidDigest::Totals{.count = 0, .del_count = 15}));
}

}  // namespace
}  // namespace tally
