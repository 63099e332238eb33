#include "input/find_bytes.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <vector>

#include "checks.hpp"
#include "random.hpp"

namespace tally::test {

namespace {

/// Text of its own memory, so that the address sanitizer sees a byte read past it; every so manyth byte is `wanted`.
std::vector<char> text_with(char wanted, std::size_t size, std::uint64_t one_in, Random& random) {
  std::vector<char> text(size);
  for (char& c : text) c = random.below(one_in) == 0 ? wanted : static_cast<char>(random.below(256));
  return text;
}

/// All offsets of `wanted`, found in calls with room for a limited number of offsets.
std::vector<std::uint32_t> found_with_room(std::span<const char> text, char wanted, std::size_t room) {
  std::vector<std::uint32_t> all;
  std::vector<std::uint32_t> offsets(room);
  for (std::size_t start = 0; start < text.size();) {
    const cli::FoundBytes found = cli::find_bytes(text.subspan(start), wanted, offsets);
    EXPECT_LE(found.num_found, room);
    EXPECT_GT(found.num_scanned, 0u);
    if (::testing::Test::HasFailure()) return all;
    for (std::size_t i = 0; i < found.num_found; ++i) {
      EXPECT_LT(offsets[i], found.num_scanned);
      all.push_back(static_cast<std::uint32_t>(start + offsets[i]));
    }
    start += found.num_scanned;
  }
  return all;
}

}  // namespace

void expect_find_bytes_as_byte_by_byte() {
  Random random(1);
  for (const char wanted : {'\n', '\0', 'a', '\x7f', '\x80', '\xff'}) {
    for (const std::uint64_t one_in : {1, 2, 8, 40, 1000}) {
      for (std::size_t size = 0; size < 330; size += size < 140 ? 1 : 17) {
        // From every kind of address, as pieces of a buffer begin.
        const std::size_t skipped = random.below(70);
        const std::vector<char> text = text_with(wanted, skipped + size, one_in, random);
        const std::span piece = std::span(text).subspan(skipped);
        std::vector<std::uint32_t> expected;
        for (std::uint32_t i = 0; i < size; ++i) {
          if (piece[i] == wanted) expected.push_back(i);
        }
        for (const std::size_t room : {64, 65, 100, 400}) {
          ASSERT_EQ(found_with_room(piece, wanted, room), expected)
              << int{wanted} << ", one in " << one_in << ", " << size << " bytes, room for " << room;
        }
      }
    }
  }
  // A single byte, at each place.
  for (std::size_t size = 1; size <= 192; ++size) {
    for (std::size_t i = 0; i < size; ++i) {
      std::vector<char> text(size, 'b');
      text[i] = 'a';
      ASSERT_EQ(found_with_room(text, 'a', 64), std::vector{static_cast<std::uint32_t>(i)}) << size;
    }
  }
}

}  // namespace tally::test
