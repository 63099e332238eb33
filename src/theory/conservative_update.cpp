#include "tally/theory/conservative_update.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "theory/detail.hpp"

namespace tally::theory {
namespace {

constexpr std::size_t most_levels = 128;
constexpr std::uint64_t max_conservative_theta = 10'000;
constexpr std::uint32_t max_conservative_hashes = 64;
constexpr double negligible_share = 1e-15;

/// Keys of one count: how many there are for each counter of a row.
struct KeysOfCount {
  double count = 0;
  double keys_per_counter = 0;
};

/// The counts for which keys are followed, up to `most`: each to 16, then with a ratio of 9/8.
std::vector<double> followed_counts(double most) {
  std::vector<double> counts;
  for (double count = 1; count < most;
       count = std::max(count + 1, std::floor(count < 16 ? 0 : count * 1.125)))
    counts.push_back(count);
  counts.push_back(most);
  return counts;
}

/// Divides the keys of every count between the two followed counts around it, so that the numbers of keys and of
/// insertions stay. Keys above the largest followed count are there as often as that: what matters of them is that they
/// pass all levels.
std::vector<KeysOfCount> grouped(const CountHistogram& histogram, double unit, double most,
                                 double row_width) {
  const std::vector<double> followed = followed_counts(most);
  std::vector<KeysOfCount> result;
  for (const double count : followed) result.push_back({count, 0.0});
  const auto add = [&](double count, double keys) {
    const double units = std::min(count / unit, most);
    const double share = keys / row_width;
    if (units <= 1) {
      result.front().keys_per_counter += share * units;
      return;
    }
    const auto high = static_cast<std::size_t>(std::lower_bound(followed.begin(), followed.end(), units) -
                                               followed.begin());
    const double part = (units - followed[high - 1]) / (followed[high] - followed[high - 1]);
    result[high].keys_per_counter += share * part;
    result[high - 1].keys_per_counter += share * (1 - part);
  };
  for (std::size_t c = 1; c < histogram.keys_with_count.size(); ++c) {
    if (histogram.keys_with_count[c] > 0) add(static_cast<double>(c), histogram.keys_with_count[c]);
  }
  if (histogram.keys_beyond > 0) {
    const double least = static_cast<double>(histogram.keys_with_count.size());
    add(std::max(least, histogram.insertions_beyond / histogram.keys_beyond), histogram.keys_beyond);
  }
  std::erase_if(result, [](const KeysOfCount& keys) { return keys.keys_per_counter <= 0; });
  return result;
}

/// The counters' growth during the stream, whose time goes from 0 to 1.
///
/// A level is `unit` insertions. y[v] is the share of counters >= v. F is the floor of a key: the least of its counters
/// as other keys have left them; Pr(F >= v) = y[v]^k. U is what the key's own last insertion raised its counters to. A
/// query reports max(U, F); an insertion makes it U = max(U, F) + 1.
class ConservativeGrowth {
 public:
  ConservativeGrowth(const CountHistogram& histogram, std::uint32_t k, std::uint64_t m, std::uint64_t highest)
      : k_(k),
        unit_(std::ceil(static_cast<double>(highest) / static_cast<double>(most_levels))),
        levels_(static_cast<std::size_t>(std::ceil(static_cast<double>(highest) / unit_))),
        row_width_(static_cast<double>(m) / k) {
    const double most = 8 * static_cast<double>(levels_) + 16;
    for (const KeysOfCount& keys : grouped(histogram, unit_, most, row_width_))
      followed_.push_back({keys, std::vector<Weight>(num_states() * num_states())});
    double load = 0;
    for (Followed& own : followed_) {
      load += own.keys.count * own.keys.keys_per_counter;
      own.weights[0].share = 1;
    }
    num_steps_ = static_cast<std::size_t>(std::clamp(4 * load, 512.0, 4096.0));
    at_least_.assign(num_states() + 1, 0.0);
    at_least_[0] = 1;
    for (std::size_t step = 0; step < num_steps_; ++step) advance(step);
    correct_counts(histogram);
  }

  double unit() const { return unit_; }
  std::size_t levels() const { return levels_; }

  double counter_at_least(double value) const { return at(corrected_, value); }
  double absent_at_least(double theta) const { return std::pow(counter_at_least(theta), k_); }

  /// Pr(report >= theta), in levels, for a key that is inserted true_count times at independent uniform times. It is
  /// if at some time F is at least theta - the number of its insertions that are still to come.
  double reported(std::size_t theta, std::size_t true_count) const {
    if (theta <= true_count) return 1;
    if (theta > levels_) return 0;
    if (true_count == 0) return std::pow(corrected_[theta], k_);
    std::vector<double> shares((true_count + 1) * theta, 0.0);  // by insertions so far, and F
    shares[0] = 1;
    double reached = 0;
    for (std::size_t step = 0; step < num_steps_; ++step) {
      const StepRates& rates = history_[step];
      for (std::size_t so_far = 0; so_far <= true_count; ++so_far) {
        double* const own = &shares[so_far * theta];
        const std::size_t bound = theta - true_count + so_far;
        for (std::size_t f = std::min(rates.first + rates.rise.size(), bound); f-- > rates.first;) {
          const double moved = own[f] * rates.rise[f - rates.first];
          own[f] -= moved;
          (f + 1 >= bound ? reached : own[f + 1]) += moved;
        }
      }
      const double each = 1.0 / static_cast<double>(num_steps_ - step);
      for (std::size_t so_far = true_count; so_far-- > 0;) {
        const double inserted = 1 - std::pow(1 - each, static_cast<double>(true_count - so_far));
        for (std::size_t f = 0; f < theta - true_count + so_far; ++f) {
          const double moved = shares[so_far * theta + f] * inserted;
          shares[so_far * theta + f] -= moved;
          shares[(so_far + 1) * theta + f] += moved;
        }
      }
    }
    return std::min(1.0, reached);
  }

 private:
  /// The probability of a state (F, U), and in it the expected number of the key's insertions so far, times that.
  struct Weight {
    double share = 0;
    double inserted = 0;
  };

  /// Keys of one count. All states with U <= F are stored as U = F.
  struct Followed {
    KeysOfCount keys;
    std::vector<Weight> weights;  // [F][U]
    std::size_t highest_own = 0;
  };

  /// In one step F rises from first + i with the probability rise[i].
  struct StepRates {
    std::size_t first = 0;
    std::vector<double> rise;
  };

  std::size_t num_states() const { return levels_ + 1; }

  double at(const std::vector<double>& shares, double value) const {
    const double level = value / unit_;
    const auto low = static_cast<std::size_t>(level);
    if (low >= levels_) return shares[levels_];
    const double part = level - static_cast<double>(low);
    return part == 0 ? shares[low] : std::pow(shares[low], 1 - part) * std::pow(shares[low + 1], part);
  }

  /// The own insertions of one step; adds to raised_[F][U] how many insertions per counter found each state.
  void insert(Followed& own, std::size_t step) {
    const std::size_t n = num_states();
    const double count = own.keys.count;
    const double each = 1.0 / static_cast<double>(num_steps_ - step);
    for (std::size_t f = first_; f <= last_ && f < levels_; ++f) {
      Weight* const row = &own.weights[f * n];
      double* const raised = &raised_[f * n];
      Weight in;
      const auto top = static_cast<std::size_t>(
          std::min(static_cast<double>(levels_), count + static_cast<double>(f) + 1));
      for (std::size_t u = f; u <= top; ++u) {
        Weight& here = row[u];
        here.share += in.share;
        here.inserted += in.inserted;
        in = {};
        if (u == top || here.share <= negligible_share) {
          if (u > own.highest_own) break;
          continue;
        }
        // Implicit in time: what arrives in this step may go on in it.
        const double expected = std::max(0.0, count - here.inserted / here.share) * each;
        const double part = expected / (1 + expected);
        in.share = here.share * part;
        // Below the floor the number of insertions is about binomial; above it, U tells it.
        in.inserted = here.inserted * part * (u == f ? (count - 1) / count : 1.0);
        here.share -= in.share;
        here.inserted -= in.inserted;
        in.inserted += in.share;
        raised[u] += own.keys.keys_per_counter * in.share;
        own.highest_own = std::max(own.highest_own, u + 1);
      }
    }
  }

  /// How many insertions in this step raise a counter from v to v + 1 that is at v because the same key left it there,
  /// and other keys left it no higher.
  double num_raising_own(std::size_t v) const {
    const std::size_t n = num_states();
    double sum = 0;
    for (std::size_t f = first_; f < v && f <= last_; ++f) {
      const double found = raised_[f * n + v];
      if (found <= 0 || point_[f] <= 0) continue;
      const double not_above = (at_least_[f] - at_least_[v + 1]) * others_[f] -
                               std::max(0.0, at_least_[f + 1] - at_least_[v + 1]) * others_[f + 1];
      sum += found * std::clamp(not_above / point_[f], 0.0, 1.0);
    }
    return sum;
  }

  /// The same if the floor is v, and the counter is one of those at v.
  double num_raising_floor(std::size_t v) const {
    if (v < first_ || v > last_ || point_[v] <= 0) return 0;
    return raised_[v * num_states() + v] * (at_least_[v] - at_least_[v + 1]) * others_[v] / point_[v];
  }

  void advance(std::size_t step) {
    const std::size_t n = num_states();
    others_.resize(n + 1);
    floor_.resize(n + 1);
    point_.resize(n);
    for (std::size_t v = 0; v <= n; ++v) {
      others_[v] = std::pow(at_least_[v], k_ - 1.0);
      floor_[v] = others_[v] * at_least_[v];
    }
    for (std::size_t v = 0; v < n; ++v) point_[v] = floor_[v] - floor_[v + 1];
    while (first_ < last_ && point_[first_] < 1e-12 && floor_[first_ + 1] > 0.5) ++first_;

    raised_.assign(n * n, 0.0);
    for (Followed& own : followed_) insert(own, step);

    std::vector<double> next = at_least_;
    for (std::size_t v = 0; v < levels_; ++v) {
      // A frequent key passes several levels in one step.
      const double have = next[v] - at_least_[v + 1];
      const double own = std::min(have, num_raising_own(v));
      const double rest = have - own;
      if (rest > 0) next[v + 1] -= rest * std::expm1(-num_raising_floor(v) / rest);
      next[v + 1] = std::min(next[v], next[v + 1] + own);
    }

    StepRates rates{first_, {}};
    for (std::size_t f = first_; f <= last_ && f < levels_; ++f) {
      const double up = std::pow(next[f + 1], k_) - floor_[f + 1];
      rates.rise.push_back(point_[f] > 0 ? std::clamp(up / point_[f], 0.0, 1.0) : 0.0);
    }
    for (Followed& own : followed_) {
      for (std::size_t f = first_ + rates.rise.size(); f-- > first_;) {
        const double rise = rates.rise[f - first_];
        if (rise <= 0) continue;
        Weight* const row = &own.weights[f * n];
        for (std::size_t u = f; u <= std::min(levels_, std::max(own.highest_own, f)); ++u) {
          const Weight moved{row[u].share * rise, row[u].inserted * rise};
          row[u].share -= moved.share;
          row[u].inserted -= moved.inserted;
          Weight& to = row[n + std::max(u, f + 1)];
          to.share += moved.share;
          to.inserted += moved.inserted;
        }
      }
    }
    if (last_ < levels_ && std::pow(next[last_ + 1], k_) > negligible_share) ++last_;
    history_.push_back(std::move(rates));
    at_least_ = std::move(next);
  }

  /// At the end a key's counters are at least at its count, which the grouped counts have as steps. Level 1 may stand for
  /// several keys of lower counts, and is left as it is.
  void correct_counts(const CountHistogram& histogram) {
    corrected_ = at_least_;
    for (std::size_t v = 2; v <= levels_; ++v) {
      double true_keys = histogram.keys_beyond / row_width_;
      const double count = static_cast<double>(v) * unit_;
      for (auto c = static_cast<std::size_t>(std::ceil(count)); c < histogram.keys_with_count.size(); ++c)
        true_keys += histogram.keys_with_count[c] / row_width_;
      double grouped_keys = 0;
      for (const Followed& own : followed_) {
        if (own.keys.count >= static_cast<double>(v)) grouped_keys += own.keys.keys_per_counter;
      }
      // Where many keys share a counter, their counts are not what keeps it up.
      const double more = std::clamp(grouped_keys - true_keys, -0.5, 0.5);
      const double below = (1 - at_least_[v]) * std::exp(more);
      corrected_[v] = std::min(corrected_[v - 1], std::max(0.0, 1 - below));
    }
  }

  std::uint32_t k_;
  double unit_;
  std::size_t levels_;
  double row_width_;
  std::size_t num_steps_ = 0;
  std::vector<Followed> followed_;
  std::vector<double> at_least_;
  std::vector<double> corrected_;
  std::size_t first_ = 0;  // F is in first_ .. last_
  std::size_t last_ = 0;
  std::vector<double> others_;  // Pr(the k - 1 other counters >= v)
  std::vector<double> floor_;   // Pr(F >= v)
  std::vector<double> point_;   // Pr(F = v)
  std::vector<double> raised_;
  std::vector<StepRates> history_;
};

void check_conservative(const char* function, const CountHistogram& histogram, std::uint64_t theta,
                        std::uint32_t k, std::uint64_t m) {
  detail::require(theta >= 1 && theta <= max_conservative_theta, function, "theta", theta, "1 to 10000");
  detail::require(histogram.keys_beyond == 0 || theta <= histogram.keys_with_count.size(), function, "theta",
                  theta, "at most the size of the histogram");
  detail::require(k >= 1 && k <= max_conservative_hashes, function, "k", k, "1 to 64");
  detail::require(m >= k, function, "m", m, "at least k");
  // Also checks the numbers of keys.
  (void)ln_counter_upper_tail(histogram, k, m, 1);
}

}  // namespace

double ln_conservative_threshold_false_positive_probability(const CountHistogram& histogram,
                                                            std::uint64_t theta, std::uint32_t k,
                                                            std::uint64_t m, std::uint64_t true_count) {
  constexpr const char* function = "conservative_threshold_false_positive_probability";
  check_conservative(function, histogram, theta, k, m);
  detail::require(true_count < theta, function, "true_count", true_count, "below theta");
  const double plain = ln_compound_threshold_false_positive_probability(histogram, theta, k, m, true_count);
  const ConservativeGrowth growth(histogram, k, m, theta);
  const double scaled = static_cast<double>(true_count) / growth.unit();
  const auto low = static_cast<std::size_t>(scaled);
  const double part = scaled - static_cast<double>(low);
  double reported = growth.reported(growth.levels(), low);
  if (part > 0) reported += part * (growth.reported(growth.levels(), low + 1) - reported);
  return std::min({0.0, plain, std::log(reported)});
}

double conservative_threshold_false_positive_probability(const CountHistogram& histogram, std::uint64_t theta,
                                                         std::uint32_t k, std::uint64_t m,
                                                         std::uint64_t true_count) {
  return std::exp(ln_conservative_threshold_false_positive_probability(histogram, theta, k, m, true_count));
}

std::vector<double> conservative_threshold_false_positive_probabilities(const CountHistogram& histogram,
                                                                        std::uint64_t theta, std::uint32_t k,
                                                                        std::uint64_t m) {
  constexpr const char* function = "conservative_threshold_false_positive_probabilities";
  check_conservative(function, histogram, theta, k, m);
  detail::require(theta <= most_levels, function, "theta", theta, "1 to 128");
  const ConservativeGrowth growth(histogram, k, m, theta);
  std::vector<double> rates;
  for (std::uint64_t t = 0; t < theta; ++t) {
    const double plain = compound_threshold_false_positive_probability(histogram, theta, k, m, t);
    rates.push_back(std::min(plain, growth.reported(theta, t)));
  }
  return rates;
}

double conservative_counter_upper_tail(const CountHistogram& histogram, std::uint32_t k, std::uint64_t m,
                                       std::uint64_t theta) {
  check_conservative("conservative_counter_upper_tail", histogram, theta, k, m);
  return ConservativeGrowth(histogram, k, m, theta).counter_at_least(static_cast<double>(theta));
}

double conservative_mean_excess(const CountHistogram& histogram, std::uint32_t k, std::uint64_t m,
                                std::uint64_t true_count) {
  constexpr const char* function = "conservative_mean_excess";
  check_conservative(function, histogram, 1, k, m);
  detail::require(true_count <= max_conservative_theta, function, "true_count", true_count, "0 to 10000");
  const std::uint64_t most =
      histogram.keys_beyond > 0
          ? std::min<std::uint64_t>(max_conservative_theta, histogram.keys_with_count.size())
          : max_conservative_theta;
  for (std::uint64_t highest = 16;; highest *= 2) {
    highest = std::min(highest, most);
    const ConservativeGrowth growth(histogram, k, m, highest);
    double mean = 0;
    for (std::size_t v = 1; v <= growth.levels(); ++v) mean += growth.reported(v, 0);
    // What is left beyond: at most about as long a tail again.
    const double beyond = growth.reported(growth.levels(), 0) * static_cast<double>(growth.levels());
    if (beyond > 0.01 * mean) {
      detail::require(
          highest < most, function, "histogram", static_cast<double>(most),
          "one with a larger limit, or of fewer insertions: absent keys are reported above its limit");
      continue;
    }
    const double scaled = static_cast<double>(true_count) / growth.unit();
    const auto low = static_cast<std::size_t>(scaled);
    const auto excess = [&](std::size_t own) {
      double sum = 0;
      for (std::size_t theta = own + 1; theta <= growth.levels(); ++theta) {
        const double reported = growth.reported(theta, own);
        sum += reported;
        if (reported < 1e-4 * sum) break;
      }
      return sum;
    };
    const double at_low = low == 0 ? mean : excess(low);
    const double part = scaled - static_cast<double>(low);
    return growth.unit() * (part == 0 ? at_low : at_low + part * (excess(low + 1) - at_low));
  }
}

}  // namespace tally::theory
