#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "planner/predict.hpp"
#include "tally/theory/bloom.hpp"

namespace tally::planner_detail {
namespace {

constexpr double simple_formula_tolerance = 0.10;
constexpr double small_filter_tolerance = 0.01;
constexpr double saturation_worth_a_warning = 1e-3;
constexpr double occupancy_steps = 1 << 20;

using Warnings = std::vector<std::string>;

void warn_of_multiplicities(Warnings& warnings, const Requirements& requirements, const Keys& keys,
                            const Candidate& first) {
  const std::uint64_t theta = requirements.threshold;
  if (theta == 1) return;
  if (keys.error_law() == ErrorLaw::bound) {
    warnings.push_back("nothing is known of how often keys repeat, so the errors for true counts below " +
                       std::to_string(theta - 1) +
                       " are only bounded; give a histogram, a sample or the number of insertions");
    return;
  }
  if (keys.error_law() == ErrorLaw::insertions) {
    warnings.push_back(
        "the errors for true counts below " + std::to_string(theta - 1) +
        " assume that keys are inserted about equally often; give a histogram or a sample if they are not");
    return;
  }
  const double simple = first.simple_threshold_rate.value_or(0);
  const double compound = first.errors.front().false_positive_rate;
  if (std::fabs(simple - compound) <= simple_formula_tolerance * compound) return;
  warnings.push_back(
      "the simple threshold formula does not hold for this data: keys repeat unevenly, and for a key never "
      "inserted it gives " +
      short_number(simple) + " in place of " + short_number(compound) + " (compound Poisson)");
}

void warn_of_side_table(Warnings& warnings, const Requirements& requirements, const Candidate& first) {
  if (first.kind != "dleft" || requirements.histogram || !requirements.keys_repeat) return;
  if (requirements.num_frequent_keys != 0) return;
  const DLeftShape& shape = std::get<DLeftShape>(first.shape);
  const std::string most = std::to_string(dleft_common_key_count);
  warnings.push_back(
      "every key is taken to be in it up to " + most + " times at once, and the side table has room for " +
      std::to_string(shape.spill_capacity) +
      " fingerprints that are shared by such keys; one that is in it more than " + most +
      " times takes an entry there, and when they are used up, a dleft filter is full: say how "
      "many such keys there will be, or give a histogram or a sample of the counts; if no key is "
      "in it twice, say so, and it may be smaller");
}

void warn_of_small_filter(Warnings& warnings, const Candidate& first) {
  if (first.kind == "blocked-bloom" || first.kind == "dleft" || first.scheme == "partitioned" ||
      first.scheme == "partition-double")
    return;
  const double k = first.num_hashes;
  if (k * k * static_cast<double>(first.num_keys) > occupancy_steps) return;
  const double formula = first.errors.back().ln_false_positive_rate;
  const double exact =
      theory::ln_false_positive_probability_occupancy(first.num_positions, first.num_hashes, first.num_keys);
  const double above = std::expm1(exact - formula);
  if (above <= small_filter_tolerance) return;
  warnings.push_back("a filter as small as this one is wrong " + short_number(100 * above) +
                     "% more often than the formula says (" + short_number(std::exp(exact)) +
                     " by the exact law of occupied positions)");
}

}  // namespace

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

std::vector<std::string> warnings_for(const Requirements& requirements, const Keys& keys, const Plan& plan) {
  Warnings warnings;
  const Candidate& first = plan.recommended();
  // What counters share is no matter to a d-left filter, but the next best is told of.
  for (const Candidate& candidate : plan.candidates) {
    if (candidate.kind == "dleft") continue;
    warn_of_multiplicities(warnings, requirements, keys, candidate);
    break;
  }
  warn_of_side_table(warnings, requirements, first);
  warn_of_small_filter(warnings, first);
  if (static_cast<double>(first.memory_bytes) >= plan.exact_table_bytes) {
    warnings.push_back("a hash table of the keys' 128-bit digests takes about " +
                       short_number(plan.exact_table_bytes) +
                       " bytes, no more than this filter, and is practically exact: use that");
  }
  const double same_digest = static_cast<double>(first.num_keys) * 0x1p-128;
  if (same_digest > 0.01 * first.false_positive_rate) {
    warnings.push_back("keys are hashed to 128 bits: some other key has the same digest with probability " +
                       short_number(same_digest) + ", and no shape goes below that");
  }
  if (first.saturation_probability > saturation_worth_a_warning) {
    warnings.push_back("some counter saturates with probability up to " +
                       short_number(first.saturation_probability) +
                       "; it then sticks: nothing is lost, but its keys never clear");
  }
  if (requirements.false_positive_rate == 0 && first.false_positive_rate > 0.5) {
    warnings.push_back("the memory is too small for so many keys: most keys would pass");
  }
  if (first.num_hashes == max_num_hashes) {
    warnings.push_back("num_hashes is at its limit, 1024; the memory could be smaller at the same error");
  }
  if (first.scheme.find("double") != std::string_view::npos || first.scheme == "triple") {
    if (first.scheme != "partition-double") {
      warnings.push_back(
          "scheme '" + std::string(first.scheme) +
          "' follows the standard formula only in the limit: a small filter is wrong more often "
          "(Kirsch, Mitzenmacher 2008, Figure 1)");
    }
  }
  return warnings;
}

}  // namespace tally::planner_detail
