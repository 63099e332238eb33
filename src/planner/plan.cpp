#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "planner/compact_search.hpp"
#include "planner/conservative.hpp"
#include "planner/count_laws.hpp"
#include "planner/dleft_requirements.hpp"
#include "planner/dleft_search.hpp"
#include "planner/predict.hpp"
#include "planner/preference.hpp"
#include "planner/saturation.hpp"
#include "planner/search.hpp"
#include "tally/detail/parameter_error.hpp"
#include "tally/hashing/scheme_list.hpp"
#include "tally/planner.hpp"
#include "tally/storage/counter_array.hpp"
#include "tally/theory/threshold.hpp"

namespace tally {
namespace {

using namespace planner_detail;

constexpr std::string_view structure = "plan";

/// Without removals a filter is only filled: no key is ever replaced.
Requirements with_planned_life(const Requirements& requirements) {
  Requirements own = requirements;
  if (!own.needs_deletes && !own.lifetime_operations) own.lifetime_operations = 0;
  return own;
}

/// The checked requirements, and what every candidate needs.
struct Task {
  Task(const Requirements& all, const Wanted& wanted_shape, const Keys& known_keys)
      : requirements(with_planned_life(all)),
        theta(all.theta()),
        wanted(wanted_shape),
        keys(known_keys),
        scheme(search_law(all.scheme.value_or(DefaultScheme::name))) {
    if (theta > 1) scheme.law = law_of_inserted_keys(scheme.law);
  }

  Requirements requirements;  // with the planned life
  std::uint64_t theta;
  Wanted wanted;
  Keys keys;
  SearchLaw scheme;
};

/// Fills in every field that follows from the shape.
Candidate describe(const Task& task, const SearchLaw& scheme, const FilterShape& shape,
                   std::uint64_t num_keys, std::uint64_t promised_true_count) {
  Candidate candidate;
  candidate.shape = shape;
  candidate.num_keys = num_keys;
  candidate.promised_true_count = promised_true_count;
  candidate.error_law = task.keys.error_law();

  const std::uint64_t m = shape.num_positions();
  const std::uint32_t k = shape.num_hashes();
  const std::uint64_t gap = task.theta - promised_true_count;
  candidate.errors = predict_errors(scheme.law, task.keys, num_keys, m, k, task.theta);
  candidate.false_positive_rate =
      std::exp(ln_error(scheme.law, task.keys, num_keys, m, k, gap, promised_true_count));
  if (task.theta > 1 && task.keys.histogram != nullptr) {
    // The sum of a law's histogram is a whole number but for rounding.
    const double num_insertions = std::min(std::round(task.keys.histogram->num_insertions()), 0x1p63);
    candidate.simple_threshold_rate = theory::threshold_false_positive_probability(
        task.theta, k, static_cast<std::uint64_t>(num_insertions), m);
  }
  const bool has_one_line = is_blocked(shape.kind());
  candidate.cache_lines =
      expected_lines(has_one_line, m, k, CounterArray::positions_per_line(shape.counter_bits()),
                     candidate.errors.front().ln_false_positive_rate);
  const bool has_best = !has_one_line && (gap == 1 || !task.keys.repeat());
  if (has_best) {
    candidate.rounding_cost = rounding_cost(task.wanted, candidate,
                                            gap == 1 ? num_keys : task.keys.num_insertions.value_or(0), gap);
  }
  return candidate;
}

std::string text_of_independent_law(std::uint64_t num_positions) {
  return num_positions <= few_positions
             ? "E[(X/m)^k], X of m positions occupied (Bose et al. 2008), near (1 - (1 - 1/m)^(k n))^k"
             : "(1 - (1 - 1/m)^(k n))^k";
}

Candidate bloom(const Task& task, const SearchLaw& scheme) {
  const Solution found = solve(structure, scheme.law, task.wanted, 1);
  const bool is_blocked = is_line_scheme(scheme.file_id);
  const FilterShape shape = bloom_filter_shape(found.num_positions, found.num_hashes, scheme.file_id);
  Candidate candidate = describe(task, scheme, shape, found.num_keys, 0);
  candidate.summary = is_blocked ? "a set; one cache line per key, for more memory or more false positives"
                                 : "a set; the least memory";
  candidate.source =
      is_blocked
          ? "mixture over lines of the exact law of one line (after Putze, Sanders, Singler 2007)"
          : text_of_independent_law(found.num_positions) + " (Fan, Cao, Almeida, Broder 2000, Summary Cache)";
  if (scheme.kind == PositionLaw::words) {
    candidate.summary =
        "a set; the fastest: one cache line per key in vector registers, for more memory or more false "
        "positives";
    candidate.source =
        "mixture over lines of the exact law of their words (after Putze, Sanders, Singler 2007)";
  }
  if (scheme.kind == PositionLaw::parts)
    candidate.source = "(1 - (1 - k/m)^n)^k (Kirsch, Mitzenmacher 2008, section 2)";
  if (scheme.kind == PositionLaw::partition_double)
    candidate.source = "exact at finite n (Kirsch, Mitzenmacher 2008, section 3)";
  return candidate;
}

/// The scheme of a blocked filter unless one is wanted: register-blocked, which is the fastest, unless the blocked scheme
/// meets the requirements in so much less memory that its speed is not worth it.
SearchLaw scheme_of_lines(const Wanted& wanted) {
  constexpr double most_memory_for_registers = 1.1;
  SearchLaw blocked = search_law(BlockedScheme::name);
  SearchLaw registers = search_law(RegisterBlockedScheme::name);
  if (!wanted.memory_bytes) {
    const auto small = least_positions(blocked.law, *wanted.num_keys, *wanted.ln_rate);
    const auto fast = least_positions(registers.law, *wanted.num_keys, *wanted.ln_rate);
    const bool is_worth_it =
        fast && (!small || static_cast<double>(fast->num_positions) <=
                               most_memory_for_registers * static_cast<double>(small->num_positions));
    return is_worth_it ? registers : blocked;
  }
  // What the blocked scheme achieves in the memory without the surplus.
  const std::uint64_t m = positions_in(*wanted.memory_bytes, 1);
  const auto small_m = static_cast<std::uint64_t>(static_cast<double>(m) / most_memory_for_registers);
  if (wanted.num_keys) {
    const auto small = best_hashes(blocked.law, *wanted.num_keys, small_m);
    const auto fast = best_hashes(registers.law, *wanted.num_keys, m);
    const auto rate = [&](const SearchLaw& scheme, const Solution& found) {
      return scheme.law.ln_rate(found.num_positions, found.num_hashes, *wanted.num_keys);
    };
    return !small || (fast && rate(registers, *fast) <= rate(blocked, *small)) ? registers : blocked;
  }
  const auto small = most_keys(blocked.law, small_m, *wanted.ln_rate);
  const auto fast = most_keys(registers.law, m, *wanted.ln_rate);
  return !small || (fast && fast->num_keys >= small->num_keys) ? registers : blocked;
}

std::string text_of_life(const Requirements& requirements) {
  return requirements.lifetime_operations == 0 ? "" : ", and the same per replacement";
}

Candidate counting(const Task& task) {
  const auto [shape, num_keys] =
      solve_counting(structure, counting_law(task.scheme.law), task.wanted, task.requirements, task.keys);
  Candidate candidate = describe(task, task.scheme, {shape, task.scheme.file_id}, num_keys, task.theta - 1);
  const std::uint64_t full = ~std::uint64_t{0} >> (64 - shape.counter_bits);
  const std::uint64_t num_replacements = operations_of(task.requirements, num_keys);
  add_saturation(candidate, expected_saturated(task.keys, num_keys, shape, full, num_replacements),
                 num_replacements);
  candidate.summary = "a multiset: keys can be removed and counted up to " + std::to_string(full);
  candidate.source = text_of_independent_law(shape.num_counters) +
                     "; saturation: m Pr(counter >= 2^bits - 1) (Fan, Cao, Almeida, Broder 2000)" +
                     text_of_life(task.requirements);
  return candidate;
}

Candidate blocked_counting(const Task& task) {
  const CountingLaw law = blocked_counting_law(task.theta);
  const auto [shape, num_keys] = solve_counting(structure, law, task.wanted, task.requirements, task.keys);
  // The formula for keys that were inserted theta - 1 times is a bound for all others.
  Task of_bound = task;
  of_bound.keys = {task.keys.num_keys, std::nullopt, nullptr};
  const SearchLaw scheme{BlockedScheme::file_id, PositionLaw::lines, law.of_width(shape.counter_bits)};
  Candidate candidate =
      describe(of_bound, scheme, {blocked_shape(shape), scheme.file_id}, num_keys, task.theta - 1);
  const std::uint64_t full = ~std::uint64_t{0} >> (64 - shape.counter_bits);
  const std::uint64_t num_replacements = operations_of(task.requirements, num_keys);
  add_saturation(candidate, expected_saturated_in_lines(task.keys, num_keys, shape, full, num_replacements),
                 num_replacements);
  candidate.summary = "a multiset: keys can be removed and counted up to " + std::to_string(full) +
                      "; one cache line per key, for more memory or more false positives than counting-bloom";
  candidate.source =
      "mixture over lines of the exact law of one line (after Putze, Sanders, Singler 2007); saturation: the "
      "union bound of a mixture over lines" +
      text_of_life(task.requirements);
  return candidate;
}

/// Replaces the rates of plain counters by those that are promised with conservative update, where they are lower.
void promise_conservative(const theory::CountHistogram& histogram, std::uint64_t theta,
                          Candidate& candidate) {
  const std::vector<double> rates = promised_conservative_rates(
      histogram, theta, candidate.shape.num_positions(), candidate.shape.num_hashes());
  if (rates.empty()) return;
  candidate.error_law = ErrorLaw::conservative;
  for (PredictedError& error : candidate.errors) {
    const double rate = rates[error.true_count];
    if (rate >= error.false_positive_rate) continue;
    error.false_positive_rate = rate;
    error.ln_false_positive_rate = std::log(rate);
  }
  candidate.false_positive_rate =
      std::min(candidate.false_positive_rate, rates[candidate.promised_true_count]);
}

Candidate threshold(const Task& task, std::uint64_t promised_true_count) {
  ThresholdShape shape{1, 1, task.theta, task.requirements.update.value_or(CounterUpdate::plain)};
  const std::uint64_t gap = task.theta - promised_true_count;
  Law law = task.scheme.law;
  Wanted wanted = task.wanted;
  if (gap > 1 && task.keys.histogram != nullptr)
    law = histogram_law(law, gap, promised_true_count, *task.keys.histogram);
  if (gap > 1 && task.keys.histogram == nullptr) {
    law = insertions_law(law, gap, promised_true_count, *task.keys.num_keys, *task.keys.num_insertions);
    wanted.num_keys = task.keys.num_insertions;
  }
  Solution found = solve(structure, law, wanted, counter_bits_for(shape));
  const bool is_conservative = task.keys.histogram != nullptr && shape.update == CounterUpdate::conservative;
  if (gap > 1 && is_conservative)
    found = improved_by_conservative_update(found, law, *task.keys.histogram, task.theta, promised_true_count,
                                            wanted, counter_bits_for(shape));
  if (gap > 1) found.num_keys = *task.keys.num_keys;
  shape.num_counters = found.num_positions;
  shape.num_hashes = found.num_hashes;
  Candidate candidate =
      describe(task, task.scheme, {shape, task.scheme.file_id}, found.num_keys, promised_true_count);
  if (is_conservative) promise_conservative(*task.keys.histogram, task.theta, candidate);
  if (gap == 1) {
    candidate.summary = "was the key inserted at least " + std::to_string(task.theta) +
                        " times? the false positive rate holds for every key inserted fewer times";
    candidate.source = text_of_independent_law(shape.num_counters) +
                       " with n distinct keys: every counter must be shared with another key (Fan et "
                       "al. 2000)";
  } else {
    candidate.summary = "was the key inserted at least " + std::to_string(task.theta) +
                        " times? the false positive rate holds only for keys that were never inserted";
    candidate.source =
        task.keys.repeat()
            ? "compound Poisson law of a counter (Panjer 1981) to the power k"
            : "Pr(Binomial(k n, 1/m) >= theta)^k, n insertions (Kim, Jeong, Lee, Lee 2019, equation 2)";
  }
  if (candidate.error_law == ErrorLaw::conservative)
    candidate.source +=
        "; conservative update: twice the predicted rate, for keys in random order (theory: "
        "conservative_update)";
  return candidate;
}

/// A rate for the last size becomes that of the first: with 2^d times the keys and as many fingerprints,
/// 1 - (1 - p)^(2^d).
Requirements of_first_size(const Requirements& requirements) {
  Requirements own = requirements;
  if (own.keeps_rate_when_doubled && own.false_positive_rate) {
    const double growth = std::ldexp(1.0, static_cast<int>(own.max_doublings.value_or(0)));
    own.false_positive_rate = -std::expm1(std::log1p(-*own.false_positive_rate) / growth);
  }
  return own;
}

Candidate dleft(const Task& task, const Requirements& own, const DLeftSolution& found) {
  const DLeftShape& shape = found.shape;
  Candidate candidate;
  candidate.shape = {shape, RotationBuckets::file_id};
  candidate.num_keys = found.num_keys;
  candidate.promised_true_count = task.theta - 1;
  candidate.error_law = task.keys.histogram != nullptr ? ErrorLaw::histogram : ErrorLaw::bound;
  // As for one hash with one position per fingerprint: a false positive needs keys with the same fingerprint whose
  // counts make up for what is missing.
  const Keys keys{found.num_keys, std::nullopt, task.keys.histogram};
  Law law;
  law.ln_rate = [&](std::uint64_t, std::uint32_t, std::uint64_t n) { return ln_dleft_rate(shape, n); };
  const auto num_fingerprints = static_cast<std::uint64_t>(shape.fingerprint_space().num_fingerprints());
  candidate.errors = predict_errors(law, keys, found.num_keys, num_fingerprints, 1, task.theta);
  candidate.false_positive_rate = candidate.errors.back().false_positive_rate;
  candidate.cache_lines = bucket_lines(shape);
  candidate.dleft = forecast_of(found, own);
  candidate.summary = "a multiset: keys can be removed and counted without a maximum; " +
                      std::to_string(shape.num_subtables) + " cache lines per key; can fill up";
  if (const DLeftSize& last = candidate.dleft->sizes.back(); last.num_doublings > 0) {
    candidate.summary += "; can double " + std::to_string(last.num_doublings) + " times, and then has " +
                         std::to_string(last.num_keys) + " keys in " + std::to_string(last.memory_bytes) +
                         " bytes and a false positive rate of " + short_number(last.false_positive_rate);
  }
  candidate.source =
      candidate.dleft->load > candidate.dleft->carried_load_without_moves
          ? "1 - (1 - 1/(B R))^n (Bonomi, Mitzenmacher, Panigrahy, Singh, Varghese 2006); the moves from a "
            "fluid limit"
          : "1 - (1 - 1/(B R))^n; the load from the fluid limit (Bonomi, Mitzenmacher, Panigrahy, Singh, "
            "Varghese 2006)";
  return candidate;
}

/// For a low rate or in a large memory most cells stay empty: half of the rate takes twice the memory, where a counting
/// Bloom filter takes a few bits more per key. And few keys are small beside the least side table. A table of digests is
/// practically exact, so it limits what is worth offering.
void require_fewer_bytes_than_a_table(const Task& task, const CompactSolution& found) {
  const bool with_counts = task.theta > 1 || removes_or_counts(task.requirements);
  const auto num_keys = static_cast<double>(found.num_keys);
  const auto bytes = static_cast<double>(num_bytes(found.shape));
  const double table_bytes = exact_table_bytes(found.num_keys, with_counts);
  if (bytes < table_bytes) return;
  throw std::invalid_argument("plan: it would use " +
                              short_number(100 * num_keys / static_cast<double>(found.shape.num_cells())) +
                              "% of its cells and take " + short_number(8 * bytes / num_keys) +
                              " bits per key; a hash table of the keys' digests takes " +
                              short_number(8 * table_bytes / num_keys) + " and is practically exact");
}

Candidate compact(const Task& task, const Requirements& requirements) {
  const CompactSolution found = solve_compact(structure, requirements);
  require_fewer_bytes_than_a_table(task, found);
  Candidate candidate;
  candidate.shape = {found.shape, RotationBuckets::file_id};
  candidate.num_keys = found.num_keys;
  candidate.promised_true_count = task.theta - 1;
  // As for one hash with one position per fingerprint.
  Law law;
  law.ln_rate = [&](std::uint64_t, std::uint32_t, std::uint64_t n) {
    return ln_compact_rate(found.shape, n);
  };
  candidate.errors =
      predict_errors(law, {found.num_keys, std::nullopt, nullptr}, found.num_keys,
                     static_cast<std::uint64_t>(found.shape.num_fingerprints()), 1, task.theta);
  candidate.false_positive_rate = candidate.errors.back().false_positive_rate;
  candidate.cache_lines = {2, 2, 2};
  candidate.summary =
      "a multiset of keys that hardly repeat: they can be removed and counted without a maximum; 2 cache "
      "lines "
      "per key; can fill up";
  candidate.source =
      "1 - (1 - 1/(B M R))^n (after Bonomi et al. 2006); the load at which 1% of insertions move a key";
  return candidate;
}

/// Whether `a` meets the requirements better than `b`.
bool is_better(const Candidate& a, const Candidate& b, const Wanted& wanted) {
  if (!wanted.memory_bytes) return a.shape.num_bytes() < b.shape.num_bytes();
  if (wanted.num_keys) return a.errors.back().ln_false_positive_rate < b.errors.back().ln_false_positive_rate;
  return a.num_keys > b.num_keys;
}

/// Whether a filter of two subtables costs little more than the best one.
bool is_close(const Candidate& of_two, const Candidate& best) {
  constexpr double most_for_fewer_lines = 1.25;
  constexpr double highest_rate_for_fewer_lines = 2;
  return static_cast<double>(of_two.shape.num_bytes()) <=
             most_for_fewer_lines * static_cast<double>(best.shape.num_bytes()) &&
         static_cast<double>(best.num_keys) <= most_for_fewer_lines * static_cast<double>(of_two.num_keys) &&
         of_two.false_positive_rate <= highest_rate_for_fewer_lines * best.false_positive_rate;
}

/// Whether the filter of two subtables comes first: out of the cache a key takes as long as the lines that it reads.
bool leads_with_two_subtables(const Candidate& of_two, const Candidate& best) {
  return static_cast<double>(of_two.shape.num_bytes()) > in_cache_bytes && is_close(of_two, best);
}

/// Whether a filter without vector loops is worth offering beside one with them, although it takes many times as long.
bool saves_memory(const DLeftSolution& slow, const DLeftSolution& fast) {
  constexpr double least_gain = 1.05;
  const auto bytes = [](const DLeftSolution& solution) {
    return static_cast<double>(num_bytes(solution.shape));
  };
  return bytes(fast) >= least_gain * bytes(slow);
}

/// The best filter that is planned as if nothing were moved, or one of two subtables that is close to it: without moves is for
/// those who pay for speed.
std::optional<Candidate> unmoved_dleft(const Task& task, const Requirements& requirements, DLeftLoops loops) {
  Requirements own = requirements;
  own.max_moves_per_insertion = 0;
  const auto best = find_dleft(structure, own, loops);
  if (!best) return std::nullopt;
  Candidate found = dleft(task, own, *best);
  if (own.num_subtables) return found;
  own.num_subtables = 2;
  if (const auto fewer = find_dleft(structure, own, loops)) {
    Candidate of_two = dleft(task, own, *fewer);
    if (is_close(of_two, found)) return of_two;
  }
  return found;
}

/// First the best d-left filter; if speed is preferred, the best one with vector loops, unless it takes too much
/// memory. Beside it, if keys are removed or counted, one that reads fewer cache lines, and one that is planned without
/// moves. Last the best one of all, if it is not the first. Throws std::invalid_argument if there is none.
std::vector<Candidate> dlefts(const Task& task, const Requirements& requirements,
                              std::vector<std::string>& warnings) {
  const Requirements own = of_first_size(task.requirements);
  const DLeftSolution best = solve_dleft(structure, own, DLeftLoops::any);
  const bool is_fast = has_vector_loops(best.shape);
  const DLeftLoops loops = requirements.prefers_speed ? DLeftLoops::vector : DLeftLoops::any;
  std::vector<Candidate> candidates;
  const auto fast = is_fast ? std::optional(best) : find_dleft(structure, own, loops);
  if (fast && is_worth_its_speed(*fast, best)) candidates.push_back(dleft(task, own, *fast));
  if (!candidates.empty() && removes_or_counts(requirements) && !own.num_subtables &&
      candidates.back().shape.num_hashes() > 2) {
    Requirements of_two = own;
    of_two.num_subtables = 2;
    if (const auto found = find_dleft(structure, of_two, loops)) {
      Candidate fewer_lines = dleft(task, of_two, *found);
      if (fewer_lines.cache_lines.lookup_absent < candidates.back().cache_lines.lookup_absent) {
        candidates.push_back(std::move(fewer_lines));
        if (leads_with_two_subtables(candidates[1], candidates[0])) std::swap(candidates[0], candidates[1]);
      }
    } else {
      warnings.emplace_back("dleft with 2 subtables is left out: no shape meets the requirements");
    }
  }
  if (!candidates.empty() && removes_or_counts(requirements) && own.max_moves_per_insertion != 0.0) {
    auto unmoved = unmoved_dleft(task, own, loops);
    const auto is_same = [&](const Candidate& other) { return other.shape == unmoved->shape; };
    if (unmoved && std::ranges::none_of(candidates, is_same)) candidates.push_back(std::move(*unmoved));
  }
  if (!is_fast && requirements.prefers_speed &&
      (!fast || requirements.memory_bytes || saves_memory(best, *fast)))
    candidates.push_back(dleft(task, own, best));
  return candidates;
}

/// Whether a d-left filter should be listed before another candidate. d-left filters stay in the order of dlefts().
bool comes_before(const Candidate& dleft, const Candidate& other, const Requirements& requirements,
                  const Wanted& wanted) {
  if (dleft.dleft && other.dleft) return false;
  if (requirements.prefers_speed && dleft.dleft && !dleft.dleft->has_fast_loops)
    return saturates_often(other);
  return is_better(dleft, other, wanted);
}

/// Leaves out structures that need so much more memory than another, which promises as much, that nobody would choose them.
void leave_out_giants(Plan& plan) {
  constexpr std::uint64_t most_times = 64;
  constexpr std::uint64_t never_a_giant = std::uint64_t{1} << 20;  // bytes
  const std::vector<Candidate> all = plan.candidates;
  std::erase_if(plan.candidates, [&](const Candidate& own) {
    const std::uint64_t num_bytes = own.shape.num_bytes();
    const auto smaller = std::ranges::find_if(all, [&](const Candidate& other) {
      return other.promised_true_count >= own.promised_true_count &&
             num_bytes / most_times > other.shape.num_bytes();
    });
    if (num_bytes <= never_a_giant || smaller == all.end()) return false;
    plan.warnings.push_back(own.name() + " is left out: it needs " +
                            std::to_string(num_bytes / smaller->shape.num_bytes()) + " times the memory of " +
                            smaller->name());
    return true;
  });
}

}  // namespace

std::string_view name_of(ErrorLaw law) noexcept {
  switch (law) {
    case ErrorLaw::bound:
      return "bound";
    case ErrorLaw::insertions:
      return "insertions";
    case ErrorLaw::histogram:
      return "histogram";
    case ErrorLaw::conservative:
      return "conservative";
  }
  return "";
}

Plan plan(const Requirements& requirements, std::span<const MeasuredFilter> figures) {
  detail::require_in_range(structure, "threshold", requirements.theta(), 1, max_threshold_limit);
  Keys keys{requirements.num_keys, requirements.num_insertions, nullptr};
  if (requirements.histogram) {
    if (keys.num_keys || keys.num_insertions) {
      throw std::invalid_argument(
          "plan: histogram and num_keys or num_insertions are given; leave num_keys and num_insertions out: "
          "the histogram contains them");
    }
    keys.histogram = &*requirements.histogram;
    keys.num_keys = num_keys_of(structure, *keys.histogram);
  }
  const Wanted wanted = check_wanted(structure, requirements, keys.num_keys);
  if (keys.num_insertions) {
    require_count(structure, "num_insertions", *keys.num_insertions, keys.num_keys.value_or(1),
                  max_num_positions);
    if (!keys.num_keys) {
      throw std::invalid_argument(
          "plan: num_insertions is given without num_keys; give num_keys instead of false_positive_rate or "
          "memory_bytes, or leave num_insertions out");
    }
  }
  const Task task(requirements, wanted, keys);
  const bool is_blocked = is_line_scheme(task.scheme.file_id);
  const bool no_plain_set = removes_or_counts(requirements);
  if (is_blocked && (requirements.theta() > 1 || no_plain_set)) {
    throw std::invalid_argument(
        "plan: scheme is '" + std::string(*requirements.scheme) +
        "', which only Bloom filters support; use another scheme for thresholds, counts and removals: "
        "blocked-counting-bloom is planned with every scheme");
  }

  Plan result;
  const auto one = [](Candidate candidate) { return std::vector<Candidate>{std::move(candidate)}; };
  using Maker = std::function<std::vector<Candidate>()>;
  std::vector<std::pair<FilterKind, Maker>> makers;
  if (!no_plain_set && task.theta == 1) {
    if (!is_blocked) makers.emplace_back(FilterKind::bloom, [&] { return one(bloom(task, task.scheme)); });
    makers.emplace_back(FilterKind::blocked_bloom, [&] {
      return one(bloom(task, is_blocked ? task.scheme : scheme_of_lines(task.wanted)));
    });
  }
  if (!no_plain_set && task.theta > 1) {
    makers.emplace_back(FilterKind::threshold, [&] { return one(threshold(task, task.theta - 1)); });
    const bool can_promise_less =
        keys.error_law() == ErrorLaw::insertions ||
        (keys.histogram != nullptr && task.theta <= 256 &&
         (keys.histogram->keys_beyond == 0 || task.theta <= keys.histogram->keys_with_count.size()));
    if (can_promise_less) makers.emplace_back(FilterKind::threshold, [&] { return one(threshold(task, 0)); });
  }
  if (!is_blocked) {
    makers.emplace_back(FilterKind::counting_bloom, [&] { return one(counting(task)); });
    if (no_plain_set)
      makers.emplace_back(FilterKind::blocked_counting_bloom, [&] { return one(blocked_counting(task)); });
    makers.emplace_back(FilterKind::dleft, [&] { return dlefts(task, requirements, result.warnings); });
    const bool can_be_compact = !requirements.keys_repeat && !requirements.histogram &&
                                requirements.max_doublings.value_or(0) == 0 &&
                                requirements.num_subtables.value_or(2) == 2;
    if (can_be_compact)
      makers.emplace_back(FilterKind::compact_dleft, [&] { return one(compact(task, task.requirements)); });
  }

  std::string first_failure;
  for (const auto& [kind, make] : makers) {
    try {
      std::ranges::move(make(), std::back_inserter(result.candidates));
    } catch (const std::invalid_argument& error) {
      if (first_failure.empty()) first_failure = error.what();
      result.warnings.push_back(std::string(name_of(kind)) + " is left out: " + error.what());
    }
  }
  if (result.candidates.empty()) throw std::invalid_argument(first_failure);
  if (wanted.num_keys && wanted.ln_rate) leave_out_giants(result);
  std::vector<Candidate>& candidates = result.candidates;
  if (may_lead_with_dleft(requirements)) {
    for (auto here = candidates.begin(); here != candidates.end(); ++here) {
      if (!traits_of(here->kind()).can_fill_up) continue;
      const auto worse = std::find_if(candidates.begin(), here, [&](const Candidate& other) {
        return comes_before(*here, other, requirements, task.wanted);
      });
      std::rotate(worse, here, here + 1);
    }
  }
  std::ranges::move(add_operation_costs(candidates, figures), std::back_inserter(result.warnings));
  order_by_preference(requirements, candidates);
  result.exact_table_bytes = exact_table_bytes(result.recommended().num_keys, task.theta > 1 || no_plain_set);
  result.reason = reason_for(requirements, result);
  std::vector<std::string> more = warnings_for(requirements, task.keys, result);
  std::move(more.begin(), more.end(), std::back_inserter(result.warnings));
  return result;
}

}  // namespace tally
