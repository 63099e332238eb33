#include "tally/storage/bit_array.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "support/random.hpp"

namespace tally {
namespace {

const std::vector<std::uint64_t> sizes = {1, 63, 64, 65, 127, 128, 1000};

void expect_equal(const BitArray& bits, const std::vector<bool>& twin) {
  for (std::uint64_t i = 0; i < twin.size(); ++i) ASSERT_EQ(bits.get(i), twin[i]) << i;
  if (twin.size() % 64 != 0) {
    ASSERT_EQ(bits.words().back() >> (twin.size() % 64), 0u) << "padding";
  }
}

BitArray random_bits(std::uint64_t size, std::vector<bool>& twin, std::uint64_t seed) {
  test::Random random(seed);
  BitArray bits(size);
  twin.assign(size, false);
  for (std::uint64_t i = 0; i < size; ++i) {
    const std::uint64_t position = random.below(size);
    bits.set(position);
    twin[position] = true;
  }
  return bits;
}

TEST(BitArray, StartsClear) {
  for (const std::uint64_t size : sizes) expect_equal(BitArray(size), std::vector<bool>(size));
}

TEST(BitArray, SetAndClearTouchOneBit) {
  test::Random random(1);
  for (const std::uint64_t size : sizes) {
    BitArray bits(size);
    std::vector<bool> twin(size);
    for (int step = 0; step < 300; ++step) {
      const std::uint64_t i = random.below(size);
      const bool on = random.below(2) != 0;
      on ? bits.set(i) : bits.clear(i);
      twin[i] = on;
      expect_equal(bits, twin);
    }
  }
}

TEST(BitArray, CountsSetBitsOfEveryRange) {
  for (const std::uint64_t size :
       {std::uint64_t{1}, std::uint64_t{64}, std::uint64_t{65}, std::uint64_t{200}}) {
    std::vector<bool> twin;
    const BitArray bits = random_bits(size, twin, size);
    for (std::uint64_t begin = 0; begin <= size; ++begin) {
      std::uint64_t truth = 0;
      for (std::uint64_t end = begin; end <= size; ++end) {
        ASSERT_EQ(bits.num_set(begin, end), truth) << begin << " to " << end;
        if (end < size) truth += twin[end];
      }
    }
  }
}

TEST(BitArray, AMergeIsTheUnion) {
  for (const std::uint64_t size : sizes) {
    std::vector<bool> mine;
    std::vector<bool> theirs;
    BitArray bits = random_bits(size, mine, 1);
    const BitArray other = random_bits(size, theirs, 2);
    bits.merge(other);
    for (std::uint64_t i = 0; i < size; ++i) mine[i] = mine[i] || theirs[i];
    expect_equal(bits, mine);
    expect_equal(other, theirs);
  }
}

TEST(BitArray, FillsAsManyWordsAsItSays) {
  for (const std::uint64_t size : sizes) EXPECT_EQ(BitArray(size).words().size(), BitArray::num_words(size));
  EXPECT_EQ(BitArray::num_words(~std::uint64_t{0}), std::uint64_t{1} << 58);
}

}  // namespace
}  // namespace tally
