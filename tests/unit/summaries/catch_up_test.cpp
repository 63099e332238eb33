// A publisher that does the work of a version in parts, while the units change.

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "tally/summaries/message.hpp"
#include "tally/summaries/publisher.hpp"
#include "tally/summaries/replica.hpp"

namespace tally::test {
namespace {

const SummaryLayout bits = layout_of(BloomShape{20'001, 4}, DefaultScheme::file_id, KeyHasher(5));
const SummaryLayout cells =
    layout_of(DLeftShape{.buckets_per_subtable = 300, .remainder_bits = 14, .least_remainder_bits = 14},
              RotationBuckets::file_id, KeyHasher(5));

/// Units that change at random, known to a publisher.
class Units {
 public:
  explicit Units(const SummaryLayout& layout, std::uint64_t max_coded_units = ~std::uint64_t{0})
      : table_(layout), publisher_(layout, {"node", 1, max_coded_units}) {}

  void change(int number) {
    for (int i = 0; i < number; ++i) {
      const std::uint64_t unit = random_() % table_.num_units();
      const bool is_cleared = table_.get(unit) != 0 && random_() % 2 == 0;
      table_.put(unit, is_cleared ? 0 : 1);
      publisher_.touch(unit);
    }
  }

  std::vector<std::uint64_t> words() const {
    std::vector<std::uint64_t> words(table_.words().begin(), table_.words().end());
    words.push_back(0);
    return words;
  }
  bool catch_up(std::uint64_t max_changes) { return publisher_.catch_up(words(), max_changes); }
  std::vector<std::byte> publish() { return publisher_.publish(words()); }
  SummaryPublisher& publisher() { return publisher_; }
  const SummaryTable& table() const { return table_; }

 private:
  std::mt19937_64 random_{3};
  SummaryTable table_;
  SummaryPublisher publisher_;
};

void expect_same_units(const SummaryReplica& replica, const SummaryTable& table) {
  ASSERT_TRUE(replica.table());
  for (std::uint64_t i = 0; i < table.num_units(); ++i) ASSERT_EQ(replica.table()->get(i), table.get(i)) << i;
}

class CatchUp : public testing::TestWithParam<SummaryLayout> {};

TEST_P(CatchUp, LeadsToTheUnitsOfTheMomentWhateverChangesMeanwhile) {
  Units units(GetParam());
  SummaryReplica replica({.hasher = 5});
  for (int round = 0; round < 6; ++round) {
    units.change(2000);
    int num_parts = 1;
    for (; !units.catch_up(100); ++num_parts) {
      units.change(20);
      if (num_parts % 7 == 0) units.publisher().touch_all();
    }
    EXPECT_GT(num_parts, 5);
    units.change(20);
    const std::vector<std::byte> message = units.publish();
    EXPECT_EQ(read_summary_message(message).kind, SummaryMessageKind::full);
    EXPECT_EQ(read_summary_message(message).digest, digest_of(units.table()));
    EXPECT_EQ(replica.apply(message), ApplyResult::applied);  // checks the digest
    expect_same_units(replica, units.table());
    units.change(10);
    const std::vector<std::byte> delta = units.publish();
    EXPECT_EQ(read_summary_message(delta).kind, SummaryMessageKind::delta);
    EXPECT_EQ(replica.apply(delta), ApplyResult::applied);
    expect_same_units(replica, units.table());
  }
}

TEST_P(CatchUp, HasNoVersionToSendUntilTheNextOne) {
  Units units(GetParam());
  units.change(2000);
  const std::vector<std::byte> first = units.publish();
  units.change(2000);
  ASSERT_FALSE(units.catch_up(10));
  EXPECT_TRUE(units.publisher().full().empty());
  EXPECT_TRUE(units.publisher().heartbeat().empty());
  SummaryMessage request;
  request.kind = SummaryMessageKind::request;
  request.publisher = "node";
  EXPECT_TRUE(units.publisher().answer(request).empty());
  (void)units.publish();
  EXPECT_FALSE(units.publisher().heartbeat().empty());
  SummaryReplica replica({.hasher = 5});
  (void)replica.apply(first);
  EXPECT_EQ(replica.apply(units.publisher().full()), ApplyResult::applied);
  expect_same_units(replica, units.table());
}

TEST_P(CatchUp, AFullCopyWithMoreUnitsThanAreCodedIsSentAsWords) {
  Units few(GetParam());
  Units many(GetParam(), 50);
  for (Units* const units : {&few, &many}) units->change(100);
  EXPECT_EQ(read_summary_message(few.publish()).coding, SummaryCoding::changes);
  const std::vector<std::byte> words = many.publish();
  EXPECT_EQ(read_summary_message(words).coding, SummaryCoding::words);
  SummaryReplica replica({.hasher = 5});
  EXPECT_EQ(replica.apply(words), ApplyResult::applied);
  expect_same_units(replica, many.table());
  EXPECT_EQ(read_summary_message(many.publisher().full()).coding, SummaryCoding::words);
}

INSTANTIATE_TEST_SUITE_P(Of, CatchUp, testing::Values(bits, cells),
                         [](const auto& each) { return each.param.has_cells() ? "Cells" : "Bits"; });

TEST(CatchUpOnce, OfAnotherLayoutBeginsAnew) {
  Units units(bits);
  units.change(2000);
  ASSERT_FALSE(units.catch_up(10));
  SummaryLayout larger = bits;
  larger.shape = BloomShape{.num_bits = 40'000, .num_hashes = 4};
  units.publisher().change_layout(larger);
  SummaryTable table(larger);
  for (std::uint64_t i = 0; i < 40'000; i += 3) table.put(i, 1);
  int num_parts = 1;
  while (!units.publisher().catch_up(table.words(), 1000)) ++num_parts;
  EXPECT_GT(num_parts, 5);
  SummaryReplica replica({.hasher = 5});
  EXPECT_EQ(replica.apply(units.publisher().publish(table.words())), ApplyResult::applied);
  expect_same_units(replica, table);
}

}  // namespace
}  // namespace tally::test
