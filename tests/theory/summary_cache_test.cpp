#include "tally/theory/summary_cache.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include "theory_test_support.hpp"

namespace tally::theory {
namespace {

// Means of simulations are compared at 4.5 standard errors, two-sided: each comparison fails by chance once in 140,000.
constexpr double standard_errors = 4.5;

class Samples {
 public:
  void add(double value) {
    sum_ += value;
    squares_ += value * value;
    ++num_;
  }
  void expect_mean(double predicted, const std::string& name) const {
    const double mean = sum_ / num_;
    const double error = std::sqrt((squares_ / num_ - mean * mean) / (num_ - 1));
    EXPECT_LE(std::fabs(mean - predicted), standard_errors * error)
        << name << ": predicted " << predicted << ", measured " << mean << " with a standard error of "
        << error;
  }

 private:
  double sum_ = 0;
  double squares_ = 0;
  double num_ = 0;
};

TEST(FlippedShare, IsZeroWhereNothingChanged) {
  EXPECT_EQ(flipped_share(1000, 7, 100, 0, 0), 0.0);
  EXPECT_FALSE(std::signbit(flipped_share(1000, 7, 100, 0, 0)));  // a command that prints it must not say -0
  EXPECT_EQ(flipped_share_approximate(1000, 7, 100, 0, 0), 0.0);
}

TEST(FlippedShare, IsTheFillWhereAllKeysWentOrAllCame) {
  for (const std::uint64_t m : {1, 2, 10, 1000}) {
    const double fill = 1 - std::pow(1 - 1 / static_cast<double>(m), 7 * 100);
    TALLY_EXPECT_RELATIVE(flipped_share(m, 7, 100, 100, 0), fill, 1e-13);
    TALLY_EXPECT_RELATIVE(flipped_share(m, 7, 0, 0, 100), fill, 1e-13);
  }
  // All keys replaced: two independent filters.
  const double fill = 1 - std::pow(0.999, 700);
  TALLY_EXPECT_RELATIVE(flipped_share(1000, 7, 100, 100, 100), 2 * fill * (1 - fill), 1e-13);
}

TEST(FlippedShare, IsTheMeanOverAllOutcomesOfASmallFilter) {
  // m = 3, k = 1: one key stays, one goes, two come. 81 outcomes.
  const unsigned m = 3;
  std::uint64_t num_flipped = 0;
  std::uint64_t num_outcomes = 0;
  test::for_every_outcome(m, 4, [&](const std::vector<unsigned>& key) {
    for (unsigned i = 0; i < m; ++i) {
      const bool before = key[0] == i || key[1] == i;
      const bool after = key[0] == i || key[2] == i || key[3] == i;
      num_flipped += before != after;
    }
    ++num_outcomes;
  });
  TALLY_EXPECT_RELATIVE(flipped_share(m, 1, 2, 1, 2),
                        static_cast<double>(num_flipped) / static_cast<double>(m * num_outcomes), 1e-14);
}

TEST(FlippedShare, KeepsItsDigitsWhereItIsTiny) {
  // One key of 2^40 is replaced: q = kappa exp(-kappa) 2/n to first order.
  const std::uint64_t n = std::uint64_t{1} << 40;
  const std::uint64_t m = 10 * n;
  const double first_order = 0.7 * std::exp(-0.7) * 2 / static_cast<double>(n);
  TALLY_EXPECT_RELATIVE(flipped_share(m, 7, n, 1, 1), first_order, 1e-10);
  TALLY_EXPECT_RELATIVE(flipped_share_approximate(m, 7, n, 1, 1), first_order, 1e-10);
}

TEST(FlippedShare, ItsApproximationIsForLargeFilters) {
  TALLY_EXPECT_RELATIVE(flipped_share_approximate(1'000'000, 7, 100'000, 1000, 1000),
                        flipped_share(1'000'000, 7, 100'000, 1000, 1000), 1e-6);
}

TEST(FlippedShare, IsWhatCountersShow) {
  std::mt19937_64 random(1);
  constexpr std::uint64_t m = 2000;
  constexpr std::uint64_t n = 200;
  for (const std::uint32_t k : {1, 4, 7}) {
    for (const auto& [r, a] : {std::pair{2, 2}, {20, 20}, {20, 0}, {0, 20}, {200, 150}}) {
      Samples share;
      for (int trial = 0; trial < 1000; ++trial) {
        std::vector<int> counters(m);
        const auto change = [&](std::vector<std::uint64_t>& positions, int keys, int by) {
          for (int i = 0; i < keys * static_cast<int>(k); ++i) {
            if (by > 0) positions.push_back(random() % m);
            counters[positions[static_cast<std::size_t>(i)]] += by;
          }
        };
        std::vector<std::uint64_t> present;
        std::vector<std::uint64_t> fresh;
        change(present, n, 1);
        const std::vector<int> before = counters;
        change(present, r, -1);
        change(fresh, a, 1);
        double flips = 0;
        for (std::size_t i = 0; i < m; ++i) flips += (before[i] == 0) != (counters[i] == 0);
        share.add(flips / m);
      }
      share.expect_mean(flipped_share(m, k, n, static_cast<std::uint64_t>(r), static_cast<std::uint64_t>(a)),
                        "k " + std::to_string(k) + " r " + std::to_string(r) + " a " + std::to_string(a));
    }
  }
}

TEST(FlippedShare, RefusesWhatCannotBe) {
  TALLY_EXPECT_REFUSED(flipped_share(0, 7, 100, 1, 1), "m");
  TALLY_EXPECT_REFUSED(flipped_share(1000, 0, 100, 1, 1), "k");
  TALLY_EXPECT_REFUSED(flipped_share(1000, 7, 100, 101, 1), "r");
  TALLY_EXPECT_REFUSED(flipped_share_approximate(1000, 7, 100, 101, 1), "r");
}

TEST(DeltaBits, EntropyHasItsClosedValues) {
  EXPECT_EQ(binary_entropy(0), 0.0);
  EXPECT_EQ(binary_entropy(1), 0.0);
  EXPECT_EQ(binary_entropy(0.5), 1.0);
  TALLY_EXPECT_RELATIVE(binary_entropy(0.25), 2 - 0.75 * std::log2(3.0), 1e-15);
  TALLY_EXPECT_RELATIVE(binary_entropy(1e-20), 1e-20 * (std::log2(1e20) + 1 / std::log(2.0)), 1e-15);
  EXPECT_EQ(least_delta_bits(1000, 0.5), 1000.0);
  TALLY_EXPECT_REFUSED(binary_entropy(-0.1), "q");
  TALLY_EXPECT_REFUSED(binary_entropy(std::nan("")), "q");
  TALLY_EXPECT_REFUSED(least_delta_bits(1000, 1.1), "q");
  TALLY_EXPECT_REFUSED(least_delta_bits(0, 0.1), "m");
}

TEST(DeltaBits, TheBestRiceParameterHasTheFewestBits) {
  for (double q = 1; q > 1e-12; q *= 0.97) {
    const double best = rice_bits_per_position(q, best_rice_parameter(q));
    for (std::uint32_t b = 0; b <= 48; ++b) EXPECT_LE(best, rice_bits_per_position(q, b) * (1 + 1e-12)) << q;
  }
  EXPECT_EQ(best_rice_parameter(1), 0u);
  EXPECT_EQ(rice_delta_bits(1000, 1), 1000.0);
  EXPECT_EQ(rice_delta_bits(1000, 0), 0.0);
  TALLY_EXPECT_REFUSED(best_rice_parameter(0), "q");
  TALLY_EXPECT_REFUSED(rice_bits_per_position(0.1, 64), "b");
  TALLY_EXPECT_REFUSED(rice_delta_bits(10, -1), "q");
}

TEST(DeltaBits, RiceIsAsNearTheEntropyAsItSays) {
  double worst_share = 0;
  double worst_bits = 0;
  for (double q = 0.5; q > 1e-12; q *= 0.9995) {
    const double rice = rice_delta_bits(1, q);
    const double least = least_delta_bits(1, q);
    EXPECT_GE(rice, least * (1 - 1e-12)) << q;
    worst_share = std::max(worst_share, rice / least);
    if (q <= 0.001) worst_bits = std::max(worst_bits, (rice - least) / q);
  }
  EXPECT_LE(worst_share, 1.043);
  EXPECT_GE(worst_share, 1.041);
  EXPECT_LE(worst_bits, 0.121);
  EXPECT_GE(worst_bits, 0.119);
}

TEST(DeltaBits, RiceIsWhatCodedGapsTake) {
  std::mt19937_64 random(2);
  constexpr std::uint64_t m = 20000;
  for (const double q : {0.3, 0.02, 0.005}) {
    const std::uint32_t b = best_rice_parameter(q);
    std::bernoulli_distribution flips(q);
    Samples bits;
    for (int trial = 0; trial < 400; ++trial) {
      double coded = 0;
      std::uint64_t next = 0;
      for (std::uint64_t i = 0; i < m; ++i) {
        if (!flips(random)) continue;
        coded += static_cast<double>((i - next) >> b) + 1 + b;
        next = i + 1;
      }
      bits.add(coded);
    }
    bits.expect_mean(rice_delta_bits(m, q), "q " + std::to_string(q));
  }
}

TEST(DLeftDelta, HasItsLimits) {
  EXPECT_EQ(dleft_changed_cells(1000, 600, 0, 0), 0.0);
  EXPECT_EQ(dleft_changed_cells(1000, 600, 600, 0), 600.0);
  EXPECT_EQ(dleft_changed_cells(1000, 600, 0, 400), 400.0);
  EXPECT_EQ(dleft_changed_cells(1000, 1000, 10, 10),
            10.0);  // a full table: every vacated cell is filled again
  EXPECT_EQ(dleft_changed_cells(1000, 990, 10, 20), 20.0);  // no cell is empty in the end
  TALLY_EXPECT_RELATIVE(dleft_changed_cells(1 << 30, 1 << 20, 100, 100), 200.0, 1e-6);
  // Continuous where as many come as go.
  TALLY_EXPECT_RELATIVE(dleft_changed_cells(1'000'000'000, 750'000'000, 20'000'000, 20'000'001),
                        dleft_changed_cells(1'000'000'000, 750'000'000, 20'000'000, 20'000'000), 1e-7);
  TALLY_EXPECT_RELATIVE(dleft_changed_cells(1000, 750, 50, 50), 50 + 250 * (1 - std::exp(-0.2)), 1e-13);
  EXPECT_EQ(dleft_delta_bits(1000, 0, 16), 0.0);
  EXPECT_EQ(dleft_delta_bits(1000, 1000, 16), 16000.0);
  EXPECT_EQ(dleft_least_delta_bits(1000, 600, 0, 0, 14), 0.0);
  TALLY_EXPECT_RELATIVE(dleft_least_delta_bits(1000, 600, 0, 200, 14), 200 * 14 + 400.0, 1e-13);
  TALLY_EXPECT_RELATIVE(dleft_least_delta_bits(1000, 600, 300, 0, 14), 600.0, 1e-13);
  TALLY_EXPECT_REFUSED(dleft_changed_cells(1000, 1001, 1, 1), "n");
  TALLY_EXPECT_REFUSED(dleft_changed_cells(1000, 600, 601, 1), "r");
  TALLY_EXPECT_REFUSED(dleft_changed_cells(1000, 600, 0, 401), "a");
  TALLY_EXPECT_REFUSED(dleft_delta_bits(1000, 1001, 16), "changed_cells");
  TALLY_EXPECT_REFUSED(dleft_delta_bits(1000, 10, 65), "cell_bits");
  TALLY_EXPECT_REFUSED(dleft_least_delta_bits(1000, 10, 1, 1, 65), "remainder_bits");
}

TEST(DLeftDelta, ChangedCellsAreThoseOfATableThatFillsAnyEmptyCell) {
  std::mt19937_64 random(3);
  constexpr std::uint64_t cells = 1000;
  constexpr std::uint64_t n = 750;
  for (const auto& [r, a] : {std::pair{100, 100}, {150, 50}, {50, 150}}) {
    Samples changed;
    for (int trial = 0; trial < 2000; ++trial) {
      std::vector<int> table(cells);
      for (std::size_t i = 0; i < n; ++i) table[i] = 1;
      // Keys that are there at the start go, in random order, evenly mixed with those that come.
      int gone = 0;
      int come = 0;
      while (gone < r || come < a) {
        const bool remove = gone * a < come * r || come == a || (gone * a == come * r && random() % 2 == 0);
        while (true) {
          const std::size_t i = random() % cells;
          if (table[i] != (remove ? 1 : 0)) continue;
          table[i] = remove ? 0 : 2;
          break;
        }
        ++(remove ? gone : come);
      }
      double num = 0;
      for (std::size_t i = 0; i < cells; ++i) num += table[i] != (i < n ? 1 : 0);
      changed.add(num);
    }
    const double predicted =
        dleft_changed_cells(cells, n, static_cast<std::uint64_t>(r), static_cast<std::uint64_t>(a));
    changed.expect_mean(predicted, "r " + std::to_string(r));
  }
}

/// Averages over a simulated run of Poisson insertions (and Poisson removals), sends at the limits, delay 0.
struct Simulated {
  double unknown = 0;
  double stale = 0;
  double interval = 0;
};

Simulated simulate(const DirectoryChange& change, double keys_limit, double time_limit, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::exponential_distribution<double> insertion(change.insertion_rate);
  std::exponential_distribution<double> removal(change.evictions ? 1.0 : change.removal_rate);
  std::bernoulli_distribution evicts(std::min(1.0, change.removal_rate / change.insertion_rate));
  constexpr double duration = 3e4;
  double now = 0;
  double last = 0;
  double next_insertion = insertion(random);
  double next_removal = change.evictions ? never : removal(random);
  double new_keys = 0;
  double removed_keys = 0;
  double num_messages = 0;
  Simulated sums;
  while (now < duration) {
    const double next = std::min({next_insertion, next_removal, last + time_limit});
    sums.unknown += new_keys * (next - now);
    sums.stale += removed_keys * (next - now);
    now = next;
    if (next == next_insertion) {
      ++new_keys;
      if (change.evictions && evicts(random)) ++removed_keys;
      next_insertion += insertion(random);
    } else if (next == next_removal) {
      ++removed_keys;
      next_removal += removal(random);
    }
    if (new_keys < keys_limit && now < last + time_limit) continue;
    num_messages += new_keys + removed_keys > 0;
    new_keys = removed_keys = 0;
    last = now;
  }
  return {sums.unknown / now, sums.stale / now, now / num_messages};
}

TEST(Staleness, IsWhatASimulationShows) {
  for (const bool evictions : {true, false}) {
    for (const double new_share : {never, 0.0, 0.03, 0.05}) {
      for (const double interval : {never, 0.2, 2.5, 40.0}) {
        if (new_share == never && interval == never) continue;
        const DirectoryChange change{
            .num_keys = 100, .insertion_rate = 2, .removal_rate = 1.5, .evictions = evictions};
        const Staleness predicted = summary_staleness(change, {.new_share = new_share, .interval = interval});
        Samples unknown;
        Samples stale;
        Samples time;
        for (std::uint64_t seed = 0; seed < 12; ++seed) {
          const Simulated run = simulate(
              change, new_share == never ? never : std::max(1.0, std::ceil(new_share * 100)), interval, seed);
          unknown.add(run.unknown);
          stale.add(run.stale);
          time.add(run.interval);
        }
        const std::string name = "share " + std::to_string(new_share) + " interval " +
                                 std::to_string(interval) + (evictions ? " evictions" : "");
        unknown.expect_mean(predicted.unknown_keys, name + ": unknown keys");
        stale.expect_mean(predicted.stale_keys, name + ": stale keys");
        time.expect_mean(predicted.interval, name + ": time between messages");
      }
    }
  }
}

TEST(Staleness, HasItsClosedCases) {
  const DirectoryChange change{.num_keys = 1000, .insertion_rate = 4, .removal_rate = 4};
  const Staleness at_once = summary_staleness(change, {.new_share = 0});
  EXPECT_EQ(at_once.unknown_keys, 0.0);
  EXPECT_EQ(at_once.stale_keys, 0.0);
  EXPECT_EQ(at_once.interval, 0.25);
  const Staleness one_percent =
      summary_staleness(change, {.new_share = 0.01, .header_bytes = 40, .bytes_per_change = 5, .delay = 0.5});
  EXPECT_EQ(one_percent.interval, 2.5);
  EXPECT_EQ(one_percent.unknown_keys, 4.5 + 2);
  EXPECT_EQ(one_percent.stale_keys, 4.5 + 2);
  EXPECT_EQ(one_percent.stale_miss_share, 0.0065);
  EXPECT_EQ(one_percent.bytes_rate, 40 / 2.5 + 8 * 5);
  const Staleness every_minute = summary_staleness(change, {.interval = 60});
  TALLY_EXPECT_RELATIVE(every_minute.unknown_keys, 120.0, 1e-12);
  TALLY_EXPECT_RELATIVE(every_minute.interval, 60.0, 1e-12);
  // 12 keys, each with its eviction, 5 bytes a change: 40 + 120 reaches 155, 40 + 110 does not.
  const Staleness by_bytes =
      summary_staleness(change, {.max_bytes = 155, .header_bytes = 40, .bytes_per_change = 5});
  EXPECT_EQ(by_bytes.interval, 3.0);
  EXPECT_EQ(summary_staleness(change, {.max_bytes = 10, .header_bytes = 40}).interval, 0.25);
  // Only removals: half an interval each.
  const Staleness expiry = summary_staleness({.num_keys = 1000, .removal_rate = 3, .evictions = false},
                                             {.new_share = 0.01, .interval = 10});
  EXPECT_EQ(expiry.unknown_keys, 0.0);
  EXPECT_EQ(expiry.stale_keys, 15.0);
  // Popular new keys.
  DirectoryChange popular = change;
  popular.new_key_popularity = 0.5;
  popular.removed_key_popularity = 2;
  const Staleness weighted = summary_staleness(popular, {.new_share = 0.011});
  EXPECT_EQ(weighted.stale_miss_share, 0.0025);
  EXPECT_EQ(weighted.stale_hit_share, 0.01);
  popular.removed_key_popularity = 1e6;
  EXPECT_EQ(summary_staleness(popular, {.new_share = 0.011}).stale_hit_share, 1.0);
  // Nothing changes, nothing is sent.
  const Staleness idle = summary_staleness({.num_keys = 10}, {.interval = 1, .header_bytes = 40});
  EXPECT_EQ(idle.bytes_rate, 0.0);
  EXPECT_EQ(idle.interval, never);
}

TEST(Staleness, LargeLimitsMeetWithoutAJump) {
  // A share that is reached after 10^6 keys, and a time in which far fewer, about as many, or far more come.
  const DirectoryChange change{.num_keys = 1e8, .insertion_rate = 1000};
  for (const double interval : {100.0, 900.0, 998.0, 1000.0, 1002.0, 1100.0, 1e5}) {
    const Staleness both = summary_staleness(change, {.new_share = 0.01, .interval = interval});
    EXPECT_LE(both.unknown_keys, std::min(500'000.0, 500 * interval) * (1 + 1e-9)) << interval;
    EXPECT_GE(both.unknown_keys, std::min(500'000.0, 500 * interval) * (1 - 1e-3)) << interval;
  }
}

TEST(Staleness, RefusesWhatCannotBe) {
  const DirectoryChange change{.num_keys = 1000, .insertion_rate = 4};
  const auto with = [&](auto field, double value) {
    DirectoryChange other = change;
    other.*field = value;
    return summary_staleness(other, {.interval = 1});
  };
  TALLY_EXPECT_REFUSED(with(&DirectoryChange::num_keys, 0), "num_keys");
  TALLY_EXPECT_REFUSED(with(&DirectoryChange::insertion_rate, -1), "insertion_rate");
  TALLY_EXPECT_REFUSED(with(&DirectoryChange::removal_rate, never), "removal_rate");
  TALLY_EXPECT_REFUSED(with(&DirectoryChange::new_key_popularity, std::nan("")), "new_key_popularity");
  TALLY_EXPECT_REFUSED(summary_staleness({.num_keys = 10, .removal_rate = 1}, {.interval = 1}),
                       "removal_rate");
  TALLY_EXPECT_REFUSED(summary_staleness(change, {}), "interval");
  TALLY_EXPECT_REFUSED(summary_staleness(change, {.interval = 0}), "interval");
  TALLY_EXPECT_REFUSED(summary_staleness({.num_keys = 10}, {.new_share = 0.1}), "interval");
  TALLY_EXPECT_REFUSED(summary_staleness(change, {.new_share = -1}), "new_share");
  TALLY_EXPECT_REFUSED(summary_staleness(change, {.max_bytes = std::nan("")}), "max_bytes");
  TALLY_EXPECT_REFUSED(summary_staleness(change, {.interval = 1, .delay = never}), "delay");
}

}  // namespace
}  // namespace tally::theory
