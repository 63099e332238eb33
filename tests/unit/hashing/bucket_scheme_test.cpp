#include "tally/hashing/bucket_scheme.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "random.hpp"
#include "tally/hashing/multiplier_buckets.hpp"
#include "tally/hashing/rotation_buckets.hpp"

namespace tally {
namespace {

using test::Random;

TEST(FingerprintSpace, EveryFingerprintIsReachedAndNoLowBitsAreAllZero) {
  const FingerprintSpace space{3, 6, 4};
  EXPECT_EQ(space.num_remainders(), 60u);
  std::vector<int> hits(3 << 6);
  Random random(1);
  constexpr int num_draws = 180'000;
  for (int i = 0; i < num_draws; ++i) ++hits[space.fingerprint_of(random.digest())];
  for (std::uint64_t f = 0; f < hits.size(); ++f) {
    if (f % 16 == 0) {
      EXPECT_EQ(hits[f], 0) << f;
    } else {
      EXPECT_NEAR(hits[f], num_draws / 180.0, 5 * 32) << f;  // five standard deviations
    }
  }
}

template <class Scheme>
class EveryBucketScheme : public ::testing::Test {};
using Schemes = ::testing::Types<RotationBuckets, MultiplierBuckets>;
TYPED_TEST_SUITE(EveryBucketScheme, Schemes);

TYPED_TEST(EveryBucketScheme, IsABijectionInEverySubtableAndKnowsTheWayBack) {
  for (const FingerprintSpace space :
       {FingerprintSpace{1, 7, 7}, FingerprintSpace{16, 6, 3}, FingerprintSpace{100, 5, 1}}) {
    if (TypeParam::round_buckets(space.num_buckets, Rounding::up) != space.num_buckets) continue;
    for (const std::uint64_t seed : {0, 1, 12345}) {
      const TypeParam scheme(space, seed);
      const std::uint64_t low_bits = (std::uint64_t{1} << space.least_remainder_bits) - 1;
      for (std::uint32_t i = 0; i < max_num_subtables; ++i) {
        std::set<std::uint64_t> images;
        for (std::uint64_t f = 0; f < space.num_buckets << space.remainder_bits; ++f) {
          const std::uint64_t image = scheme.image(i, f);
          ASSERT_LT(image, space.num_buckets << space.remainder_bits);
          ASSERT_EQ((image & low_bits) == 0, (f & low_bits) == 0) << f;
          ASSERT_EQ(scheme.fingerprint(i, image), f);
          images.insert(image);
          std::array<std::uint64_t, max_num_subtables> all;
          scheme.all_images(f, max_num_subtables, all.data());
          ASSERT_EQ(all[i], image);
        }
        ASSERT_EQ(images.size(), space.num_buckets << space.remainder_bits);
      }
    }
  }
}

// Fingerprints that share a bucket in one subtable share one in another no more often than by chance.
TYPED_TEST(EveryBucketScheme, SubtablesChooseBucketsIndependently) {
  const FingerprintSpace space{64, 14, 14};
  const TypeParam scheme(space, 3);
  Random random(2);
  constexpr int num_fingerprints = 64 * 64 * 50;
  for (std::uint32_t i = 0; i < 4; ++i) {
    for (std::uint32_t j = 0; j < i; ++j) {
      std::vector<int> hits(64 * 64);
      for (int n = 0; n < num_fingerprints; ++n) {
        const std::uint64_t f = space.fingerprint_of(random.digest());
        ++hits[scheme.image(i, f) >> 14 << 6 | scheme.image(j, f) >> 14];
      }
      double chi_squared = 0;
      for (const int count : hits) chi_squared += (count - 50.0) * (count - 50.0) / 50.0;
      // 4095 degrees of freedom: six standard deviations above the mean.
      EXPECT_LT(chi_squared, 4095 + 6 * 90.5) << i << ' ' << j;
    }
  }
}

TEST(MultiplierBuckets, NeedsAPowerOfTwo) {
  EXPECT_EQ(MultiplierBuckets::round_buckets(64, Rounding::up), 64u);
  EXPECT_EQ(MultiplierBuckets::round_buckets(63, Rounding::up), 64u);
  EXPECT_EQ(MultiplierBuckets::round_buckets(63, Rounding::down), 32u);
  EXPECT_EQ(MultiplierBuckets::round_buckets(1, Rounding::down), 1u);
  EXPECT_EQ(RotationBuckets::round_buckets(63, Rounding::down), 63u);
}

}  // namespace
}  // namespace tally
