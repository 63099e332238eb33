#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "checks.hpp"
#include "random.hpp"
#include "tally/filters/bloom.hpp"

namespace tally::test {

void expect_blocked_kernels_as_single_keys() {
  for (const std::uint32_t num_hashes : {1, 2, 6, 7, 8, 13, 14, 15, 40}) {
    BlockedBloomFilter filter({.num_bits = 512 * 100, .num_hashes = num_hashes}, 3);
    Random random(num_hashes);
    std::vector<Hash128> inserted(51'200 / num_hashes / 2);
    for (Hash128& digest : inserted) digest = random.digest();
    filter.insert_batch(inserted);
    std::array<Hash128, 1000> asked;
    for (Hash128& digest : asked) {
      digest = random.below(2) == 0 ? random.digest() : inserted[random.below(inserted.size())];
    }
    std::array<bool, 1000> found;
    filter.may_contain_batch(asked, found);
    for (std::size_t i = 0; i < asked.size(); ++i) {
      ASSERT_EQ(found[i], filter.may_contain(asked[i])) << "k = " << num_hashes << ", key " << i;
    }
  }
}

}  // namespace tally::test
