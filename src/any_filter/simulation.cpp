#include "tally/any_filter/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <span>
#include <string_view>

#include "tally/any_filter.hpp"
#include "tally/detail/parameter_error.hpp"
#include "tally/detail/splitmix64.hpp"
#include "tally/hashing/scheme_list.hpp"
#include "tally/storage/counter_array.hpp"
#include "tally/theory/blocked_counters.hpp"
#include "tally/theory/coinciding_positions.hpp"
#include "tally/theory/tails.hpp"

namespace tally {
namespace {

constexpr std::uint64_t batch_keys = 4096;

/// Asks now and then whether the simulation shall stop, and throws Stopped then.
class StopSign {
 public:
  struct Stopped {};

  explicit StopSign(const std::function<bool()>& should_stop) : should_stop_(should_stop) {}

  void ask() const {
    if (should_stop_ && should_stop_()) throw Stopped();
  }
  /// Asks once in many keys, because the answer may take a lock.
  void after(std::uint64_t num_keys) const {
    num_keys_ += num_keys;
    if (num_keys_ < keys_per_question) return;
    num_keys_ = 0;
    ask();
  }

 private:
  static constexpr std::uint64_t keys_per_question = std::uint64_t{1} << 18;

  const std::function<bool()>& should_stop_;
  mutable std::uint64_t num_keys_ = 0;
};

/// SplitMix64: random digests, which is what a good hash makes of new keys.
class RandomKeys {
 public:
  explicit RandomKeys(std::uint64_t seed) : state_(seed) {}

  Hash128 next() {
    const std::uint64_t low = word();
    return {low, word()};
  }

 private:
  std::uint64_t word() { return detail::splitmix64(state_); }

  std::uint64_t state_;
};

std::vector<std::uint64_t> asked_true_counts(std::uint64_t theta) {
  std::set<std::uint64_t> counts = {0, theta};
  if (theta <= 12) {
    for (std::uint64_t t = 1; t < theta; ++t) counts.insert(t);
  } else {
    counts.insert({1, theta / 2, theta - 3, theta - 2, theta - 1});
  }
  return {counts.begin(), counts.end()};
}

/// The filter of one trial, the keys that were inserted, and the queries.
class Trial {
 public:
  Trial(const SimulationPlan& plan, const InsertionMix& mix, RandomKeys& random, const StopSign& stop)
      : plan_(plan), filter_(plan.shape, KeyHasher(0)), random_(random), stop_(stop) {
    for (const InsertionMix::Group& group : mix.groups) {
      keys_.push_back(new_keys(group.num_keys));
      for (std::uint64_t i = 0; i < group.true_count; ++i) insert(keys_.back());
    }
    singles_ = new_keys(mix.num_single_keys);
    insert(singles_);
  }

  /// Whether an insertion was refused.
  bool is_full() const { return is_full_; }
  const std::vector<Hash128>& group(std::size_t i) const { return keys_[i]; }
  const std::vector<Hash128>& singles() const { return singles_; }

  std::uint64_t num_passed(std::span<const Hash128> keys) const {
    std::uint64_t passed = 0;
    for_each_batch(keys, [&](std::span<const Hash128> part) {
      const std::span<bool> results(results_.get(), part.size());
      if (is_counting_bloom(plan_.shape.kind()) || plan_.shape.kind() == FilterKind::count_min) {
        filter_.at_least_batch(part, plan_.threshold, results);
      } else {
        filter_.may_contain_batch(part, results);
      }
      passed += static_cast<std::uint64_t>(std::count(results.begin(), results.end(), true));
    });
    return passed;
  }

  /// Keys whose count is below the number of times they were inserted.
  std::uint64_t num_counted_low(std::span<const Hash128> keys, std::uint64_t true_count) const {
    std::uint64_t num_low = 0;
    std::vector<Count> counts(batch_keys);
    for_each_batch(keys, [&](std::span<const Hash128> part) {
      const std::span own(counts.data(), part.size());
      filter_.count_batch(part, own);
      num_low += static_cast<std::uint64_t>(std::ranges::count_if(
          own, [&](const Count& count) { return !count.saturated && count.value < true_count; }));
    });
    return num_low;
  }

  bool can_count() const { return filter_.can_count(); }

 private:
  template <class Use>
  void for_each_batch(std::span<const Hash128> keys, Use use) const {
    for (std::size_t first = 0; first < keys.size(); first += batch_keys) {
      const auto part = keys.subspan(first, std::min<std::size_t>(batch_keys, keys.size() - first));
      use(part);
      stop_.after(part.size());
    }
  }

  std::vector<Hash128> new_keys(std::uint64_t num_keys) {
    std::vector<Hash128> keys(num_keys);
    for (Hash128& key : keys) {
      key = random_.next();
      stop_.after(1);
    }
    return keys;
  }

  void insert(std::span<const Hash128> keys) {
    for_each_batch(keys, [&](std::span<const Hash128> part) {
      if (!is_full_) is_full_ = filter_.insert_batch(part) != 0;
    });
  }

  const SimulationPlan& plan_;
  AnyFilter filter_;
  RandomKeys& random_;
  const StopSign& stop_;
  std::vector<std::vector<Hash128>> keys_;
  std::vector<Hash128> singles_;
  std::unique_ptr<bool[]> results_{new bool[batch_keys]};
  bool is_full_ = false;
};

/// The numbers of keys that passed, added up over the trials.
struct Tally {
  std::uint64_t true_count = 0;
  std::uint64_t queries_per_trial = 0;
  std::uint64_t num_trials = 0;
  double sum = 0;
  double sum_of_squares = 0;

  void add(std::uint64_t passed) {
    const auto x = static_cast<double>(passed);
    ++num_trials;
    sum += x;
    sum_of_squares += x * x;
  }

  MeasuredRate rate() const {
    MeasuredRate result{true_count, queries_per_trial * num_trials, static_cast<std::uint64_t>(sum), 1};
    const auto trials = static_cast<double>(num_trials);
    const double p = sum / static_cast<double>(result.num_queries);
    if (num_trials < 2 || p <= 0 || p >= 1) return result;
    const double variance = (sum_of_squares - sum * sum / trials) / (trials - 1);
    result.design_effect = std::max(1.0, variance / (static_cast<double>(queries_per_trial) * p * (1 - p)));
    return result;
  }
};

struct TrialResult {
  std::vector<std::uint64_t> num_passed;  ///< of each group
  std::uint64_t num_false_negatives = 0;
  std::uint64_t num_positives_checked = 0;
};

TrialResult result_of(const SimulationPlan& plan, const InsertionMix& mix, const Trial& trial) {
  TrialResult result;
  for (std::size_t g = 0; g < mix.groups.size(); ++g) {
    const InsertionMix::Group& group = mix.groups[g];
    const std::uint64_t passed = trial.num_passed(trial.group(g));
    result.num_passed.push_back(passed);
    if (group.true_count >= plan.threshold) {
      result.num_false_negatives += group.num_keys - passed;
      result.num_positives_checked += group.num_keys;
    }
    if (trial.can_count()) {
      result.num_false_negatives += trial.num_counted_low(trial.group(g), group.true_count);
      result.num_positives_checked += group.num_keys;
    }
  }
  if (plan.threshold == 1)
    result.num_false_negatives += trial.singles().size() - trial.num_passed(trial.singles());
  if (trial.can_count()) result.num_false_negatives += trial.num_counted_low(trial.singles(), 1);
  result.num_positives_checked += trial.singles().size();
  return result;
}

/// How often another key raises a given counter of a key: Binomial(num_throws, probability).
struct Meeting {
  double num_throws = 1;
  double probability = 0;
};

Meeting meeting_in(const FilterShape& shape) {
  if (const auto* sketch = std::get_if<CountMinShape>(&shape.shape))  // each row has its own counters
    return {1, 1.0 / static_cast<double>(sketch->width)};
  return {static_cast<double>(shape.num_hashes()), 1.0 / static_cast<double>(shape.num_positions())};
}

/// ln Pr(counter >= gap), where the counter is the sum over the groups of true_count times
/// Binomial(num_throws num_keys, probability).
double ln_counter_reaches(const InsertionMix& mix, Meeting meeting, std::uint64_t gap,
                          std::uint64_t own_count) {
  // All values from the gap on are one case, whose probability is summed directly, never as 1 - sum.
  std::vector<long double> below(gap, 0.0L);
  below[0] = 1.0L;
  long double reached = 0.0L;
  const double p = meeting.probability;
  const auto throw_group = [&](std::uint64_t jump, std::uint64_t num_keys) {
    if (jump == 0 || num_keys == 0) return;
    const double trials = meeting.num_throws * static_cast<double>(num_keys);
    const std::uint64_t most = (gap - 1) / jump;
    std::vector<long double> points(most + 1);
    std::vector<long double> tails(most + 2);
    for (std::uint64_t j = 0; j <= most; ++j)
      points[j] = std::exp(static_cast<long double>(theory::ln_binomial_point(j, trials, p)));
    tails[most + 1] = std::exp(static_cast<long double>(theory::ln_binomial_upper_tail(most + 1, trials, p)));
    for (std::uint64_t j = most + 1; j-- > 0;) tails[j] = tails[j + 1] + points[j];
    std::vector<long double> next(gap, 0.0L);
    for (std::uint64_t s = 0; s < gap; ++s) {
      if (below[s] == 0.0L) continue;
      const std::uint64_t needed = (gap - s + jump - 1) / jump;  // jumps that reach the gap; at most most + 1
      reached += below[s] * tails[needed];
      for (std::uint64_t j = 0; j < needed; ++j) next[s + j * jump] += below[s] * points[j];
    }
    below = std::move(next);
  };
  throw_group(1, mix.num_single_keys);
  for (const InsertionMix::Group& group : mix.groups) {
    const bool is_own = group.true_count == own_count;
    throw_group(group.true_count, group.num_keys - (is_own && group.num_keys > 0 ? 1 : 0));
  }
  return static_cast<double>(std::log(reached));
}

constexpr double most_steps_of_a_law = 0x1p28;  // a second or two

void check(const SimulationPlan& plan) {
  constexpr std::string_view structure = "simulate";
  check_shape(plan.shape);
  detail::require_in_range(structure, "threshold", plan.threshold, 1, max_threshold_limit);
  detail::require_in_range(structure, "num_trials", plan.num_trials, 1, std::uint64_t{1} << 40);
  detail::require_in_range(structure, "num_queries", plan.num_queries, 1, std::uint64_t{1} << 40);
}

/// The law for counts in lines. It knows that a key's counters are not independent.
SchemeLaw law_of_counts_in_lines(const SimulationPlan& plan, const InsertionMix& mix,
                                 std::uint64_t true_count) {
  constexpr double most_states = 0x1p12;  // a second or two
  const FilterShape& shape = plan.shape;
  const std::uint32_t k = shape.num_hashes();
  const std::uint32_t B = CounterArray::positions_per_line(shape.counter_bits());
  const std::uint64_t num_lines = shape.num_positions() / B;
  std::vector<theory::RepeatedKeys> others{{1, mix.num_single_keys}};
  for (const InsertionMix::Group& group : mix.groups) {
    const bool is_own = group.true_count == true_count && group.num_keys > 0;
    others.push_back({group.true_count, group.num_keys - (is_own ? 1 : 0)});
  }
  if (theory::blocked_threshold_num_states(plan.threshold, k, true_count) <= most_states) {
    return {theory::ln_blocked_threshold_false_positive_probability(plan.threshold, num_lines, B, k, others,
                                                                    true_count),
            LawKind::exact};
  }
  return {theory::ln_blocked_threshold_false_positive_probability_approximate(plan.threshold, num_lines, B, k,
                                                                              others, true_count),
          LawKind::limit};
}

/// The mean over a key's positions, some of which may be the same.
SchemeLaw law_of_counters(const FilterShape& shape, std::span<const double> w) {
  const std::uint64_t m = shape.num_positions();
  const std::uint32_t k = shape.num_hashes();
  const double ln_all = k * std::log(w[0]);
  if (const auto scheme = double_hashing_of(shape.scheme_id)) {
    const double gain = theory::double_hashing_gain_by_coinciding_positions(*scheme, m, k, w);
    return {std::log(std::exp(ln_all) + std::max(0.0, gain)), LawKind::limit};
  }
  if (position_law(shape.scheme_id) != PositionLaw::independent) return {ln_all, LawKind::exact};
  return {theory::ln_mean_over_coinciding_positions(m, k, w), LawKind::exact};
}

}  // namespace

InsertionMix insertion_mix(const SimulationPlan& plan) {
  InsertionMix mix;
  mix.num_single_keys = plan.num_insertions;
  if (plan.threshold == 1) {
    mix.groups = {{0, plan.num_queries}};
    return mix;
  }
  const std::vector<std::uint64_t> counts = asked_true_counts(plan.threshold);
  std::uint64_t sum = 0;
  for (const std::uint64_t t : counts) sum += t;
  // The keys that will be queried make up at most a tenth of the insertions, with at least one key per true count.
  const std::uint64_t each = std::max<std::uint64_t>(1, plan.num_insertions / 10 / sum);
  for (const std::uint64_t t : counts) {
    mix.groups.push_back({t, t == 0 ? plan.num_queries : each});
    mix.num_single_keys -= std::min(mix.num_single_keys, t * each);
  }
  return mix;
}

SchemeLaw predicted_law(const SimulationPlan& plan, const InsertionMix& mix, std::uint64_t true_count) {
  const bool is_sketch = plan.shape.kind() == FilterKind::count_min;
  if (plan.threshold == 1 && !is_sketch)
    return false_positive_law(plan.shape, mix.num_single_keys, most_steps_of_a_law);
  if (plan.shape.kind() == FilterKind::blocked_counting_bloom)
    return law_of_counts_in_lines(plan, mix, true_count);
  // w[j - 1]: Pr(a counter that j of the key's positions share reaches the threshold).
  const Meeting meeting = meeting_in(plan.shape);
  std::vector<double> w;
  double ln_counter = 0;
  for (std::uint64_t own = true_count; w.size() < plan.shape.num_hashes(); own += true_count) {
    const double ln_reached =
        own < plan.threshold ? ln_counter_reaches(mix, meeting, plan.threshold - own, true_count) : 0.0;
    if (w.empty()) ln_counter = ln_reached;
    w.push_back(std::exp(ln_reached));
    if (own >= plan.threshold || true_count == 0) break;
  }
  const bool may_coincide = !is_sketch && !traits_of(plan.shape.kind()).can_fill_up && w[0] > 0;
  if (may_coincide) return law_of_counters(plan.shape, w);
  const bool tends_to_it = is_sketch ? plan.shape.scheme_id == TwoHashRows::file_id
                                     : double_hashing_of(plan.shape.scheme_id).has_value();
  return {plan.shape.num_hashes() * ln_counter, tends_to_it ? LawKind::limit : LawKind::exact};
}

SimulationResult simulate(const SimulationPlan& plan) {
  check(plan);
  const InsertionMix mix = insertion_mix(plan);
  SimulationResult result;
  std::vector<Tally> tallies;
  for (const InsertionMix::Group& group : mix.groups) {
    if (group.true_count < plan.threshold) tallies.push_back({group.true_count, group.num_keys});
  }
  RandomKeys random(plan.seed);
  const StopSign stop(plan.should_stop);
  try {
    for (std::uint64_t i = 0; i < plan.num_trials; ++i) {
      stop.ask();
      const Trial trial(plan, mix, random, stop);
      if (trial.is_full()) {
        result.was_full = true;
        return result;
      }
      const TrialResult found = result_of(plan, mix, trial);
      for (std::size_t g = 0; g < tallies.size(); ++g) tallies[g].add(found.num_passed[g]);
      result.num_false_negatives += found.num_false_negatives;
      result.num_positives_checked += found.num_positives_checked;
      if (plan.after_trial) plan.after_trial(i + 1);
    }
  } catch (const StopSign::Stopped&) {
    // The trial that was not finished does not count.
  }
  for (const Tally& tally : tallies) result.rates.push_back(tally.rate());
  return result;
}

}  // namespace tally
