#include "tally/theory/blocked_counters.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "tally/theory/tails.hpp"
#include "theory/detail.hpp"
#include "theory/line_mixture.hpp"

namespace tally::theory {
namespace {

using detail::Extended;
using detail::infinity;
using detail::product;

constexpr double most_states = 0x1p16;
constexpr std::uint32_t most_hashes_of_chain = 24;
constexpr Extended negligible_probability = 1e-30L;

void check_counts_below(const char* function, std::uint64_t theta, std::uint64_t true_count) {
  detail::require(theta >= 1 && theta <= detail::max_theta, function, "theta", theta, "1 to 2^40");
  detail::require(true_count < theta, function, "true_count", true_count, "below theta");
}

/// How many of a key's counters lack 1, 2, ... more to reach theta; counters that lack nothing are left out.
using LackState = std::vector<std::uint16_t>;

/// The chain of blocked_threshold_false_positive_probability.
class LackingCounters {
 public:
  LackingCounters(std::uint64_t theta, std::uint32_t B, std::uint32_t k, std::uint64_t true_count)
      : B_(B), k_(k) {
    const std::uint64_t gap = theta - true_count;
    // The multiplicities of the key's own positions: [r]: how many counters have r + 1 of them.
    std::map<LackState, double> drawn{{LackState(k, 0), 1.0}};
    for (std::uint32_t i = 0; i < k; ++i) {
      std::map<LackState, double> next;
      for (const auto& [counters, probability] : drawn) {
        double num_distinct = 0;
        for (std::uint32_t r = 0; r + 1 < k; ++r) {
          num_distinct += counters[r];
          if (counters[r] == 0) continue;
          LackState more = counters;
          --more[r];
          ++more[r + 1];
          next[more] += probability * counters[r] / B;
        }
        if (num_distinct >= B) continue;
        LackState more = counters;
        ++more[0];
        next[more] += probability * (B - num_distinct) / B;
      }
      drawn = std::move(next);
    }
    for (const auto& [counters, probability] : drawn) {
      LackState lacking(gap, 0);
      for (std::uint32_t r = 0; r < k; ++r) {
        const std::uint64_t own = (r + 1) * true_count;
        if (own < theta)
          lacking[theta - own - 1] = static_cast<std::uint16_t>(lacking[theta - own - 1] + counters[r]);
      }
      const std::size_t index = index_of(lacking);
      now_.resize(states_.size());
      now_[index] += probability;
    }
  }

  /// Inserts those of the keys that are in the line, `count` times each.
  void insert(const RepeatedKeys& keys, std::uint64_t num_blocks) {
    if (keys.count == 0 || keys.num_keys == 0) return;
    find_steps(keys.count);
    std::vector<double> sum(states_.size(), 0.0);
    std::vector<double> line = now_;
    line.resize(states_.size());
    const auto add = [&](std::uint64_t num_in_line, Extended probability) {
      for (std::uint32_t i = 0; num_in_line != 0 && i < k_; ++i) line = after_one_step(line);
      for (std::size_t s = 0; s < sum.size(); ++s) sum[s] += static_cast<double>(probability) * line[s];
      return negligible_probability;
    };
    detail::for_each_number_in_line(0, keys.num_keys, num_blocks, add);
    now_ = std::move(sum);
  }

  double probability_of_no_lack() const {
    const auto found = indices_.find(LackState(states_.front().size(), 0));
    return found == indices_.end() || found->second >= now_.size() ? 0.0 : now_[found->second];
  }

 private:
  struct Step {
    std::size_t from;
    std::size_t to;
    double probability;
  };

  std::size_t index_of(const LackState& state) {
    const auto [at, is_new] = indices_.emplace(state, states_.size());
    if (is_new) states_.push_back(state);
    return at->second;
  }

  /// The steps that one position of a key of this count makes from every state, and new states to which they lead.
  void find_steps(std::uint64_t count) {
    steps_.clear();
    for (std::size_t from = 0; from < states_.size(); ++from) {
      double staying = 1.0;
      for (std::uint64_t lack = 1; lack <= states_[from].size(); ++lack) {
        const double probability = states_[from][lack - 1] / static_cast<double>(B_);
        if (probability == 0.0) continue;
        staying -= probability;
        LackState after = states_[from];
        --after[lack - 1];
        if (lack > count) ++after[lack - count - 1];
        steps_.push_back({from, index_of(after), probability});
      }
      steps_.push_back({from, from, staying});
    }
  }

  std::vector<double> after_one_step(const std::vector<double>& before) const {
    std::vector<double> after(before.size(), 0.0);
    for (const Step& step : steps_) after[step.to] += before[step.from] * step.probability;
    return after;
  }

  std::uint32_t B_;
  std::uint32_t k_;
  std::map<LackState, std::size_t> indices_;
  std::vector<LackState> states_;
  std::vector<Step> steps_;
  std::vector<double> now_;  ///< the probability of each state
};

}  // namespace

double ln_blocked_counter_overflow_union_bound(std::uint64_t num_blocks, std::uint32_t B, std::uint32_t k,
                                               std::uint64_t n, std::uint64_t i) {
  constexpr const char* function = "blocked_counter_overflow_union_bound";
  detail::require_lines(function, num_blocks, B, k);
  detail::require(i >= 1 && i <= detail::max_theta, function, "i", i, "1 to 2^40");
  const double ln_num_counters = std::log(static_cast<double>(num_blocks)) + std::log(B);
  const double p = 1.0 / B;
  // Most keys are in the other lines; where a line has many, the bound is 1 long before the sum ends.
  Extended sum = 0.0;
  if (product(k, n) / static_cast<double>(num_blocks) / B >= static_cast<double>(i)) return 0.0;
  const std::uint64_t least_keys = (i - 1) / k + 1;
  detail::for_each_number_in_line(least_keys, n, num_blocks, [&](std::uint64_t j, Extended probability) {
    sum += probability * std::exp(static_cast<Extended>(ln_binomial_upper_tail(i, product(k, j), p)));
    return Extended(1e-14L) * sum;
  });
  return sum == 0.0 ? -infinity : std::min(0.0, ln_num_counters + static_cast<double>(std::log(sum)));
}

double blocked_counter_overflow_union_bound(std::uint64_t num_blocks, std::uint32_t B, std::uint32_t k,
                                            std::uint64_t n, std::uint64_t i) {
  return std::exp(ln_blocked_counter_overflow_union_bound(num_blocks, B, k, n, i));
}

CountHistogram blocked_counter_jumps(const CountHistogram& histogram, std::uint32_t B, std::uint32_t k) {
  detail::require_lines("blocked_counter_jumps", 1, B, k);
  CountHistogram jumps;
  const std::uint64_t size = histogram.keys_with_count.size();
  jumps.keys_with_count.assign(size, 0.0);
  for (std::uint32_t b = 1; b <= k; ++b) {
    const double share = std::exp(ln_binomial_point(b, k, 1.0 / B));
    for (std::uint64_t c = 1; c < size; ++c) {
      const double num_keys = histogram.keys_with_count[c] * share;
      if (c * b < size) {
        jumps.keys_with_count[c * b] += num_keys;
      } else {
        jumps.keys_beyond += num_keys;
        jumps.insertions_beyond += num_keys * static_cast<double>(c * b);
      }
    }
    jumps.keys_beyond += histogram.keys_beyond * share;
    jumps.insertions_beyond += histogram.insertions_beyond * share * b;
  }
  return jumps;
}

double blocked_threshold_num_states(std::uint64_t theta, std::uint32_t k, std::uint64_t true_count) {
  constexpr const char* function = "blocked_threshold_num_states";
  check_counts_below(function, theta, true_count);
  detail::require_num_hashes(function, k);
  if (k > most_hashes_of_chain) return infinity;
  double states = 1.0;
  for (std::uint32_t i = 1; i <= k; ++i) states *= (static_cast<double>(theta - true_count) + i) / i;
  return states;
}

double ln_blocked_threshold_false_positive_probability(std::uint64_t theta, std::uint64_t num_blocks,
                                                       std::uint32_t B, std::uint32_t k,
                                                       std::span<const RepeatedKeys> groups,
                                                       std::uint64_t true_count) {
  constexpr const char* function = "blocked_threshold_false_positive_probability";
  detail::require_lines(function, num_blocks, B, k);
  check_counts_below(function, theta, true_count);
  const double num_states = blocked_threshold_num_states(theta, k, true_count);
  detail::require(num_states <= most_states, function, "number of states", num_states,
                  "at most 65536; give a smaller theta or k");
  LackingCounters counters(theta, B, k, true_count);
  // The order does not matter; the largest group is last, because later groups know more states.
  std::vector<RepeatedKeys> by_number(groups.begin(), groups.end());
  std::ranges::sort(by_number, {}, &RepeatedKeys::num_keys);
  for (const RepeatedKeys& keys : by_number) counters.insert(keys, num_blocks);
  return std::min(0.0, std::log(counters.probability_of_no_lack()));
}

double blocked_threshold_false_positive_probability(std::uint64_t theta, std::uint64_t num_blocks,
                                                    std::uint32_t B, std::uint32_t k,
                                                    std::span<const RepeatedKeys> groups,
                                                    std::uint64_t true_count) {
  return std::exp(
      ln_blocked_threshold_false_positive_probability(theta, num_blocks, B, k, groups, true_count));
}

double ln_blocked_threshold_false_positive_probability_approximate(std::uint64_t theta,
                                                                   std::uint64_t num_blocks, std::uint32_t B,
                                                                   std::uint32_t k,
                                                                   std::span<const RepeatedKeys> groups,
                                                                   std::uint64_t true_count) {
  constexpr const char* function = "blocked_threshold_false_positive_probability_approximate";
  detail::require_lines(function, num_blocks, B, k);
  check_counts_below(function, theta, true_count);
  const std::uint64_t gap = theta - true_count;
  const double p = 1.0 / static_cast<double>(num_blocks) / B;
  std::uint64_t num_single_keys = 0;
  // What keys of higher counts add to a counter, below the gap, and how likely that is.
  std::map<std::uint64_t, Extended> added{{0, 1.0}};
  Extended reached = 0.0;
  for (const auto& [count, num_keys] : groups) {
    if (count == 0 || num_keys == 0) continue;
    if (count == 1) {
      num_single_keys += num_keys;
      continue;
    }
    const double trials = product(k, num_keys);
    std::map<std::uint64_t, Extended> next;
    for (const auto& [sum, probability] : added) {
      const std::uint64_t needed = (gap - sum - 1) / count + 1;
      reached += probability * std::exp(static_cast<Extended>(ln_binomial_upper_tail(needed, trials, p)));
      for (std::uint64_t j = 0; j < needed; ++j) {
        const Extended point = std::exp(static_cast<Extended>(ln_binomial_point(j, trials, p)));
        if (point < Extended(1e-25L) && static_cast<double>(j) > trials * p) break;
        next[sum + j * count] += probability * point;
      }
    }
    added = std::move(next);
  }
  Extended sum = 0.0;
  detail::for_each_number_in_line(0, num_single_keys, num_blocks, [&](std::uint64_t j, Extended probability) {
    Extended passes = reached;
    for (const auto& [value, share] : added) {
      passes += share *
                std::exp(static_cast<Extended>(ln_binomial_upper_tail(gap - value, product(k, j), 1.0 / B)));
    }
    sum += probability * std::pow(std::min(passes, Extended(1.0)), static_cast<Extended>(k));
    return negligible_probability;
  });
  return sum == 0.0 ? -infinity : std::min(0.0, static_cast<double>(std::log(sum)));
}

}  // namespace tally::theory
