#include "tally/filters/blocked_kernels.hpp"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <array>
#include <cstdint>
#include <vector>

#include "random.hpp"
#include "tally/filters/bloom_filter.hpp"

namespace tally {
namespace {

TEST(BlockedKernels, AnswerAsOneKeyAtATimeOnEveryInstructionSet) {
  for (std::int64_t targets = hwy::SupportedTargets(); targets != 0; targets &= targets - 1) {
    hwy::SetSupportedTargetsForTest(targets & -targets);
    for (const std::uint32_t num_hashes : {1, 2, 6, 7, 8, 13, 14, 15, 40}) {
      BlockedBloomFilter filter({.num_bits = 512 * 100, .num_hashes = num_hashes}, 3);
      test::Random random(num_hashes);
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
  hwy::SetSupportedTargetsForTest(0);
}

}  // namespace
}  // namespace tally
