#include "tally/theory/dleft_fingerprints.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "theory_test_support.hpp"

namespace tally::theory {
namespace {

constexpr std::uint64_t num_buckets = 2048;  // the paper's example, section 5.1
constexpr std::uint64_t num_remainders = 1 << 14;
constexpr std::uint64_t num_keys = 49152;

TEST(DLeftFingerprints, ThePapersExampleHasItsFalsePositiveRate) {
  EXPECT_NEAR(dleft_false_positive_probability(num_buckets, num_remainders, num_keys), 0.0014638, 5e-8);
  // 24 2^-r for B = n/24 is the paper's upper bound, nearly met.
  EXPECT_LT(dleft_false_positive_probability(num_buckets, num_remainders, num_keys), 24.0 / num_remainders);
  EXPECT_GT(dleft_false_positive_probability(num_buckets, num_remainders - 1, num_keys),
            dleft_false_positive_probability(num_buckets, num_remainders, num_keys));
  EXPECT_NEAR(dleft_false_positive_probability(num_buckets, 1 << 11, 24 * num_buckets), 0.01172,
              1e-4);  // section 4
}

TEST(DLeftFingerprints, CountingEveryOutcomeGivesTheSame) {
  const unsigned values = 6;
  for (unsigned n = 1; n <= 5; ++n) {
    double distinct = 0.0;
    double present = 0.0;
    double outcomes = 0.0;
    std::vector<double> shared_by(n + 2, 0.0);   // some value has at least i of the n keys
    std::vector<double> last_joins(n + 2, 0.0);  // the last key makes it at least i
    test::for_every_outcome(values, n, [&](const std::vector<unsigned>& keys) {
      outcomes += 1.0;
      distinct += static_cast<double>(std::set<unsigned>(keys.begin(), keys.end()).size());
      present += std::find(keys.begin(), keys.end(), 0u) != keys.end();
      std::ptrdiff_t most = 0;
      for (const unsigned key : keys) most = std::max(most, std::count(keys.begin(), keys.end(), key));
      for (std::ptrdiff_t i = 1; i <= most; ++i) shared_by[static_cast<std::size_t>(i)] += 1.0;
      const auto with_last = std::count(keys.begin(), keys.end(), keys.back());
      for (std::ptrdiff_t i = 1; i <= with_last; ++i) last_joins[static_cast<std::size_t>(i)] += 1.0;
    });
    TALLY_EXPECT_RELATIVE(dleft_false_positive_probability(2, 3, n), present / outcomes, 1e-14);
    TALLY_EXPECT_RELATIVE(dleft_distinct_fingerprints(3, 2, n), distinct / outcomes, 1e-14);
    for (unsigned i = 1; i <= n; ++i) {
      EXPECT_GE(dleft_shared_fingerprint_bound(2, 3, n, i), shared_by[i] / outcomes * (1 - 1e-14));
      TALLY_EXPECT_RELATIVE(dleft_expected_shared_insertions(2, 3, n, i, 1000),
                            1000 * last_joins[i] / outcomes, 1e-12);
    }
    // All n keys share one value: the bound is exact there.
    TALLY_EXPECT_RELATIVE(dleft_shared_fingerprint_bound(2, 3, n, n), n == 1 ? 1.0 : shared_by[n] / outcomes,
                          1e-12);
    EXPECT_EQ(dleft_shared_fingerprint_bound(2, 3, n, n + 1), 0.0);
  }
}

TEST(DLeftFingerprints, ThePrintedCounterOverflowIsTooSmallByTheNumberOfValues) {
  const double bound = dleft_shared_fingerprint_bound(num_buckets, num_remainders, num_keys, 5);
  EXPECT_NEAR(bound, 1.89e-9, 5e-12);
  // Printed: 5.62e-17, the power 5 of 1/(B R) where 4 is right.
  EXPECT_NEAR(bound / static_cast<double>(num_buckets * num_remainders), 5.62e-17, 5e-20);
}

TEST(DLeftFingerprints, FourfoldSharingIsExpectedAboutAsOftenAsThePaperSawIt) {
  const std::uint64_t steps = std::uint64_t{10000} << 20;
  const double fourfold = dleft_expected_shared_insertions(num_buckets, num_remainders, num_keys, 4, steps);
  EXPECT_NEAR(fourfold, 5.5, 0.05);  // six seen
  EXPECT_NEAR(dleft_expected_shared_insertions(num_buckets, num_remainders, num_keys, 5, steps), 0.002, 5e-5);
  TALLY_EXPECT_RELATIVE(dleft_expected_shared_insertions(num_buckets, num_remainders, num_keys, 1, 77), 77.0,
                        1e-14);
  EXPECT_EQ(dleft_expected_shared_insertions(num_buckets, num_remainders, num_keys, 4, 0), 0.0);
}

TEST(DLeftFingerprints, HugeAndTinyNumbersOfValuesLoseNothing) {
  const std::uint64_t huge = std::uint64_t{1} << 63;
  TALLY_EXPECT_RELATIVE(dleft_distinct_fingerprints(huge, huge, 1'000'000'007), 1'000'000'007.0, 1e-15);
  TALLY_EXPECT_RELATIVE(dleft_false_positive_probability(huge, huge, 1'000'000'007),
                        1'000'000'007.0 * 0x1p-126, 1e-14);
  TALLY_EXPECT_RELATIVE(ln_dleft_shared_fingerprint_bound(huge, huge, 100, 20),
                        std::lgamma(101) - std::lgamma(21) - std::lgamma(81) - 19 * 126 * std::log(2.0),
                        1e-13);
  EXPECT_EQ(dleft_shared_fingerprint_bound(huge, huge, 100, 20), 0.0);  // the logarithm is what is left
  EXPECT_EQ(dleft_distinct_fingerprints(1, 1, 9), 1.0);
  EXPECT_EQ(dleft_false_positive_probability(1, 1, 9), 1.0);
  EXPECT_EQ(dleft_shared_fingerprint_bound(1, 1, 9, 9), 1.0);
  EXPECT_EQ(dleft_distinct_fingerprints(num_buckets, num_remainders, 0), 0.0);
  EXPECT_EQ(dleft_false_positive_probability(num_buckets, num_remainders, 0), 0.0);
  EXPECT_EQ(ln_dleft_false_positive_probability(num_buckets, num_remainders, 0),
            -std::numeric_limits<double>::infinity());
  // A filter that holds every value there is.
  TALLY_EXPECT_RELATIVE(dleft_distinct_fingerprints(4, 8, 1'000'000), 32.0, 1e-15);
  TALLY_EXPECT_RELATIVE(dleft_distinct_load(2, 4, 8, 1'000'000), 4.0, 1e-15);
}

TEST(DLeftFingerprints, BadParametersAreRefusedByName) {
  TALLY_EXPECT_REFUSED(dleft_false_positive_probability(0, 1, 1), "B");
  TALLY_EXPECT_REFUSED(dleft_false_positive_probability(1, 0, 1), "R");
  TALLY_EXPECT_REFUSED(dleft_distinct_fingerprints(1, 0, 1), "R");
  TALLY_EXPECT_REFUSED(dleft_distinct_load(0, 1, 1, 1), "d");
  TALLY_EXPECT_REFUSED(dleft_distinct_load(9, 1, 1, 1), "d");
  TALLY_EXPECT_REFUSED(dleft_shared_fingerprint_bound(1, 1, 1, 0), "i");
  TALLY_EXPECT_REFUSED(dleft_expected_shared_insertions(1, 1, 0, 1, 1), "n");
  TALLY_EXPECT_REFUSED(dleft_expected_shared_insertions(1, 1, 1, (std::uint64_t{1} << 40) + 1, 1), "i");
}

}  // namespace
}  // namespace tally::theory
