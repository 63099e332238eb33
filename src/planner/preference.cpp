#include "planner/preference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "planner/predict.hpp"
#include "planner/saturation.hpp"

namespace tally {

std::string_view name_of(PlanPreference preference) noexcept {
  switch (preference) {
    case PlanPreference::fastest:
      return "fastest";
    case PlanPreference::smallest:
      return "smallest";
    case PlanPreference::balanced:
      return "balanced";
  }
  return "";
}

std::string Candidate::name() const {
  std::string text(name_of(kind()));
  if (const auto* dleft_shape = std::get_if<DLeftShape>(&shape.shape)) {
    text += " " + std::to_string(dleft_shape->num_subtables) + " x " +
            std::to_string(dleft_shape->cells_per_bucket);
    if (dleft && dleft->max_moves_per_insertion == 0) text += " without moves";
  }
  return text;
}

namespace planner_detail {
namespace {

double time_of(const Requirements& requirements, const Candidate& candidate) {
  return candidate.operation_costs.total_ns(requirements.needs_deletes);
}

/// What the plan makes least of: bytes for the keys at the rate; or, in a given memory, what is proportional to the bytes
/// that as many keys would need at the same rate, because the memory of a filter grows with the logarithm of 1 / rate.
double space_of(const Requirements& requirements, const Candidate& candidate) {
  if (!requirements.memory_bytes) return static_cast<double>(candidate.shape.num_bytes());
  if (requirements.false_positive_rate) return 1 / static_cast<double>(candidate.num_keys);
  const double ln_rate = candidate.errors.back().ln_false_positive_rate;
  return ln_rate < 0 ? -1 / ln_rate : std::numeric_limits<double>::infinity();
}

double measure(const Requirements& requirements, PlanPreference preference, const Candidate& candidate) {
  switch (preference) {
    case PlanPreference::fastest:
      return time_of(requirements, candidate);
    case PlanPreference::smallest:
      return space_of(requirements, candidate);
    case PlanPreference::balanced:
      break;
  }
  return time_of(requirements, candidate) * space_of(requirements, candidate);
}

/// Why the candidate may not be recommended as long as others may; empty if it may.
std::string objection_to(const Requirements& requirements, const Candidate& candidate) {
  if (traits_of(candidate.kind()).can_fill_up && !may_lead_with_dleft(requirements)) return "it can fill up";
  if (saturates_often(candidate)) return "its counters are likely to saturate";
  if (candidate.promised_true_count + 1 != requirements.theta())
    return "its false positive rate holds only for keys that were inserted less often";
  return "";
}

void check_time(const char* field, double ns) {
  if (std::isfinite(ns) && ns > 0) return;
  throw std::invalid_argument("plan: " + std::string(field) + " of a figure is " + short_number(ns) +
                              "; must be above 0");
}

void check_figure(const MeasuredFilter& figure) {
  check_time("insert_ns", figure.costs.insert_ns);
  check_time("lookup_absent_ns", figure.costs.lookup_absent_ns);
  check_time("lookup_present_ns", figure.costs.lookup_present_ns);
  check_time("line_read_ns", figure.costs.line_read_ns);
  if (figure.costs.remove_ns) check_time("remove_ns", *figure.costs.remove_ns);
  if (!figure.costs.remove_ns && traits_of(figure.shape.kind()).can_remove) {
    throw std::invalid_argument("plan: remove_ns of a figure is missing; must be given for " +
                                std::string(name_of(figure.shape.kind())) + ", which can remove");
  }
}

/// The table in line reads of the figure whose memory is nearest.
OperationCosts carried_over(const FilterShape& shape, std::span<const MeasuredFilter> figures) {
  OperationCosts costs = operation_costs(shape);
  const auto distance = [&](const MeasuredFilter& figure) {
    return std::abs(
        std::log(static_cast<double>(figure.shape.num_bytes()) / static_cast<double>(shape.num_bytes())));
  };
  const double factor =
      std::ranges::min_element(figures, {}, distance)->costs.line_read_ns / costs.line_read_ns;
  costs.insert_ns *= factor;
  costs.lookup_absent_ns *= factor;
  costs.lookup_present_ns *= factor;
  if (costs.remove_ns) *costs.remove_ns *= factor;
  costs.line_read_ns *= factor;
  costs.source = CostSource::carried_over;
  return costs;
}

/// What the moves of a full d-left filter cost.
void add_moves(Candidate& candidate) {
  constexpr double line_reads_per_move = 45;  // docs/benchmarks.md
  OperationCosts& costs = candidate.operation_costs;
  if (candidate.dleft)
    costs.insert_ns += candidate.dleft->moves_per_insertion * line_reads_per_move * costs.line_read_ns;
}

std::string timed_operations(const Requirements& requirements) {
  return requirements.needs_deletes ? "a lookup, an insertion and a removal" : "a lookup and an insertion";
}

std::string ns_text(double ns) { return short_number(ns) + " ns"; }

/// "takes the least memory"
std::string least_space(const Requirements& requirements) {
  if (!requirements.memory_bytes) return "takes the least memory";
  return requirements.false_positive_rate ? "holds the most keys" : "has the lowest false positive rate";
}

/// "it takes 46% more memory than compact-dleft, which takes 12.6 bits per key"
std::string price_in_space(const Requirements& requirements, const Candidate& first, const Candidate& best) {
  if (requirements.memory_bytes) {
    return "it " + achievement(requirements, first) + ", and " + best.name() + " " +
           achievement(requirements, best);
  }
  return "it takes " + percent_more(space_of(requirements, first), space_of(requirements, best)) +
         " memory than " + best.name() + ", which takes " + short_number(best.bits_per_key()) +
         " bits per key";
}

}  // namespace

bool may_lead_with_dleft(const Requirements& requirements) {
  if (removes_or_counts(requirements)) return true;
  return requirements.theta() > 1 &&
         (requirements.histogram || requirements.num_frequent_keys.value_or(0) != 0);
}

std::vector<std::string> add_operation_costs(std::vector<Candidate>& candidates,
                                             std::span<const MeasuredFilter> figures) {
  std::vector<std::string> warnings;
  std::ranges::for_each(figures, check_figure);
  for (Candidate& candidate : candidates) {
    const auto is_own = [&](const MeasuredFilter& figure) { return figure.shape == candidate.shape; };
    const auto own = std::ranges::find_if(figures, is_own);
    if (own != figures.end()) {
      if (std::ranges::count_if(figures, is_own) > 1) {
        throw std::invalid_argument("plan: there are two figures for " + candidate.name() +
                                    "; give one for each shape");
      }
      candidate.operation_costs = own->costs;
      candidate.operation_costs.source = CostSource::figures;
    } else if (figures.empty()) {
      candidate.operation_costs = operation_costs(candidate.shape);
      add_moves(candidate);
    } else {
      candidate.operation_costs = carried_over(candidate.shape, figures);
      add_moves(candidate);
      warnings.push_back(
          "there are no figures for " + candidate.name() +
          ": its times are those of the planner's table, multiplied by the time of a line read in "
          "the figures");
    }
  }
  return warnings;
}

void order_by_preference(const Requirements& requirements, std::vector<Candidate>& candidates) {
  if (!requirements.preference) return;
  const auto middle = std::stable_partition(
      candidates.begin(), candidates.end(),
      [&](const Candidate& candidate) { return objection_to(requirements, candidate).empty(); });
  const auto by_measure = [&](const Candidate& a, const Candidate& b) {
    return measure(requirements, *requirements.preference, a) <
           measure(requirements, *requirements.preference, b);
  };
  std::stable_sort(candidates.begin(), middle, by_measure);
  // If none may be recommended, the first one of the usual order is.
  const auto others = middle == candidates.begin() && middle != candidates.end() ? middle + 1 : middle;
  std::stable_sort(others, candidates.end(), by_measure);
}

std::string reason_for_preference(const Requirements& requirements, const Plan& plan) {
  const PlanPreference preference = *requirements.preference;
  const Candidate& first = plan.recommended();
  std::vector<const Candidate*> leaders;  // in the order of the preference
  for (const Candidate& candidate : plan.candidates)
    if (objection_to(requirements, candidate).empty()) leaders.push_back(&candidate);

  const std::string operations = timed_operations(requirements) + " take ";
  std::string reason;
  if (leaders.size() < 2) {
    reason = leaders.empty() ? "no structure is better, although " + objection_to(requirements, first)
                             : "it is the only structure that may be recommended";
    reason += "; " + operations + ns_text(time_of(requirements, first)) + ", and it " +
              achievement(requirements, first);
  } else {
    const auto least = [&](auto value) {
      return *std::ranges::min_element(leaders, {},
                                       [&](const Candidate* c) { return value(requirements, *c); });
    };
    const Candidate& fastest = *least(time_of);
    const Candidate& smallest = *least(space_of);
    const Candidate& second = *leaders[1];
    const double time = time_of(requirements, first);
    const auto more_time_than_fastest = [&] {
      return percent_more(time, time_of(requirements, fastest)) + " time than with " + fastest.name() +
             ", the fastest";
    };
    switch (preference) {
      case PlanPreference::fastest:
        reason = "it is the fastest: " + operations + ns_text(time) + ", and " +
                 ns_text(time_of(requirements, second)) + " with " + second.name();
        break;
      case PlanPreference::smallest:
        reason = "it " + least_space(requirements) + ": it " + achievement(requirements, first) + ", and " +
                 second.name() + " " + achievement(requirements, second);
        break;
      case PlanPreference::balanced:
        reason = "it has the least product of time and memory: " + operations + ns_text(time) + ", and it " +
                 achievement(requirements, first);
        break;
    }
    std::string price;
    if (preference != PlanPreference::smallest)
      price = &smallest == &first ? "" : price_in_space(requirements, first, smallest);
    if (preference != PlanPreference::fastest && &fastest != &first) {
      price += (price.empty() ? "" : "; ") + operations +
               (preference == PlanPreference::smallest ? ns_text(time) + ", " : "") +
               more_time_than_fastest();
    }
    if (!price.empty()) {
      reason += "; the price: " + price;
    } else {
      reason += preference == PlanPreference::smallest ? "; it is also the fastest"
                : preference == PlanPreference::fastest
                    ? "; it also " + least_space(requirements)
                    : "; it is the fastest and " + least_space(requirements);
    }
  }
  const auto never_fills = [](const Candidate& candidate) {
    return !traits_of(candidate.kind()).can_fill_up;
  };
  if (!never_fills(first)) {
    const auto other = std::ranges::find_if(plan.candidates, never_fills);
    if (other != plan.candidates.end()) reason += "; it can fill up, which " + other->name() + " cannot";
  }
  if (first.dleft && !first.dleft->has_fast_loops) reason += "; its " + price_of_slow_cells(first);
  if (leaders.empty()) return reason;
  for (const Candidate& other : plan.candidates) {
    const std::string objection = objection_to(requirements, other);
    if (objection.empty() ||
        measure(requirements, preference, other) >= measure(requirements, preference, first))
      continue;
    reason += "; " + std::string(other.kind() == first.kind() ? "another " : "") + other.name() +
              " would come first, but " + objection;
  }
  return reason;
}

}  // namespace planner_detail
}  // namespace tally
