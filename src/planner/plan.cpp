#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>

#include "planner/dleft_search.hpp"
#include "planner/predict.hpp"
#include "planner/search.hpp"
#include "tally/detail/parameter_error.hpp"
#include "tally/hashing/blocked_scheme.hpp"
#include "tally/hashing/rotation_buckets.hpp"
#include "tally/planner.hpp"
#include "tally/storage/counter_array.hpp"
#include "tally/theory/threshold.hpp"

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
  if (task.theta > 1 && task.keys.histogram != nullptr) {
    const double num_insertions = std::min(task.keys.histogram->num_insertions(), 0x1p63);
    candidate.simple_threshold_rate = theory::threshold_false_positive_probability(
        task.theta, k, static_cast<std::uint64_t>(num_insertions), m);
  }
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

DLeftRequest dleft_request(const Requirements& requirements, std::uint32_t num_subtables) {
  DLeftRequest request{.num_keys = requirements.num_keys,
                       .false_positive_rate = requirements.false_positive_rate,
                       .memory_bytes = requirements.memory_bytes,
                       .num_frequent_keys = requirements.num_frequent_keys,
                       .keys_repeat = requirements.keys_repeat,
                       .histogram = requirements.histogram,
                       .lifetime_operations = requirements.lifetime_operations,
                       .failure_probability = requirements.failure_probability,
                       .max_doublings = requirements.max_doublings,
                       .num_subtables = num_subtables};
  if (!requirements.needs_deletes && !request.lifetime_operations) request.lifetime_operations = 0;
  return request;
}

Candidate dleft(const Task& task, const DLeftRequest& request, const DLeftSolution& found) {
  const DLeftShape& shape = found.shape;
  Candidate candidate;
  candidate.kind = "dleft";
  candidate.scheme = RotationBuckets::name;
  candidate.scheme_id = RotationBuckets::file_id;
  candidate.shape = shape;
  candidate.num_positions = shape.num_cells();
  candidate.num_hashes = shape.num_subtables;
  candidate.counter_bits = shape.counter_bits;
  candidate.memory_bytes = num_bytes(shape);
  candidate.num_keys = found.num_keys;
  candidate.bits_per_key =
      8.0 * static_cast<double>(candidate.memory_bytes) / static_cast<double>(found.num_keys);
  candidate.promised_true_count = task.theta - 1;
  candidate.error_law = task.keys.histogram != nullptr ? ErrorLaw::histogram : ErrorLaw::bound;
  // As for one hash and a position a fingerprint: keys of the same fingerprint count for as many as are
  // missing.
  const Keys keys{found.num_keys, 0, task.keys.histogram};
  Law law;
  law.ln_rate = [&](std::uint64_t, std::uint32_t, std::uint64_t n) { return ln_dleft_rate(shape, n); };
  const auto num_fingerprints = static_cast<std::uint64_t>(shape.fingerprint_space().num_fingerprints());
  candidate.errors = predict_errors(law, keys, found.num_keys, num_fingerprints, 1, task.theta);
  candidate.false_positive_rate = candidate.errors.back().false_positive_rate;
  candidate.cache_lines = bucket_lines(shape);
  candidate.dleft = forecast_of(found, request);
  candidate.summary = "a multiset: keys can be removed, and counted without a maximum; " +
                      std::to_string(shape.num_subtables) + " lines a key; it can be full";
  candidate.source =
      "1 - (1 - 1/(B R))^n; the load from the fluid limit (Bonomi, Mitzenmacher, Panigrahy, Singh, Varghese "
      "2006)";
  return candidate;
}

/// Whether the first is the better answer to what was asked.
bool is_better(const Candidate& a, const Candidate& b, const Wanted& wanted) {
  if (wanted.memory_bytes == 0) return a.memory_bytes < b.memory_bytes;
  if (wanted.num_keys != 0)
    return a.errors.back().ln_false_positive_rate < b.errors.back().ln_false_positive_rate;
  return a.num_keys > b.num_keys;
}

bool removes_or_counts(const Requirements& requirements) {
  return requirements.needs_deletes || requirements.needs_counts;
}

/// The best d-left filter, with vector loops where speed is preferred and not too dear; one that reads fewer lines, where
/// keys are removed or counted; and, last, the best of all if it was not the first. Throws std::invalid_argument if there is none.
std::vector<Candidate> dlefts(const Task& task, const Requirements& requirements,
                              std::vector<std::string>& warnings) {
  const DLeftRequest request = dleft_request(requirements, 0);
  const DLeftSolution best = solve_dleft(structure, request, DLeftLoops::any);
  const bool is_fast = has_vector_loops(best.shape);
  const DLeftLoops loops = requirements.prefers_speed ? DLeftLoops::vector : DLeftLoops::any;
  std::vector<Candidate> candidates;
  const auto fast = is_fast ? std::optional(best) : find_dleft(structure, request, loops);
  if (fast && is_worth_its_speed(*fast, best)) candidates.push_back(dleft(task, request, *fast));
  if (!candidates.empty() && removes_or_counts(requirements) && candidates.back().num_hashes > 2) {
    const DLeftRequest of_two = dleft_request(requirements, 2);
    if (const auto found = find_dleft(structure, of_two, loops)) {
      Candidate fewer_lines = dleft(task, of_two, *found);
      if (fewer_lines.cache_lines.lookup_absent < candidates.back().cache_lines.lookup_absent)
        candidates.push_back(std::move(fewer_lines));
    } else {
      warnings.emplace_back("dleft of 2 subtables is left out: no shape meets the request");
    }
  }
  if (!is_fast && requirements.prefers_speed) candidates.push_back(dleft(task, request, best));
  return candidates;
}

/// A d-left filter can be full: it comes first only where others cannot do the job or how often keys repeat
/// is known.
bool may_lead_with_dleft(const Requirements& requirements) {
  if (removes_or_counts(requirements)) return true;
  return requirements.threshold > 1 && (requirements.histogram || requirements.num_frequent_keys != 0);
}

/// Whether a d-left filter should stand before another candidate.
bool comes_before(const Candidate& dleft, const Candidate& other, const Requirements& requirements,
                  const Wanted& wanted) {
  if (requirements.prefers_speed && !dleft.dleft->has_fast_loops) return saturates_often(other);
  return is_better(dleft, other, wanted);
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
  const bool no_plain_set = removes_or_counts(requirements);
  if (is_blocked && (requirements.threshold > 1 || no_plain_set)) {
    throw std::invalid_argument(
        "plan: scheme is 'blocked', which only a Bloom filter has; take another scheme for "
        "thresholds, counts and deletes");
  }

  Plan result;
  const auto one = [](Candidate candidate) { return std::vector<Candidate>{std::move(candidate)}; };
  using Maker = std::function<std::vector<Candidate>()>;
  std::vector<std::pair<std::string_view, Maker>> makers;
  if (!no_plain_set && task.theta == 1) {
    if (!is_blocked) makers.emplace_back("bloom", [&] { return one(bloom(task, task.scheme)); });
    makers.emplace_back("blocked-bloom", [&] { return one(bloom(task, scheme_law(BlockedScheme::name))); });
  }
  if (!no_plain_set && task.theta > 1) {
    makers.emplace_back("threshold", [&] { return one(threshold(task, task.theta - 1)); });
    const bool can_promise_less =
        keys.error_law() == ErrorLaw::insertions ||
        (keys.histogram != nullptr && task.theta <= 256 &&
         (keys.histogram->keys_beyond == 0 || task.theta <= keys.histogram->keys_with_count.size()));
    if (can_promise_less) makers.emplace_back("threshold", [&] { return one(threshold(task, 0)); });
  }
  if (!is_blocked) {
    makers.emplace_back("counting-bloom", [&] { return one(counting(task)); });
    makers.emplace_back("dleft", [&] { return dlefts(task, requirements, result.warnings); });
  }

  std::string first_failure;
  for (const auto& [kind, make] : makers) {
    try {
      std::ranges::move(make(), std::back_inserter(result.candidates));
    } catch (const std::invalid_argument& error) {
      if (first_failure.empty()) first_failure = error.what();
      result.warnings.push_back(std::string(kind) + " is left out: " + error.what());
    }
  }
  if (result.candidates.empty()) throw std::invalid_argument(first_failure);
  std::vector<Candidate>& candidates = result.candidates;
  if (may_lead_with_dleft(requirements)) {
    for (auto here = candidates.begin(); here != candidates.end(); ++here) {
      if (here->kind != "dleft") continue;
      const auto worse = std::find_if(candidates.begin(), here, [&](const Candidate& other) {
        return comes_before(*here, other, requirements, task.wanted);
      });
      std::rotate(worse, here, here + 1);
    }
  }
  result.exact_table_bytes = exact_table_bytes(result.recommended().num_keys, task.theta > 1 || no_plain_set);
  result.reason = reason_for(requirements, result);
  std::vector<std::string> more = warnings_for(requirements, task.keys, result);
  std::move(more.begin(), more.end(), std::back_inserter(result.warnings));
  return result;
}

}  // namespace tally
