#include <cmath>
#include <string>

#include "planner/dleft_search.hpp"
#include "planner/predict.hpp"
#include "planner/preference.hpp"
#include "planner/saturation.hpp"
#include "tally/filters/spill_table.hpp"

namespace tally::planner_detail {
namespace {

/// "3.4% more memory": how much `other` takes, compared with `first`.
std::string memory_against(const Candidate& other, const Candidate& first) {
  return percent_more(static_cast<double>(other.shape.num_bytes()),
                      static_cast<double>(first.shape.num_bytes())) +
         " memory";
}

// A blocked filter that takes more than this many times the memory is not suggested.
constexpr double most_memory_for_one_line = 2;

bool is_slow(const Candidate& candidate) { return candidate.dleft && !candidate.dleft->has_fast_loops; }

std::string suggest_blocked(const Candidate& blocked, const Candidate& first) {
  std::string text = "; " + std::string(name_of(blocked.kind()));
  if (blocked.kind() == FilterKind::blocked_bloom)
    text += " with the scheme " + std::string(blocked.shape.scheme_name());
  text += " takes " + memory_against(blocked, first);
  if (static_cast<double>(blocked.shape.num_bytes()) >
      most_memory_for_one_line * static_cast<double>(first.shape.num_bytes()))
    return text + ", which is too much for touching only one cache line per key";
  return text + " and touches one cache line per key instead of " + short_number(first.cache_lines.insert) +
         ", which is better if the filter is larger than the cache and speed matters more";
}

const Candidate* find(const Plan& plan, FilterKind kind) {
  for (const Candidate& candidate : plan.candidates)
    if (candidate.kind() == kind) return &candidate;
  return nullptr;
}

/// What a blocked counting Bloom filter costs and gains, compared with a counting Bloom filter.
std::string suggest_blocked_counting(const Requirements& requirements, const Candidate& blocked,
                                     const Candidate* counting) {
  if (counting == nullptr)
    return "; " + std::string(name_of(blocked.kind())) + " " + achievement(requirements, blocked);
  if (!requirements.memory_bytes) {
    return "; blocked-counting-bloom takes " + memory_against(blocked, *counting) +
           " than counting-bloom, and touches one cache line per key instead of " +
           short_number(counting->cache_lines.insert);
  }
  return "; blocked-counting-bloom " + achievement(requirements, blocked) +
         ", and touches one cache line per key instead of " + short_number(counting->cache_lines.insert) +
         " of counting-bloom";
}

/// Why the best candidate is the best, if it is so in every respect.
std::string advantage(const Requirements& requirements) {
  if (!requirements.memory_bytes) return "it meets the requirements with the least memory";
  if (!requirements.false_positive_rate)
    return "it meets the requirements with the lowest false positive rate";
  return "it holds the most keys at this false positive rate";
}

/// Why a counting Bloom filter is recommended for keys that are removed or counted.
std::string why_not_dleft(const Requirements& requirements, const Plan& plan) {
  const Candidate& first = plan.recommended();
  const Candidate* const dleft = find(plan, FilterKind::dleft);
  if (dleft == nullptr) return "no dleft filter meets the requirements (see the notes)";
  std::string reason = "it " + achievement(requirements, first);
  if (is_slow(*dleft) && requirements.prefers_speed)
    return reason;  // the numbers of dleft follow, with its time
  reason += ", and dleft " + achievement(requirements, *dleft);
  const DLeftShape& shape = std::get<DLeftShape>(dleft->shape.shape);
  const std::uint64_t side_table = 16 * SpillTable::num_slots(shape.spill_capacity);
  if (2 * side_table > dleft->shape.num_bytes()) {
    reason += ", whose side table alone takes " +
              short_number(100.0 * static_cast<double>(side_table) /
                           static_cast<double>(dleft->shape.num_bytes())) +
              "% of the memory";
  } else if (dleft->dleft->load < 0.5 * dleft->dleft->carried_load) {
    reason += ", whose remainders of " + std::to_string(shape.remainder_bits) +
              " bits have so low a false positive rate only if most cells are empty";
  } else if (!requirements.memory_bytes) {
    reason += ", whose cells have " +
              std::string(requirements.prefers_speed ? "16 bits" : "at least 8 bits") +
              " even if a higher false positive rate is allowed";
  }
  return reason;
}

/// Why a compact d-left filter is recommended.
std::string why_compact(const Requirements& requirements, const Plan& plan) {
  std::string reason = "it " + achievement(requirements, plan.recommended());
  for (const FilterKind kind : {FilterKind::dleft, FilterKind::counting_bloom}) {
    if (const Candidate* const other = find(plan, kind))
      reason += ", and " + std::string(name_of(kind)) + " " + achievement(requirements, *other);
  }
  return reason +
         "; but counting-bloom never fills up, and dleft can grow and holds keys that repeat in one cell "
         "each";
}

std::string why_dleft(const Requirements& requirements, const Plan& plan) {
  const Candidate& first = plan.recommended();
  std::string reason = "it " + achievement(requirements, first);
  for (const Candidate& other : plan.candidates) {
    if (other.kind() == FilterKind::dleft || other.kind() == FilterKind::blocked_counting_bloom) continue;
    if (other.promised_true_count + 1 != requirements.theta()) continue;
    reason += ", and " + std::string(name_of(other.kind())) + " " + achievement(requirements, other);
    if (saturates_often(other)) {
      reason += ", whose counters of " + std::to_string(other.shape.counter_bits()) +
                " bits are likely to saturate" +
                (requirements.histogram || requirements.num_insertions ? " because some keys are so frequent"
                                                                       : " in the planned life");
    }
  }
  reason += "; but those never fill up";
  if (first.dleft->expected_spills >= 1) {
    reason += "; its side table has room for the " + short_number(first.dleft->expected_spills) +
              " fingerprints that " + (requirements.histogram ? "will" : "may") +
              " have a higher count than a cell can hold";
  }
  if (is_slow(first)) reason += "; its " + price_of_slow_cells(first);
  for (const Candidate& other : plan.candidates) {
    if (other.kind() != FilterKind::dleft || &other == &first || is_slow(other)) continue;
    if (other.dleft->max_moves_per_insertion == 0) {
      reason += "; of the insertions into the full filter " +
                short_number(100 * first.dleft->moves_per_insertion) +
                "% move another key; planned without moves it " + achievement(requirements, other);
      continue;
    }
    if (other.shape.num_hashes() == first.shape.num_hashes()) continue;
    const bool is_larger_than_cache = other.cache_lines.lookup_absent > first.cache_lines.lookup_absent &&
                                      static_cast<double>(first.shape.num_bytes()) > in_cache_bytes;
    reason += std::string(is_larger_than_cache ? "; it is larger than most caches" : "") + "; with " +
              std::to_string(other.shape.num_hashes()) + " subtables instead of " +
              std::to_string(first.shape.num_hashes()) + " a lookup reads " +
              short_number(other.cache_lines.lookup_absent) + " cache lines instead of " +
              short_number(first.cache_lines.lookup_absent) + ", and it " + achievement(requirements, other);
  }
  return reason;
}

std::string limit_of_counts(const Requirements& requirements, const Candidate& first) {
  if (!requirements.needs_counts || !is_counting_bloom(first.kind())) return "";
  return "; its counters saturate at " +
         std::to_string(~std::uint64_t{0} >> (64 - first.shape.counter_bits())) +
         ": for higher counts, give the highest one as the threshold";
}

}  // namespace

std::string achievement(const Requirements& requirements, const Candidate& candidate) {
  if (!requirements.memory_bytes) return "takes " + short_number(candidate.bits_per_key()) + " bits per key";
  if (!requirements.false_positive_rate)
    return "has a false positive rate of " + short_number(candidate.errors.back().false_positive_rate);
  return "holds " + short_number(static_cast<double>(candidate.num_keys)) + " keys";
}

/// The time that a d-left filter without vector loops costs, from benchmarks/bench_structures (docs/benchmarks.md).
std::string price_of_slow_cells(const Candidate& slow) {
  const DLeftShape& shape = std::get<DLeftShape>(slow.shape.shape);
  return "cells of " + std::to_string(shape.cell_bits()) +
         " bits have no vector loops: an insertion takes 0.1 to 0.5 us, which is 5 to 20 times as long as "
         "with cells of 16 bits";
}

std::string reason_for(const Requirements& requirements, const Plan& plan) {
  const Candidate& first = plan.recommended();
  if (requirements.preference)
    return reason_for_preference(requirements, plan) + limit_of_counts(requirements, first);
  std::string reason;
  if (removes_or_counts(requirements)) {
    reason = requirements.needs_deletes ? "keys will be removed" : "keys will be counted";
    reason += ", and " + (first.kind() == FilterKind::dleft           ? why_dleft(requirements, plan)
                          : first.kind() == FilterKind::compact_dleft ? why_compact(requirements, plan)
                                                                      : why_not_dleft(requirements, plan));
    reason += limit_of_counts(requirements, first);
  } else if (first.kind() == FilterKind::dleft) {
    reason = why_dleft(requirements, plan);
  } else if (first.kind() == FilterKind::compact_dleft) {
    reason = why_compact(requirements, plan);
  } else if (first.kind() == FilterKind::threshold && first.promised_true_count + 1 == requirements.theta()) {
    reason =
        "its counters are just wide enough for the threshold, and its false positive rate holds for every "
        "key that was inserted fewer times, however unevenly keys repeat";
  } else {
    reason = advantage(requirements);
  }
  for (const Candidate& other : plan.candidates) {
    if (&other == &first) continue;
    if (other.kind() == FilterKind::blocked_bloom && !requirements.memory_bytes) {
      reason += suggest_blocked(other, first);
    } else if (other.kind() == FilterKind::blocked_counting_bloom) {
      reason += suggest_blocked_counting(requirements, other, find(plan, FilterKind::counting_bloom));
    } else if (other.kind() == FilterKind::blocked_bloom) {
      reason += "; blocked-bloom touches one cache line per key instead of " +
                short_number(first.cache_lines.insert);
    } else if (other.kind() == FilterKind::threshold &&
               other.promised_true_count + 1 < requirements.theta() && !requirements.memory_bytes) {
      reason +=
          "; if only keys that were never inserted matter, " + memory_against(other, first) + " is enough";
    } else if (is_slow(other) && (requirements.prefers_speed || !removes_or_counts(requirements))) {
      reason += "; dleft with cells of any width " + achievement(requirements, other) + ", but its " +
                price_of_slow_cells(other);
    } else if (is_slow(other)) {
      reason += "; its " + price_of_slow_cells(other);
    } else if (other.kind() == FilterKind::dleft && !removes_or_counts(requirements)) {
      reason += "; it " + achievement(requirements, first) +
                ", and dleft, which also supports removal and counts, " + achievement(requirements, other);
      if (requirements.theta() > 1 && !requirements.histogram &&
          requirements.num_frequent_keys.value_or(0) == 0)
        reason += " if hardly any key is in the filter more than 4 times at once";
    }
  }
  return reason;
}

}  // namespace tally::planner_detail
