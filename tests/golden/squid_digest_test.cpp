// A digest that a real Squid wrote; data/golden/squid-5.7.txt says how.

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "file_bytes.hpp"
#include "tally/summaries/squid/digest.hpp"

namespace tally {
namespace {

const std::string golden = std::string(TALLY_TEST_DATA_DIR) + "/golden/squid-5.7";

std::vector<std::string> urls_of_squid() {
  std::ifstream file(golden + ".txt");
  std::vector<std::string> urls;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with('#')) urls.push_back(line);
  }
  return urls;
}

TEST(GoldenSquidDigest, HasWhatSquidSaidOfIt) {
  const SquidDigest digest = SquidDigest::from_bytes(test::read_bytes(golden + ".digest"));
  EXPECT_EQ(digest.shape(), (SquidShape{.capacity = 103, .bits_per_entry = 5}));
  EXPECT_EQ(digest.shape().num_bytes(), 65U);
  EXPECT_EQ(digest.totals(), (SquidDigest::Totals{.count = 102, .del_count = 0}));
  EXPECT_EQ(digest.bits().num_set(0, 520), 265U);
  EXPECT_NEAR(digest.estimated_false_positive_rate(), 0.06745, 1e-5);  // (265/520)^4
}

TEST(GoldenSquidDigest, HasEveryObjectInWhateverFormItsUrlWasAskedFor) {
  const SquidDigest digest = SquidDigest::from_bytes(test::read_bytes(golden + ".digest"));
  const std::vector<std::string> urls = urls_of_squid();
  ASSERT_EQ(urls.size(), 51U);
  for (const std::string& url : urls) {
    EXPECT_TRUE(digest.may_contain(SquidKey(SquidMethod::get, squid_url(url)))) << url;
  }
}

TEST(GoldenSquidDigest, IsWrittenAgainByteForByte) {
  const test::Bytes bytes = test::read_bytes(golden + ".digest");
  EXPECT_EQ(SquidDigest::from_bytes(bytes).to_bytes(), bytes);
}

TEST(GoldenSquidDigest, HasTheKeysOfAnotherMethodOnlyByChance) {
  const SquidDigest digest = SquidDigest::from_bytes(test::read_bytes(golden + ".digest"));
  std::size_t num_passed = 0;
  std::size_t num_asked = 0;
  for (const std::string& url : urls_of_squid()) {
    num_passed += digest.may_contain(SquidKey(SquidMethod::head, squid_url(url))) ? 1 : 0;
    ++num_asked;
  }
  // 3.4 of 51 are expected by chance.
  EXPECT_LT(num_passed, 12U) << "of " << num_asked;
}

}  // namespace
}  // namespace tally
