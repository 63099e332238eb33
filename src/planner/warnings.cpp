#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "planner/dleft_requirements.hpp"
#include "planner/predict.hpp"
#include "planner/saturation.hpp"
#include "planner/search.hpp"
#include "tally/hashing/scheme_list.hpp"
#include "tally/planner/plan_dleft.hpp"
#include "tally/planner/scheme_law.hpp"

namespace tally::planner_detail {
namespace {

constexpr double simple_formula_tolerance = 0.10;
constexpr double saturation_worth_a_warning = 1e-3;
constexpr double share_worth_a_warning = 1e-9;

using Warnings = std::vector<std::string>;

void warn_of_multiplicities(Warnings& warnings, const Requirements& requirements, const Keys& keys,
                            const Candidate& first) {
  const std::uint64_t theta = requirements.theta();
  if (theta == 1) return;
  if (first.error_law == ErrorLaw::conservative) {
    warnings.push_back(
        "the false positive rates of threshold filters are for keys that come in random order, and counters "
        "with "
        "conservative update; if all insertions of a key come together, they may be as high as with plain "
        "update");
    return;
  }
  if (requirements.update == CounterUpdate::conservative)
    warnings.push_back("the rates are the bound of plain counters, which conservative update never exceeds" +
                       std::string(requirements.histogram ? "; above a threshold of 16 nothing lower is known"
                                                          : ": how keys repeat is not known"));
  if (keys.error_law() == ErrorLaw::bound) {
    warnings.push_back(
        "it is unknown how often keys repeat, so the false positive rates for true counts below " +
        std::to_string(theta - 1) +
        " are only upper bounds; give a histogram, a sample or the number of insertions");
    return;
  }
  if (keys.error_law() == ErrorLaw::insertions) {
    warnings.push_back("the false positive rates for true counts below " + std::to_string(theta - 1) +
                       " assume that all keys are inserted about equally often; if they are not, give a "
                       "histogram or a sample");
    return;
  }
  const double simple = first.simple_threshold_rate.value_or(0);
  const double compound = first.errors.front().false_positive_rate;
  if (std::fabs(simple - compound) <= simple_formula_tolerance * compound) return;
  warnings.push_back(
      "the simple threshold formula does not hold for this data, because keys repeat unevenly: for a key "
      "that was never inserted, it gives a false positive rate of " +
      short_number(simple) + " instead of " + short_number(compound) + " (compound Poisson)");
}

void warn_of_side_table(Warnings& warnings, const Requirements& requirements, const Candidate& first) {
  if (first.kind() != FilterKind::dleft || !requirements.keys_repeat) return;
  if (requirements.histogram || requirements.num_insertions) return;
  if (requirements.num_frequent_keys.value_or(0) != 0) return;
  const DLeftShape& shape = std::get<DLeftShape>(first.shape.shape);
  const std::string most = std::to_string(dleft_common_key_count);
  warnings.push_back(
      "the plan assumes that every key is in the filter at most " + most +
      " times at once, and the side table has " + std::to_string(shape.spill_capacity) +
      " entries for fingerprints that such keys share; every key that is in the filter more than " + most +
      " times at once also takes an entry, and when all entries are in use, the filter is full: give the "
      "number of such keys, or a histogram or a sample of the counts; if no key is ever in the filter twice "
      "at once, say so: the filter may then be smaller");
}

void warn_of_saturation(Warnings& warnings, const Requirements& requirements, const Candidate& first) {
  const double share = first.expected_saturated_counters / static_cast<double>(first.shape.num_positions());
  if (first.saturation_probability <= saturation_worth_a_warning || share <= share_worth_a_warning) return;
  std::string text = "the probability that any counter saturates is at most " +
                     short_number(first.saturation_probability) + ", and at most " +
                     short_number(first.expected_saturated_counters) + " are expected";
  if (requirements.needs_deletes || requirements.lifetime_operations)
    text += " after " + std::to_string(operations_of(requirements, first.num_keys)) + " replacements";
  text += "; a saturated counter stays at its maximum: no key is lost, but its keys can no longer be removed";
  if (requirements.false_positive_rate &&
      first.false_positive_rate > 1.01 * *requirements.false_positive_rate) {
    text += ", and for them the false positive rate rises to " + short_number(first.false_positive_rate) +
            ": give a larger counter_bits";
  }
  warnings.push_back(text);
}

/// Small filters of a double hashing scheme are counted. Of larger ones only the limit is known.
bool has_only_a_limit(const Candidate& candidate) {
  return tally::double_hashing_of(candidate.shape.scheme_id) && !traits_of(candidate.kind()).can_fill_up &&
         false_positive_law(candidate.shape, candidate.num_keys, counted_steps).kind == LawKind::limit;
}

}  // namespace

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

std::string percent_more(double value, double reference) {
  const double percent = 100 * (value / reference - 1);
  return short_number(std::abs(percent)) + "% " + (percent < 0 ? "less" : "more");
}

std::vector<std::string> warnings_for(const Requirements& requirements, const Keys& keys, const Plan& plan) {
  Warnings warnings;
  const Candidate& first = plan.recommended();
  // Shared counters do not concern a d-left filter; the warning is about the best of the other candidates.
  for (const Candidate& candidate : plan.candidates) {
    if (traits_of(candidate.kind()).can_fill_up) continue;
    warn_of_multiplicities(warnings, requirements, keys, candidate);
    break;
  }
  warn_of_side_table(warnings, requirements, first);
  if (static_cast<double>(first.shape.num_bytes()) >= plan.exact_table_bytes) {
    warnings.push_back("a hash table of the keys' 128-bit digests takes about " +
                       short_number(plan.exact_table_bytes) +
                       " bytes, no more than this filter, and is practically exact: use a hash table");
  }
  const double same_digest = static_cast<double>(first.num_keys) * 0x1p-128;
  if (same_digest > 0.01 * first.false_positive_rate) {
    warnings.push_back("keys are hashed to 128 bits: another key has the same digest with probability " +
                       short_number(same_digest) + ", so no filter can have a lower false positive rate");
  }
  warn_of_saturation(warnings, requirements, first);
  if (!requirements.false_positive_rate && first.false_positive_rate > 0.5) {
    warnings.push_back(
        "the memory is too small for this number of keys: the false positive rate would be above 50%");
  }
  if (first.shape.num_hashes() == max_num_hashes) {
    warnings.push_back(
        "num_hashes is at its limit, 1024; with more hashes, the filter would take less memory or have a "
        "lower false positive rate");
  }
  if (has_only_a_limit(first)) {
    warnings.push_back(
        "scheme '" + std::string(first.shape.scheme_name()) +
        "' has a higher false positive rate in a small filter than the standard formula (Kirsch, "
        "Mitzenmacher 2008, Figure 1); the rate is an expansion, which is right but for terms of "
        "the second order in 1/m");
  }
  return warnings;
}

}  // namespace tally::planner_detail
