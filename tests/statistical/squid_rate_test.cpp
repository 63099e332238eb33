// Measured false positive rates of Squid's digests against theory: URLs, their MD5, and what is cut from it.
// 99.9% two-sided for all cells together.

#include <gtest/gtest.h>

#include <string>

#include "support/expect_rates.hpp"
#include "tally/summaries/squid/digest.hpp"
#include "tally/theory/bloom.hpp"

namespace tally::test {
namespace {

constexpr std::uint64_t keys_per_digest = 2000;

SquidKey key_of(const std::string& filter, std::uint64_t i) {
  return {SquidMethod::get, "http://" + filter + ".example.org/objects/" + std::to_string(i)};
}

TEST(SquidRate, FollowsTheLawOfIndependentHashesThoughItsPositionsAreCutFromOneMd5) {
  std::vector<Cell> cells;
  for (const std::uint32_t bits_per_entry : {2u, 5u, 8u, 10u}) {
    MeasuredRate measured(usual_num_queries);
    const SquidShape shape{keys_per_digest, bits_per_entry};
    for (std::uint64_t i = 0; i < num_trials(100); ++i) {
      const std::string filter = std::to_string(bits_per_entry) + "-" + std::to_string(i);
      SquidDigest digest(shape);
      for (std::uint64_t j = 0; j < keys_per_digest; ++j) digest.insert(key_of(filter, j));
      std::uint64_t num_passed = 0;
      for (std::uint64_t j = keys_per_digest; j < keys_per_digest + usual_num_queries; ++j) {
        num_passed += digest.may_contain(key_of(filter, j)) ? 1 : 0;
      }
      measured.add_filter(num_passed);
    }
    cells.push_back({"bits per entry " + std::to_string(bits_per_entry),
                     theory::false_positive_probability_occupancy(shape.num_bits(), 4, keys_per_digest),
                     measured});
  }
  expect_predicted(cells);
}

}  // namespace
}  // namespace tally::test
