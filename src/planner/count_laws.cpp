#include "planner/count_laws.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "tally/planner/scheme_law.hpp"
#include "tally/theory/coinciding_positions.hpp"
#include "tally/theory/insertion_histogram.hpp"
#include "tally/theory/tails.hpp"
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

/// Up to this number of keys, how often they come varies enough from one filter to the next to raise the mean of the rate.
constexpr std::uint64_t most_keys_of_varying_counts = 4096;

/// Up to this number of keys the laws of counters are corrected as few_keys_law says.
constexpr double few_keys = 128;

/// The factor for the rates of a compound Poisson law that makes Pr(no key) exact. As a Poisson number with that Pr(0) is at least
/// as large as the number of positions that a key has here, the law is then an upper bound for one counter.
double binomial_factor(PositionLaw positions, std::uint64_t m, std::uint32_t k) {
  const bool is_in_parts = positions == PositionLaw::parts || positions == PositionLaw::partition_double;
  const double per_key = (is_in_parts ? k : 1) / static_cast<double>(m);
  constexpr double certain = 1e3;
  return per_key >= 1 ? certain : std::min(certain, -std::log1p(-per_key) / per_key);
}

theory::CountHistogram scaled(theory::CountHistogram histogram, double factor) {
  for (double& num_keys : histogram.keys_with_count) num_keys *= factor;
  histogram.keys_beyond *= factor;
  histogram.insertions_beyond *= factor;
  return histogram;
}

/// For few keys. How many counters a set of keys reaches varies, and so the mean of a power is above the power of the mean: the
/// scheme's own law says by how much, for the keys that reach the gap alone.
Law few_keys_law(const Law& scheme, std::uint64_t gap, std::uint64_t true_count,
                 const theory::CountHistogram& histogram) {
  Law law = scheme;
  law.ln_rate = [=, absent = scheme, keys = keys_by_count(histogram, gap)](std::uint64_t m, std::uint32_t k,
                                                                           std::uint64_t) {
    const double factor = binomial_factor(absent.positions, m, k);
    const theory::CountHistogram bounding = scaled(histogram, factor);
    const auto reach = [&](std::uint64_t g) {
      return std::exp(theory::ln_counter_upper_tail(bounding, k, m, told_gap(histogram, g)));
    };
    const double ln_rate = ln_reached(absent.positions, m, k, gap, true_count, reach, keys);
    const auto num_alone = static_cast<std::uint64_t>(std::ceil(keys.back().num_keys - 1e-9));
    if (num_alone == 0) return ln_rate;
    const KeysOfCount alone{gap, static_cast<double>(num_alone)};
    const auto reach_alone = [&](std::uint64_t) {
      return -std::expm1(-factor * k * alone.num_keys / static_cast<double>(m));
    };
    const double ln_alone = ln_reached(absent.positions, m, k, gap, 0, reach_alone, std::span(&alone, 1));
    return std::min(0.0, ln_rate + std::max(0.0, absent.ln_promised_rate(m, k, num_alone) - ln_alone));
  };
  law.ln_promised = {};
  law.patience = slow_law_patience;
  return law;
}

/// A number of keys that reach the gap alone, and its probability.
struct NumAlone {
  double num_keys = 0;
  double probability = 0;
};

/// How many of the keys reach the gap alone, each with the same probability. As the sum of all counts is given, the number varies
/// less than a binomial one: from 32 keys on, a normal one by five points (Gauss and Hermite).
std::vector<NumAlone> numbers_alone(const theory::CountHistogram& histogram, double num_keys) {
  constexpr double most_listed = 32;
  const double q = std::clamp(histogram.keys_beyond / num_keys, 0.0, 1.0);
  std::vector<NumAlone> numbers;
  if (num_keys <= most_listed) {
    for (std::uint64_t j = 0; j <= static_cast<std::uint64_t>(num_keys); ++j)
      numbers.push_back({static_cast<double>(j), std::exp(theory::ln_binomial_point(j, num_keys, q))});
    return numbers;
  }
  const double mean = histogram.num_insertions() / num_keys;
  const double mean_alone =
      histogram.keys_beyond > 0 ? histogram.insertions_beyond / histogram.keys_beyond : 0;
  const double covariance = q * (mean_alone - mean);
  // The variance of a count is at most its mean.
  const double deviation = std::sqrt(num_keys * std::max(0.0, q * (1 - q) - covariance * covariance / mean));
  for (const auto& [at, weight] : {std::pair{0.0, 8.0 / 15},
                                   {1.355626179974266, 0.2220759220056126},
                                   {-1.355626179974266, 0.2220759220056126},
                                   {2.856970013872806, 0.011257411327720689},
                                   {-2.856970013872806, 0.011257411327720689}})
    numbers.push_back({std::clamp(num_keys * q + at * deviation, 0.0, num_keys), weight});
  return numbers;
}

/// When each insertion is of a key drawn at random: the mean over how many keys reach the gap alone. `histogram` ends at the gap.
Law mean_over_numbers_alone(const Law& scheme, std::uint64_t gap, std::uint64_t true_count,
                            const theory::CountHistogram& histogram, double num_keys) {
  constexpr double negligible = 1e-9;
  const double num_light = num_keys - histogram.keys_beyond;
  std::vector<std::pair<double, Law>> parts;
  for (const NumAlone& own : numbers_alone(histogram, num_keys)) {
    if (own.probability < negligible) continue;
    theory::CountHistogram given = histogram;
    const double light = num_light > 0 ? (num_keys - own.num_keys) / num_light : 0;
    for (double& number : given.keys_with_count) number *= light;
    given.insertions_beyond *= histogram.keys_beyond > 0 ? own.num_keys / histogram.keys_beyond : 0;
    given.keys_beyond = own.num_keys;
    parts.emplace_back(own.probability, histogram_law(scheme, gap, true_count, given));
  }
  Law law = parts.front().second;
  law.ln_rate = [parts](std::uint64_t m, std::uint32_t k, std::uint64_t n) {
    double rate = 0;
    for (const auto& [probability, own] : parts) rate += probability * std::exp(own.ln_rate(m, k, n));
    return std::max(std::log(std::min(1.0, rate)), k * -745.0);
  };
  return law;
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
      const double ln_mean = ln_mean_over(positions, m, k, w);
      const double ln_singly = ln_mean_over(positions, m, k, std::span(w).first(1));
      // With few keys the rate of an absent key may be well below what its positions, taken one by one, say. What a position of
      // its own adds is then no factor of it.
      const double by_factor = ln_rate + ln_mean - ln_singly;
      const double by_difference = std::log(std::exp(ln_rate) + std::exp(ln_mean) - std::exp(ln_singly));
      return std::min(0.0, std::isnan(by_difference) ? by_factor : std::max(by_factor, by_difference));
    };
  };
  Law law = scheme;
  law.ln_rate = inserted(scheme.ln_rate);
  if (scheme.ln_promised) law.ln_promised = inserted(scheme.ln_promised);
  return law;
}

Law histogram_law(const Law& scheme, std::uint64_t gap, std::uint64_t true_count,
                  const theory::CountHistogram& histogram) {
  if (histogram.num_distinct() <= few_keys) return few_keys_law(scheme, gap, true_count, histogram);
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
    const theory::CountHistogram expected = theory::insertion_count_histogram(num_keys, num_insertions, told);
    if (num_keys > most_keys_of_varying_counts) return histogram_law(scheme, gap, true_count, expected);
    return mean_over_numbers_alone(scheme, gap, true_count, expected, static_cast<double>(num_keys));
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
