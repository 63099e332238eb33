// How often the insertions of a d-left filter need moves, against theory::dleft_moves_limit.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "random.hpp"
#include "tally/filters/dleft_counting_bloom.hpp"
#include "tally/theory/dleft_moves_limit.hpp"

namespace tally::test {
namespace {

struct Size {
  std::uint32_t num_subtables;
  std::uint32_t cells_per_bucket;
};

/// A filter of 2^18 cells whose keys have remainders of their own, and its keys.
class MovingFilter {
 public:
  explicit MovingFilter(Size size)
      : filter_({.buckets_per_subtable = (1 << 18) / (size.num_subtables * size.cells_per_bucket),
                 .num_subtables = size.num_subtables,
                 .cells_per_bucket = size.cells_per_bucket,
                 .remainder_bits = 28,
                 .counter_bits = 4,
                 .least_remainder_bits = 28},
                1) {}

  /// Inserts keys up to this share of the cells; returns the share that needed moves.
  double fill(double load) {
    const auto num_keys = static_cast<std::size_t>(load * static_cast<double>(filter_.shape().num_cells()));
    const std::size_t before = keys_.size();
    return share_that_needs_moves([&] {
      while (keys_.size() < num_keys) insert(keys_.emplace_back(random_.digest()));
      return num_keys - before;
    });
  }

  /// Replaces each key `times` times on average; returns the share of insertions that needed moves.
  double churn(double times) {
    const auto num_steps = static_cast<std::size_t>(times * static_cast<double>(keys_.size()));
    return share_that_needs_moves([&] {
      for (std::size_t i = 0; i < num_steps; ++i) {
        Hash128& key = keys_[random_.below(keys_.size())];
        EXPECT_EQ(filter_.remove(key), RemoveResult::removed);
        key = random_.digest();
        insert(key);
      }
      return num_steps;
    });
  }

  /// Inserts keys up to this share of the cells, and tries others in place of those that are refused.
  void fill_until_accepted(double load) {
    const auto num_keys = static_cast<std::size_t>(load * static_cast<double>(filter_.shape().num_cells()));
    while (keys_.size() < num_keys) {
      const Hash128 key = random_.digest();
      if (filter_.insert(key) != InsertResult::full) keys_.push_back(key);
    }
  }

  struct Refusals {
    double num_insertions = 0;
    double num_refused = 0;
  };
  /// Replaces each key `times` times on average, by a key that is not refused.
  Refusals churn_until_accepted(double times) {
    Refusals found;
    const auto num_steps = static_cast<std::size_t>(times * static_cast<double>(keys_.size()));
    for (std::size_t i = 0; i < num_steps; ++i) {
      Hash128& key = keys_[random_.below(keys_.size())];
      EXPECT_EQ(filter_.remove(key), RemoveResult::removed);
      key = random_.digest();
      for (++found.num_insertions; filter_.insert(key) == InsertResult::full; ++found.num_insertions) {
        ++found.num_refused;
        key = random_.digest();
      }
    }
    return found;
  }

 private:
  void insert(Hash128 key) { EXPECT_EQ(filter_.insert(key), InsertResult::counted); }

  template <class Insert>
  double share_that_needs_moves(Insert insert_all) {
    const std::uint64_t before = filter_.totals().num_rescues;
    const std::size_t num_insertions = insert_all();
    return static_cast<double>(filter_.totals().num_rescues - before) / static_cast<double>(num_insertions);
  }

  DLeftCountingBloomFilter<> filter_;
  std::vector<Hash128> keys_;
  Random random_{5};
};

/// 5%, for the approximation, and three standard errors.
double tolerance(double share, double num_insertions) {
  return 0.05 * share + 3 * std::sqrt(share * (1 - share) / num_insertions);
}

double moves_at(Size size, double load, double steps) {
  return theory::dleft_moves_limit(size.num_subtables, size.cells_per_bucket, load * size.cells_per_bucket,
                                   steps)
      .moves_probability;
}

TEST(DLeftMoves, AsManyInsertionsNeedMovesAsTheLimitSays) {
  constexpr double num_cells = 1 << 18;
  for (const Size size : {Size{2, 4}, Size{3, 4}, Size{2, 8}, Size{4, 8}, Size{2, 32}}) {
    MovingFilter filter(size);
    filter.fill(0.85);
    for (const double load : {0.9, 0.95, 0.97, 0.99}) {
      if (size.num_subtables == 2 && size.cells_per_bucket == 4 && load > 0.96)
        continue;  // near its threshold
      filter.fill(load - 0.005);
      const double filling = moves_at(size, load - 0.0025, 0);
      EXPECT_NEAR(filter.fill(load), filling, tolerance(filling, 0.005 * num_cells))
          << size.num_subtables << " x " << size.cells_per_bucket << " filled to " << load;
    }
  }
  for (const Size size : {Size{2, 4}, Size{2, 8}, Size{4, 8}}) {
    MovingFilter churned(size);
    churned.fill(0.95);
    churned.churn(2);
    const double expected = moves_at(size, 0.95, 2);
    EXPECT_NEAR(churned.churn(0.1), expected, tolerance(expected, 0.1 * num_cells))
        << size.num_subtables << " x " << size.cells_per_bucket << " under churn";
  }
}

TEST(DLeftMoves, AnInsertionIsRefusedAsOftenAsASearchFindsNoRoom) {
  constexpr double num_visits = 1024;
  for (const auto& [size, load] : {std::pair(Size{3, 8}, 0.999), std::pair(Size{4, 8}, 0.9991)}) {
    MovingFilter filter(size);
    filter.fill(0.99);
    filter.churn(1);
    filter.fill(load - 0.002);
    filter.fill_until_accepted(load);
    filter.churn_until_accepted(0.7);
    const MovingFilter::Refusals found = filter.churn_until_accepted(0.7);
    const double room =
        theory::dleft_moves_limit(size.num_subtables, size.cells_per_bucket, load * size.cells_per_bucket, 2)
            .room_probability;
    const double expected = found.num_insertions * std::exp(num_visits * std::log1p(-room));
    EXPECT_NEAR(found.num_refused, expected, 0.25 * expected + 3 * std::sqrt(expected))
        << size.num_subtables << " x " << size.cells_per_bucket;
  }
}

}  // namespace
}  // namespace tally::test
