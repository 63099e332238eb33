#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "random.hpp"

namespace tally::experiments {

/// A table of d subtables of B buckets of c cells without moves, and a process: n insertions, or replacements of n elements.
struct FewBucketsSetting {
  std::uint32_t d = 0;
  std::uint64_t B = 0;
  std::uint32_t c = 0;
  std::uint64_t n = 0;
  bool is_replaced = false;
};

/// Measures how often such a table has no room, also where that is too rare to be seen, by splitting: a trajectory whose score
/// reaches the next level is continued several times. The score of a table is
///
///     prod_j sum_b w^(load of b - c),
///
/// times w^(what is still to be inserted, per bucket of a subtable). A score of any kind leaves the mean unchanged.
class Splitting {
 public:
  Splitting(const FewBucketsSetting& setting, std::uint64_t num_trajectories, std::uint64_t seed)
      : setting_(setting), num_trajectories_(num_trajectories) {
    const double weight = setting.d == 2 ? 16 : setting.d == 3 ? 100 : 150;
    for (std::uint32_t load = 0; load <= setting.c; ++load)
      weights_.push_back(std::pow(weight, static_cast<double>(load) - setting.c));
    for (std::uint64_t i = 0; i <= setting.n; ++i) {
      const double per_bucket = static_cast<double>(setting.n - i) / static_cast<double>(setting.B);
      to_come_.push_back(setting.is_replaced ? 1.0 : std::pow(weight, per_bucket));
    }
    find_levels(seed);
  }

  /// An independent estimate without bias: of the probability that any of n insertions finds no room, or of how often, per
  /// replacement, a group of overflows begins. It ends when the score is below the first level.
  double trial(std::uint64_t seed) const {
    test::Random random(seed);
    Start start = start_of(random);
    double rate = start.rate;
    std::vector<Table> tables = std::move(start.tables);
    for (const double level : levels_) {
      if (tables.empty()) return 0;
      std::vector<Table> reached;
      for (std::uint64_t i = 0; i < num_trajectories_; ++i) {
        Table table = tables[random.below(tables.size())];
        if (go_on(table, level, random) >= level) reached.push_back(std::move(table));
      }
      rate *= static_cast<double>(reached.size()) / static_cast<double>(num_trajectories_);
      tables = std::move(reached);
    }
    return rate;
  }

 private:
  static constexpr double overflow = std::numeric_limits<double>::infinity();

  struct Table {
    std::vector<std::uint8_t> loads;
    std::vector<double> sums;  // of the weights, by subtable
    std::uint64_t n = 0;
    bool has_overflowed = false;
  };

  /// The tables whose score has just reached the first level, and how often one does.
  struct Start {
    double rate = 1;
    std::vector<Table> tables;
  };

  Table empty_table() const {
    return {.loads = std::vector<std::uint8_t>(setting_.d * setting_.B, 0),
            .sums = std::vector<double>(setting_.d, static_cast<double>(setting_.B) * weights_[0])};
  }

  /// Sums of changes become inexact.
  void sum_again(Table& table) const {
    for (std::uint32_t j = 0; j < setting_.d; ++j) {
      table.sums[j] = 0;
      for (std::uint64_t b = 0; b < setting_.B; ++b)
        table.sums[j] += weights_[table.loads[j * setting_.B + b]];
    }
  }

  double score_of(const Table& table) const {
    if (table.has_overflowed) return overflow;
    double score = to_come_[table.n];
    for (const double sum : table.sums) score *= sum;
    return score;
  }

  void change(Table& table, std::uint64_t bucket, int step) const {
    std::uint8_t& load = table.loads[bucket];
    double& sum = table.sums[bucket / setting_.B];
    sum -= weights_[load];
    load = static_cast<std::uint8_t>(load + step);
    sum += weights_[load];
    table.n = step > 0 ? table.n + 1 : table.n - 1;
  }

  bool insert(Table& table, test::Random& random) const {
    std::uint64_t best = 0;
    std::uint32_t least = setting_.c;
    for (std::uint32_t j = 0; j < setting_.d; ++j) {
      const std::uint64_t bucket = j * setting_.B + random.below(setting_.B);
      if (table.loads[bucket] >= least) continue;
      least = table.loads[bucket];
      best = bucket;
    }
    if (least == setting_.c) return false;
    change(table, best, 1);
    return true;
  }

  std::uint64_t remove(Table& table, test::Random& random) const {
    for (;;) {
      const std::uint64_t cell = random.below(setting_.d * setting_.B * setting_.c);
      const std::uint64_t bucket = cell / setting_.c;
      if (cell % setting_.c >= table.loads[bucket]) continue;
      change(table, bucket, -1);
      return bucket;
    }
  }

  /// An insertion, or a replacement; an element that finds no room does not replace another.
  void step(Table& table, test::Random& random) const {
    if (!setting_.is_replaced) {
      table.has_overflowed = !insert(table, random);
      return;
    }
    const std::uint64_t bucket = remove(table, random);
    table.has_overflowed = !insert(table, random);
    if (table.has_overflowed) change(table, bucket, 1);
  }

  /// Until the score reaches `level`, or the end. Returns the highest score.
  double go_on(Table& table, double level, test::Random& random) const {
    sum_again(table);
    double highest = score_of(table);
    while (highest < level && (setting_.is_replaced || table.n < setting_.n)) {
      step(table, random);
      const double score = score_of(table);
      highest = std::max(highest, score);
      if (setting_.is_replaced && score < first_level_) break;
    }
    return highest;
  }

  Table churned(test::Random& random) const {
    Table table = empty_table();
    for (std::uint64_t tries = 0; table.n < setting_.n && tries < 100 * setting_.n; ++tries)
      insert(table, random);
    for (std::uint64_t i = 0; i < 8 * setting_.n; ++i) step(table, random);
    return table;
  }

  Start start_of(test::Random& random) const {
    if (!setting_.is_replaced) return {.tables = {empty_table()}};
    Start start;
    Table table = churned(random);
    bool is_below = score_of(table) < first_level_;
    double num_steps = 0;
    const double most_steps = std::max(2e5, 50 * static_cast<double>(setting_.n));
    for (; num_steps < most_steps; ++num_steps) {
      if (static_cast<std::uint64_t>(num_steps) % 65536 == 0) sum_again(table);
      step(table, random);
      const bool was_below = is_below;
      is_below = score_of(table) < first_level_;
      if (was_below && !is_below) start.tables.push_back(table);
    }
    start.rate = static_cast<double>(start.tables.size()) / num_steps;
    return start;
  }

  /// So that about a quarter of the trajectories reach each level from the one before. The last one is an overflow.
  void find_levels(std::uint64_t seed) {
    test::Random random(seed);
    if (setting_.is_replaced) {
      Table table = churned(random);
      std::vector<double> scores;
      for (std::uint64_t i = 0; i < 20000; ++i) {
        for (int skipped = 0; skipped < 8; ++skipped) step(table, random);
        if (!table.has_overflowed) scores.push_back(score_of(table));
      }
      std::sort(scores.begin(), scores.end());
      first_level_ = scores[scores.size() * 9 / 10];
    }
    std::vector<Table> tables = start_of(random).tables;
    while (levels_.size() < 200 && !tables.empty() && (levels_.empty() || levels_.back() < overflow)) {
      std::vector<Table> begun;
      std::vector<double> highest;
      for (std::uint64_t i = 0; i < num_trajectories_ / 2; ++i) {
        Table table = begun.emplace_back(tables[random.below(tables.size())]);
        highest.push_back(go_on(table, overflow, random));
      }
      std::vector<double> sorted = highest;
      std::sort(sorted.begin(), sorted.end());
      double level = sorted[sorted.size() * 3 / 4];
      const double last = levels_.empty() ? first_level_ : levels_.back();
      if (level <= last) {
        const auto above = std::upper_bound(sorted.begin(), sorted.end(), last);
        level = above == sorted.end() ? overflow : *above;
      }
      levels_.push_back(level);
      std::vector<Table> reached;
      for (const Table& each : begun) {
        Table table = each;
        if (go_on(table, level, random) >= level) reached.push_back(std::move(table));
      }
      tables = std::move(reached);
    }
    if (levels_.back() < overflow) levels_.push_back(overflow);
  }

  FewBucketsSetting setting_;
  std::uint64_t num_trajectories_;
  std::vector<double> weights_;  // by load
  std::vector<double> to_come_;  // by elements
  double first_level_ = 0;
  std::vector<double> levels_;
};

}  // namespace tally::experiments
