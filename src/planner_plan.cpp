#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

#include "planner_predict.hpp"
#include "planner_search.hpp"
#include "tally/detail/parameter_error.hpp"
#include "tally/hashing/blocked_scheme.hpp"
#include "tally/planner.hpp"
#include "tally/storage/counter_array.hpp"

namespace tally {
namespace {

using namespace planner_detail;

constexpr std::string_view structure = "plan";

/// The requirements, checked, with all that every candidate needs.
struct Task {
  Task(const Requirements& requirements, const Wanted& wanted_shape, const Keys& known_keys)
      : theta(requirements.threshold),
        wanted(wanted_shape),
        keys(known_keys),
        scheme(scheme_law(requirements.scheme)) {}

  std::uint64_t theta;
  Wanted wanted;
  Keys keys;
  SchemeLaw scheme;
};

/// Fills in all that follows from the shape.
template <class Shape>
Candidate describe(const Task& task, const SchemeLaw& scheme, std::string_view kind, const Shape& shape,
                   const Solution& found, std::uint32_t counter_bits, std::uint64_t promised_true_count) {
  Candidate candidate;
  candidate.kind = kind;
  candidate.scheme = scheme.name;
  candidate.scheme_id = scheme.file_id;
  candidate.shape = shape;
  candidate.num_positions = found.num_positions;
  candidate.num_hashes = found.num_hashes;
  candidate.counter_bits = counter_bits;
  candidate.memory_bytes = num_bytes(shape);
  candidate.num_keys = found.num_keys;
  candidate.bits_per_key =
      8.0 * static_cast<double>(candidate.memory_bytes) / static_cast<double>(found.num_keys);
  candidate.promised_true_count = promised_true_count;
  candidate.error_law = task.keys.error_law();

  const std::uint64_t m = found.num_positions;
  const std::uint32_t k = found.num_hashes;
  const std::uint64_t gap = task.theta - promised_true_count;
  candidate.errors = predict_errors(scheme.law, task.keys, found.num_keys, m, k, task.theta);
  candidate.false_positive_rate = std::exp(ln_error(scheme.law, task.keys, found.num_keys, m, k, gap));
  const bool is_blocked = scheme.name == BlockedScheme::name;
  candidate.cache_lines = expected_lines(is_blocked, m, k, CounterArray::positions_per_line(counter_bits),
                                         candidate.errors.front().ln_false_positive_rate);
  const bool has_best = !is_blocked && (gap == 1 || task.keys.histogram == nullptr);
  if (has_best) {
    candidate.rounding_cost =
        rounding_cost(task.wanted, candidate, gap == 1 ? found.num_keys : task.keys.num_insertions, gap);
  }
  return candidate;
}

Candidate bloom(const Task& task, const SchemeLaw& scheme) {
  const Solution found = solve(structure, scheme.law, task.wanted, 1);
  const bool is_blocked = scheme.name == BlockedScheme::name;
  const BloomShape shape{found.num_positions, found.num_hashes};
  Candidate candidate = describe(task, scheme, is_blocked ? "blocked-bloom" : "bloom", shape, found, 1, 0);
  candidate.summary = is_blocked ? "a set in bits; one cache line a key, for more memory or error"
                                 : "a set in bits; the least memory";
  candidate.source =
      is_blocked ? "mixture over lines of the exact law of one line (after Putze, Sanders, Singler 2007)"
                 : "(1 - (1 - 1/m)^(k n))^k (Fan, Cao, Almeida, Broder 2000, Summary Cache)";
  if (scheme.name == "partitioned")
    candidate.source = "(1 - (1 - k/m)^n)^k (Kirsch, Mitzenmacher 2008, section 2)";
  if (scheme.name == "partition-double")
    candidate.source = "exact at finite n (Kirsch, Mitzenmacher 2008, section 3)";
  return candidate;
}

Candidate counting(const Task& task) {
  const CountingSolution solution = solve_counting(structure, task.scheme.law, task.wanted, task.theta, 0,
                                                   default_max_saturation_probability);
  const CountingBloomShape& shape = solution.shape;
  const Solution found{shape.num_counters, shape.num_hashes, solution.num_keys};
  Candidate candidate =
      describe(task, task.scheme, "counting-bloom", shape, found, shape.counter_bits, task.theta - 1);
  const std::uint64_t full = ~std::uint64_t{0} >> (64 - shape.counter_bits);
  candidate.saturation_probability =
      predict_saturation(task.keys, found.num_keys, found.num_positions, found.num_hashes, full);
  candidate.summary = "a multiset: keys can be removed, and counted up to " + std::to_string(full);
  candidate.source =
      "(1 - (1 - 1/m)^(k n))^k; saturation: m Pr(counter >= 2^bits - 1) (Fan, Cao, Almeida, Broder 2000)";
  return candidate;
}

Candidate threshold(const Task& task, std::uint64_t promised_true_count) {
  ThresholdShape shape{1, 1, task.theta, CounterUpdate::plain};
  const std::uint64_t gap = task.theta - promised_true_count;
  Law law = task.scheme.law;
  Wanted wanted = task.wanted;
  if (gap > 1 && task.keys.histogram != nullptr) law = histogram_law(law, gap, *task.keys.histogram);
  if (gap > 1 && task.keys.histogram == nullptr) {
    law = insertions_law(law, gap);
    wanted.num_keys = task.keys.num_insertions;
  }
  Solution found = solve(structure, law, wanted, counter_bits_for(shape));
  if (gap > 1) found.num_keys = task.keys.num_keys;
  shape.num_counters = found.num_positions;
  shape.num_hashes = found.num_hashes;
  Candidate candidate =
      describe(task, task.scheme, "threshold", shape, found, counter_bits_for(shape), promised_true_count);
  if (gap == 1) {
    candidate.summary = "seen at least " + std::to_string(task.theta) +
                        " times? the rate holds for every key seen less often";
    candidate.source =
        "(1 - (1 - 1/m)^(k n))^k with n distinct keys: each counter needs one foreign key (Fan et al. 2000)";
  } else {
    candidate.summary =
        "seen at least " + std::to_string(task.theta) + " times? the rate holds only for keys never inserted";
    candidate.source =
        task.keys.histogram != nullptr
            ? "compound Poisson law of a counter (Panjer 1981) to the power k"
            : "Pr(Binomial(k n, 1/m) >= theta)^k, n insertions (Kim, Jeong, Lee, Lee 2019, equation 2)";
  }
  return candidate;
}

std::string reason_for(const Requirements& requirements, const Plan& plan) {
  const Candidate& first = plan.recommended();
  const auto share = [&](const Candidate& other) {
    const double percent =
        100 * (static_cast<double>(other.memory_bytes) / static_cast<double>(first.memory_bytes) - 1);
    return short_number(std::abs(percent)) + "% " + (percent < 0 ? "less" : "more") + " memory";
  };
  std::string reason;
  if (requirements.needs_deletes) {
    reason = "keys must be removable, and of these structures only counting-bloom removes";
  } else if (first.kind == "threshold" && first.promised_true_count + 1 == requirements.threshold) {
    reason =
        "its counters are just wide enough for the threshold, and its promise holds for every key seen less "
        "often, however unevenly keys repeat";
  } else {
    reason = "it does the job in the least memory, or with the least error";
  }
  for (const Candidate& other : plan.candidates) {
    if (&other == &first) continue;
    if (other.kind == "blocked-bloom" && requirements.memory_bytes == 0) {
      reason += "; blocked-bloom takes " + share(other) + " and touches one line a key instead of " +
                short_number(first.cache_lines.insert) +
                ": better where the filter is larger than the cache and speed matters more";
    } else if (other.kind == "blocked-bloom") {
      reason += "; blocked-bloom touches one line a key instead of " + short_number(first.cache_lines.insert);
    } else if (other.kind == "threshold" && requirements.memory_bytes == 0) {
      reason += "; if only keys never inserted matter, " + share(other) + " will do";
    }
  }
  return reason;
}

}  // namespace

Plan plan(const Requirements& requirements) {
  detail::require_in_range(structure, "threshold", requirements.threshold, 1, max_threshold_limit);
  Keys keys{requirements.num_keys, requirements.num_insertions, nullptr};
  if (requirements.histogram) {
    if (keys.num_keys != 0 || keys.num_insertions != 0) {
      throw std::invalid_argument(
          "plan: histogram is given, and num_keys or num_insertions too; leave those out, "
          "the histogram says them");
    }
    keys.histogram = &*requirements.histogram;
    keys.num_keys = num_keys_of(structure, *keys.histogram);
  }
  const Wanted wanted =
      check_wanted(structure, keys.num_keys, requirements.false_positive_rate, requirements.memory_bytes);
  if (keys.num_insertions != 0) {
    detail::require_in_range(structure, "num_insertions", keys.num_insertions,
                             std::max<std::uint64_t>(keys.num_keys, 1), max_num_positions);
    if (keys.num_keys == 0) {
      throw std::invalid_argument(
          "plan: num_insertions is given without num_keys; give num_keys in place of "
          "false_positive_rate or memory_bytes, or leave num_insertions out");
    }
  }
  const Task task(requirements, wanted, keys);
  const bool is_blocked = requirements.scheme == BlockedScheme::name;
  if (is_blocked && (requirements.threshold > 1 || requirements.needs_deletes)) {
    throw std::invalid_argument(
        "plan: scheme is 'blocked', which only a Bloom filter has; take another scheme for "
        "thresholds and deletes");
  }

  using Maker = std::function<Candidate()>;
  std::vector<std::pair<std::string_view, Maker>> makers;
  if (!requirements.needs_deletes && task.theta == 1) {
    if (!is_blocked) makers.emplace_back("bloom", [&] { return bloom(task, task.scheme); });
    makers.emplace_back("blocked-bloom", [&] { return bloom(task, scheme_law(BlockedScheme::name)); });
  }
  if (!requirements.needs_deletes && task.theta > 1) {
    makers.emplace_back("threshold", [&] { return threshold(task, task.theta - 1); });
    const bool can_promise_less =
        keys.error_law() == ErrorLaw::insertions ||
        (keys.histogram != nullptr && task.theta <= 256 &&
         (keys.histogram->keys_beyond == 0 || task.theta <= keys.histogram->keys_with_count.size()));
    if (can_promise_less) makers.emplace_back("threshold", [&] { return threshold(task, 0); });
  }
  if (!is_blocked) makers.emplace_back("counting-bloom", [&] { return counting(task); });

  Plan result;
  std::string first_failure;
  for (const auto& [kind, make] : makers) {
    try {
      result.candidates.push_back(make());
    } catch (const std::invalid_argument& error) {
      if (first_failure.empty()) first_failure = error.what();
      result.warnings.push_back(std::string(kind) + " is left out: " + error.what());
    }
  }
  if (result.candidates.empty()) throw std::invalid_argument(first_failure);
  result.exact_table_bytes =
      exact_table_bytes(result.recommended().num_keys, task.theta > 1 || requirements.needs_deletes);
  result.reason = reason_for(requirements, result);
  std::vector<std::string> more = warnings_for(requirements, task.keys, result);
  std::move(more.begin(), more.end(), std::back_inserter(result.warnings));
  return result;
}

}  // namespace tally
