#include "planner/count_laws.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "tally/planner/scheme_law.hpp"
#include "tally/theory/coinciding_positions.hpp"
#include "tally/theory/insertion_histogram.hpp"
#include "tally/theory/threshold.hpp"

namespace tally::planner_detail {
namespace {

/// The mean over a key's positions of the product of w_j over those that j of them share.
double ln_mean_over(PositionLaw positions, std::uint64_t m, std::uint32_t k, std::span<const double> w) {
  const double ln_all = k * std::log(w[0]);
  switch (positions) {
    case PositionLaw::independent:
      return theory::ln_mean_over_coinciding_positions(m, k, w);
    case PositionLaw::plain_double:
    case PositionLaw::quadratic_double:
    case PositionLaw::cubic_double:
    case PositionLaw::triple: {
      const double gain =
          theory::double_hashing_gain_by_coinciding_positions(*double_hashing_of(positions), m, k, w);
      return std::log(std::exp(ln_all) + std::max(0.0, gain));
    }
    case PositionLaw::parts:
    case PositionLaw::partition_double:
    case PositionLaw::lines:
    case PositionLaw::words:
      break;
  }
  return ln_all;
}

/// How many keys have a count.
struct KeysOfCount {
  std::uint64_t count = 0;
  double num_keys = 0;
};

/// The factor by which keys that share several positions with a key raise its rate under double hashing; w is reach(gap).
template <class Reach>
double shared_factor(theory::DoubleHashing scheme, std::uint64_t m, std::uint32_t k, std::uint64_t gap,
                     double w, Reach reach, std::span<const KeysOfCount> keys) {
  constexpr double margin = 24;  // for what the first order leaves out
  std::vector<double> numbers;
  std::vector<double> ratios;
  if (scheme != theory::DoubleHashing::triple) {  // which shares none
    for (const KeysOfCount& own : keys) {
      numbers.push_back(own.num_keys);
      ratios.push_back(own.count >= gap ? 1 / w : std::max(1.0, reach(gap - own.count) / w));
    }
  }
  const double gain = theory::double_hashing_gain_by_shared_positions(scheme, m, k, numbers, ratios);
  return (1 + gain) * (1 + margin / static_cast<double>(m));
}

/// reach(g): Pr(a counter is at least g from other keys), g at least 1. `keys` are the other keys; only double hashing asks for
/// their counts.
template <class Reach>
double ln_reached(PositionLaw positions, std::uint64_t m, std::uint32_t k, std::uint64_t gap,
                  std::uint64_t true_count, Reach reach, std::span<const KeysOfCount> keys) {
  std::vector<double> w{reach(gap)};
  if (w[0] == 0.0) return k * -745.0;  // below the smallest double
  while (true_count != 0 && w.back() < 1 && w.size() < k) {
    const std::uint64_t own = true_count * w.size();
    w.push_back(own >= gap ? 1.0 : reach(gap - own));
  }
  const double ln_singly = ln_mean_over(positions, m, k, w);
  const auto scheme = double_hashing_of(positions);
  if (!scheme || k < 2) return ln_singly;
  return std::min(0.0, ln_singly + std::log(shared_factor(*scheme, m, k, gap, w[0], reach, keys)));
}

/// The keys of a histogram, those with `gap` or more as one group. Counts from 256 on are left out: such thresholds are not
/// those of small filters, in which shared positions matter.
std::vector<KeysOfCount> keys_by_count(const theory::CountHistogram& histogram, std::uint64_t gap) {
  constexpr std::uint64_t most_counts = 256;
  const std::uint64_t end = std::min<std::uint64_t>(gap, histogram.keys_with_count.size());
  std::vector<KeysOfCount> keys;
  double num_below = 0;
  for (std::uint64_t count = 1; count < end; ++count) {
    const double num_keys = histogram.keys_with_count[count];
    num_below += num_keys;
    if (num_keys != 0 && count < most_counts) keys.push_back({count, num_keys});
  }
  keys.push_back({gap, std::max(0.0, histogram.num_distinct() - num_below)});
  return keys;
}

}  // namespace

std::uint64_t told_gap(const theory::CountHistogram& histogram, std::uint64_t gap) {
  if (histogram.keys_beyond > 0) gap = std::min<std::uint64_t>(gap, histogram.keys_with_count.size());
  return std::min(gap, max_histogram_count);
}

Law law_of_inserted_keys(const Law& scheme) {
  const auto inserted = [positions = scheme.positions](auto of_absent) {
    return [=](std::uint64_t m, std::uint32_t k, std::uint64_t n) {
      const double ln_rate = of_absent(m, k, n);
      if (n == 0) return ln_rate;
      const double covered =
          -std::expm1(k * static_cast<double>(n) * std::log1p(-1 / static_cast<double>(m)));
      const double w[] = {covered, 1.0};
      if (covered == 0.0) return ln_rate;
      return std::min(0.0, ln_rate + ln_mean_over(positions, m, k, w) -
                               ln_mean_over(positions, m, k, std::span(w).first(1)));
    };
  };
  Law law = scheme;
  law.ln_rate = inserted(scheme.ln_rate);
  if (scheme.ln_promised) law.ln_promised = inserted(scheme.ln_promised);
  return law;
}

Law histogram_law(const Law& scheme, std::uint64_t gap, std::uint64_t true_count,
                  const theory::CountHistogram& histogram) {
  Law law = scheme;
  law.ln_rate = [=, positions = scheme.positions, keys = keys_by_count(histogram, gap)](
                    std::uint64_t m, std::uint32_t k, std::uint64_t) {
    const auto reach = [&](std::uint64_t g) {
      return std::exp(theory::ln_counter_upper_tail(histogram, k, m, told_gap(histogram, g)));
    };
    return ln_reached(positions, m, k, gap, true_count, reach, keys);
  };
  law.ln_promised = {};
  law.patience = slow_law_patience;
  return law;
}

Law insertions_law(const Law& scheme, std::uint64_t gap, std::uint64_t true_count, std::uint64_t num_keys,
                   std::uint64_t num_insertions) {
  if (num_insertions > num_keys) {
    const std::uint64_t told = std::min(gap, max_histogram_count);
    return histogram_law(scheme, gap, true_count,
                         theory::insertion_count_histogram(num_keys, num_insertions, told));
  }
  Law law = scheme;
  law.ln_rate = [=, positions = scheme.positions](std::uint64_t m, std::uint32_t k, std::uint64_t n) {
    const auto reach = [&](std::uint64_t g) {
      return std::exp(theory::ln_threshold_false_positive_probability(g, k, n, m) / k);
    };
    const KeysOfCount all{1, static_cast<double>(n)};
    return ln_reached(positions, m, k, gap, true_count, reach, std::span(&all, 1));
  };
  law.ln_promised = {};
  law.patience = slow_law_patience;
  return law;
}

}  // namespace tally::planner_detail
