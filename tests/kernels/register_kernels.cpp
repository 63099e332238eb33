#include "tally/detail/batches/register_kernels.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "checks.hpp"
#include "random.hpp"
#include "tally/hashing/register_blocked_scheme.hpp"

namespace tally::test {
namespace {

constexpr std::size_t num_register_lines = 16;
using RegisterLine = std::array<std::uint64_t, 8>;

/// Lines as the kernels need them, and what the scheme says of a key in one of them.
struct RegisterTable {
  explicit RegisterTable(std::uint32_t num_hashes) : scheme({512 * num_register_lines, num_hashes, 512}) {}

  std::uint64_t* line_of(Hash128 digest) { return lines[scheme.line(digest)].data(); }

  void insert(Hash128 digest) {
    scheme.all_positions(digest, [&](std::uint64_t position) {
      lines[position / 512][position % 512 / 64] |= std::uint64_t{1} << (position % 64);
      return true;
    });
  }
  bool contains(Hash128 digest) const {
    return scheme.all_positions(digest, [&](std::uint64_t position) {
      return (lines[position / 512][position % 512 / 64] >> (position % 64) & 1) != 0;
    });
  }

  RegisterBlockedScheme scheme;
  alignas(64) std::array<RegisterLine, num_register_lines> lines{};
};

}  // namespace

void expect_register_kernels_as_positions() {
  for (const std::uint32_t num_hashes : {8u, 16u, 24u, 40u, 1024u}) {
    const detail::RegisterKernels& kernels = detail::register_kernels(num_hashes);
    Random random(num_hashes);
    RegisterTable truth(num_hashes);
    RegisterTable one(num_hashes);
    RegisterTable testing(num_hashes);
    RegisterTable batch(num_hashes);
    std::array<Hash128, 40> inserted;
    for (Hash128& digest : inserted) digest = random.digest();
    std::vector<std::uint64_t> low;
    std::vector<std::uint64_t> high;
    std::vector<std::uint64_t*> lines;
    for (const Hash128 digest : inserted) {
      ASSERT_EQ(kernels.test_and_insert(testing.line_of(digest), digest, num_hashes), truth.contains(digest))
          << "k = " << num_hashes;
      truth.insert(digest);
      kernels.insert(one.line_of(digest), digest, num_hashes);
      ASSERT_EQ(one.lines, truth.lines) << "k = " << num_hashes;
      ASSERT_EQ(testing.lines, truth.lines) << "k = " << num_hashes;
      low.push_back(digest.low);
      high.push_back(digest.high);
      lines.push_back(batch.line_of(digest));
    }
    kernels.insert_batch(lines.data(), low.data(), high.data(), num_hashes, inserted.size());
    ASSERT_EQ(batch.lines, truth.lines) << "k = " << num_hashes;

    // One position is missing at a time: every bit of a word matters.
    for (const Hash128 digest : inserted) {
      std::uint64_t* const line = one.line_of(digest);
      ASSERT_TRUE(kernels.contains(line, digest, num_hashes));
      truth.scheme.all_positions(digest, [&](std::uint64_t position) {
        std::uint64_t& word = line[position % 512 / 64];
        const std::uint64_t before = word;
        word &= ~(std::uint64_t{1} << (position % 64));
        EXPECT_FALSE(kernels.contains(line, digest, num_hashes)) << "k = " << num_hashes;
        word = before;
        return true;
      });
    }

    constexpr std::size_t num_asked = 1000;
    std::array<Hash128, num_asked> asked;
    std::array<std::uint64_t, num_asked> asked_low;
    std::array<std::uint64_t, num_asked> asked_high;
    std::array<const std::uint64_t*, num_asked> asked_lines;
    std::array<bool, num_asked> found;
    for (std::size_t i = 0; i < num_asked; ++i) {
      asked[i] = i % 2 == 0 ? random.digest() : inserted[random.below(inserted.size())];
      asked_low[i] = asked[i].low;
      asked_high[i] = asked[i].high;
      asked_lines[i] = batch.line_of(asked[i]);
    }
    kernels.contains_batch(asked_lines.data(), asked_low.data(), asked_high.data(), num_hashes, num_asked,
                           found.data());
    for (std::size_t i = 0; i < num_asked; ++i) {
      ASSERT_EQ(found[i], truth.contains(asked[i])) << "k = " << num_hashes << ", key " << i;
      ASSERT_EQ(kernels.contains(asked_lines[i], asked[i], num_hashes), found[i]) << "k = " << num_hashes;
    }
  }
}

}  // namespace tally::test
