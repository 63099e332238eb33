#include <cmath>
#include <string>

#include "planner/predict.hpp"
#include "tally/filters/spill_table.hpp"

namespace tally::planner_detail {
namespace {

/// What the plan was to make the best of: "takes 16.9 bits a key", "errs with 0.00113" or "holds 1.2e+06
/// keys".
std::string achievement(const Requirements& requirements, const Candidate& candidate) {
  if (requirements.memory_bytes == 0) return "takes " + short_number(candidate.bits_per_key) + " bits a key";
  if (requirements.false_positive_rate == 0)
    return "errs with " + short_number(candidate.errors.back().false_positive_rate);
  return "holds " + short_number(static_cast<double>(candidate.num_keys)) + " keys";
}

std::string memory_against(const Candidate& other, const Candidate& first) {
  const double percent =
      100 * (static_cast<double>(other.memory_bytes) / static_cast<double>(first.memory_bytes) - 1);
  return short_number(std::abs(percent)) + "% " + (percent < 0 ? "less" : "more") + " memory";
}

// A blocked Bloom filter that takes more than this many times the memory is no alternative.
constexpr double most_memory_for_one_line = 2;

/// What a d-left filter without vector loops costs: benchmarks/bench_dleft, docs/benchmarks.md.
std::string price_of(const Candidate& slow) {
  const DLeftShape& shape = std::get<DLeftShape>(slow.shape);
  return "cells of " + std::to_string(shape.cell_bits()) +
         " bits have no vector loops: an insertion takes 0.1 to 0.5 us, with cells of 16 bits a fifth to a "
         "twentieth of that";
}

bool is_slow(const Candidate& candidate) { return candidate.dleft && !candidate.dleft->has_fast_loops; }

std::string suggest_blocked(const Candidate& blocked, const Candidate& first) {
  std::string text = "; blocked-bloom takes " + memory_against(blocked, first);
  if (static_cast<double>(blocked.memory_bytes) >
      most_memory_for_one_line * static_cast<double>(first.memory_bytes))
    return text + ", too much for what one line a key saves";
  return text + " and touches one line a key instead of " + short_number(first.cache_lines.insert) +
         ": better where the filter is larger than the cache and speed matters more";
}

const Candidate* find(const Plan& plan, std::string_view kind) {
  for (const Candidate& candidate : plan.candidates)
    if (candidate.kind == kind) return &candidate;
  return nullptr;
}

/// Why a counting Bloom filter, where keys are removed or counted.
std::string why_not_dleft(const Requirements& requirements, const Plan& plan) {
  const Candidate& first = plan.recommended();
  const Candidate* const dleft = find(plan, "dleft");
  if (dleft == nullptr) return "dleft, the other, cannot be made for this (see the notes)";
  std::string reason = "it " + achievement(requirements, first);
  if (is_slow(*dleft) && requirements.prefers_speed) return reason;  // its numbers come with its price
  reason += ", and dleft " + achievement(requirements, *dleft);
  const DLeftShape& shape = std::get<DLeftShape>(dleft->shape);
  const std::uint64_t side_table = 16 * SpillTable::num_slots(shape.spill_capacity);
  if (2 * side_table > dleft->memory_bytes) {
    reason +=
        ", of whose memory the side table is " +
        short_number(100.0 * static_cast<double>(side_table) / static_cast<double>(dleft->memory_bytes)) +
        "%";
  } else if (dleft->dleft->load < 0.5 * dleft->dleft->carried_load) {
    reason += ", whose remainders of " + std::to_string(shape.remainder_bits) +
              " bits keep so low an error only where most cells are empty";
  } else if (requirements.memory_bytes == 0) {
    reason += ", whose cells have " +
              std::string(requirements.prefers_speed ? "16 bits" : "at least 8 bits") +
              ", however high an error is allowed";
  }
  return reason;
}

std::string why_dleft(const Requirements& requirements, const Plan& plan) {
  const Candidate& first = plan.recommended();
  std::string reason = "it " + achievement(requirements, first);
  for (const Candidate& other : plan.candidates) {
    if (other.kind == "dleft" || other.promised_true_count + 1 != requirements.threshold) continue;
    reason += ", and " + std::string(other.kind) + " " + achievement(requirements, other);
    if (saturates_often(other)) {
      reason += ", whose counters of " + std::to_string(other.counter_bits) +
                " bits saturate under keys that are so frequent";
    }
  }
  reason += "; but those are never full";
  if (first.dleft->expected_spills >= 1) {
    reason += "; its side table is for the " + short_number(first.dleft->expected_spills) +
              " fingerprints that " + (requirements.histogram ? "will" : "may") +
              " be in it oftener than a cell counts";
  }
  if (is_slow(first)) reason += "; its " + price_of(first);
  for (const Candidate& other : plan.candidates) {
    if (other.kind != "dleft" || &other == &first || is_slow(other)) continue;
    reason += "; with " + std::to_string(other.num_hashes) + " subtables instead of " +
              std::to_string(first.num_hashes) + " a lookup reads " +
              short_number(other.cache_lines.lookup_absent) + " lines instead of " +
              short_number(first.cache_lines.lookup_absent) + ", and it " + achievement(requirements, other);
  }
  return reason;
}

}  // namespace

std::string reason_for(const Requirements& requirements, const Plan& plan) {
  const Candidate& first = plan.recommended();
  const bool removes_or_counts = requirements.needs_deletes || requirements.needs_counts;
  std::string reason;
  if (removes_or_counts) {
    reason = requirements.needs_deletes ? "keys must be removable" : "keys must be counted";
    reason += ", and " +
              (first.kind == "dleft" ? why_dleft(requirements, plan) : why_not_dleft(requirements, plan));
    if (requirements.needs_counts && first.kind == "counting-bloom") {
      reason += "; its counters stop at " + std::to_string(~std::uint64_t{0} >> (64 - first.counter_bits)) +
                ": where counts must go farther, say how far by a threshold";
    }
  } else if (first.kind == "dleft") {
    reason = why_dleft(requirements, plan);
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
      reason += suggest_blocked(other, first);
    } else if (other.kind == "blocked-bloom") {
      reason += "; blocked-bloom touches one line a key instead of " + short_number(first.cache_lines.insert);
    } else if (other.kind == "threshold" && other.promised_true_count + 1 < requirements.threshold &&
               requirements.memory_bytes == 0) {
      reason += "; if only keys never inserted matter, " + memory_against(other, first) + " will do";
    } else if (is_slow(other) && (requirements.prefers_speed || !removes_or_counts)) {
      reason += "; dleft of any cells " + achievement(requirements, other) + ", but " + price_of(other);
    } else if (is_slow(other)) {
      reason += "; its " + price_of(other);
    } else if (other.kind == "dleft" && !removes_or_counts) {
      reason += "; it " + achievement(requirements, first) + ", and dleft, which also removes and counts, " +
                achievement(requirements, other);
      if (requirements.threshold > 1 && !requirements.histogram && requirements.num_frequent_keys == 0)
        reason += ", if hardly any key is in it more than 4 times at once";
    }
  }
  return reason;
}

}  // namespace tally::planner_detail
