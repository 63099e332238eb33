#include "tally/planner/check_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "planner/search.hpp"

namespace tally {
namespace {

constexpr std::string_view checking = "check_plan";

/// A plan for two of the three, or why there is none.
struct PartialPlan {
  std::optional<Plan> plan;
  std::string failure;
};

PartialPlan plan_of_two(const Requirements& two, std::span<const MeasuredFilter> figures) {
  try {
    return {plan(two, figures), {}};
  } catch (const std::invalid_argument& error) {
    return {std::nullopt, error.what()};
  }
}

bool is_same_structure(const Candidate& candidate, const StructureFit& fit) {
  return candidate.kind() == fit.kind && candidate.promised_true_count == fit.promised_true_count;
}

StructureFit& fit_of(std::vector<StructureFit>& fits, const Candidate& candidate) {
  const auto found =
      std::ranges::find_if(fits, [&](const StructureFit& fit) { return is_same_structure(candidate, fit); });
  if (found != fits.end()) return *found;
  fits.push_back({.kind = candidate.kind(),
                  .promised_true_count = candidate.promised_true_count,
                  .needed = {},
                  .with_memory = {},
                  .with_most_keys = {}});
  return fits.back();
}

bool takes_less(const Candidate& a, const Candidate& b) { return a.shape.num_bytes() < b.shape.num_bytes(); }

bool errs_less(const Candidate& a, const Candidate& b) {
  return a.errors.back().ln_false_positive_rate < b.errors.back().ln_false_positive_rate;
}

bool holds_more(const Candidate& a, const Candidate& b) { return a.num_keys > b.num_keys; }

/// Of several candidates of a structure, which only d-left filters have, keeps the better one.
template <class IsBetter>
void keep_better(std::optional<Candidate>& kept, const Candidate& other, IsBetter is_better) {
  if (!kept || is_better(other, *kept)) kept = other;
}

template <class IsBetter>
void add_all(std::vector<StructureFit>& fits, const PartialPlan& found,
             std::optional<Candidate> StructureFit::*place, IsBetter is_better) {
  if (!found.plan) return;
  for (const Candidate& candidate : found.plan->candidates)
    keep_better(fit_of(fits, candidate).*place, candidate, is_better);
}

template <class IsBetter>
const Candidate* best_of(const std::vector<StructureFit>& fits, std::optional<Candidate> StructureFit::*place,
                         IsBetter is_better) {
  const Candidate* best = nullptr;
  for (const StructureFit& fit : fits) {
    const std::optional<Candidate>& own = fit.*place;
    if (own && (best == nullptr || is_better(*own, *best))) best = &*own;
  }
  return best;
}

}  // namespace

const Candidate* PlanCheck::with_least_memory() const noexcept {
  return best_of(structures, &StructureFit::needed, takes_less);
}

const Candidate* PlanCheck::with_lowest_rate() const noexcept {
  return best_of(structures, &StructureFit::with_memory, errs_less);
}

const Candidate* PlanCheck::with_most_keys() const noexcept {
  return best_of(structures, &StructureFit::with_most_keys, holds_more);
}

PlanCheck check_plan(const Requirements& requirements, std::span<const MeasuredFilter> figures) {
  std::optional<std::uint64_t> num_keys = requirements.num_keys;
  if (requirements.histogram && !num_keys)
    num_keys = planner_detail::num_keys_of(checking, *requirements.histogram);
  if (!num_keys || !requirements.false_positive_rate || !requirements.memory_bytes) {
    throw std::invalid_argument(
        "check_plan: give all three of num_keys, false_positive_rate and memory_bytes; plan takes two of "
        "them");
  }
  planner_detail::require_count(checking, "num_keys", *num_keys, 1, max_num_positions);
  planner_detail::require_rate(checking, "false_positive_rate", *requirements.false_positive_rate);
  planner_detail::require_count(checking, "memory_bytes", *requirements.memory_bytes, 8,
                                std::numeric_limits<std::uint64_t>::max());

  Requirements of_keys_and_rate = requirements;
  of_keys_and_rate.memory_bytes.reset();
  Requirements of_keys_and_memory = requirements;
  of_keys_and_memory.false_positive_rate.reset();
  Requirements of_rate_and_memory = requirements;
  of_rate_and_memory.num_keys.reset();
  of_rate_and_memory.num_insertions.reset();
  of_rate_and_memory.histogram.reset();

  PlanCheck check{*num_keys, *requirements.false_positive_rate, *requirements.memory_bytes, {}, {}};
  std::vector<StructureFit>& fits = check.structures;
  const PartialPlan needed = plan_of_two(of_keys_and_rate, figures);
  const PartialPlan with_memory = plan_of_two(of_keys_and_memory, figures);
  const PartialPlan with_most_keys = plan_of_two(of_rate_and_memory, figures);
  add_all(fits, needed, &StructureFit::needed, takes_less);
  add_all(fits, with_memory, &StructureFit::with_memory, errs_less);
  add_all(fits, with_most_keys, &StructureFit::with_most_keys, holds_more);
  if (fits.empty()) throw std::invalid_argument(needed.failure);

  for (StructureFit& fit : fits) {
    fit.fits = fit.needed && fit.needed->shape.num_bytes() <= check.memory_bytes;
    if (!fit.fits) continue;
    // What fits is a plan for keys and memory and for rate and memory, too; a search of another kind may miss it.
    keep_better(fit.with_memory, *fit.needed, errs_less);
    const bool depends_on_counts = fit.promised_true_count + 1 < requirements.theta();
    if (!depends_on_counts) keep_better(fit.with_most_keys, *fit.needed, holds_more);
  }
  std::stable_sort(fits.begin(), fits.end(), [](const StructureFit& a, const StructureFit& b) {
    if (a.fits || b.fits) return a.fits && !b.fits;
    if (!a.needed || !b.needed) return a.needed && !b.needed;
    return takes_less(*a.needed, *b.needed);
  });
  if (needed.plan) {
    check.warnings = needed.plan->warnings;
  } else {
    check.warnings.push_back("every structure is left out: " + needed.failure);
  }
  return check;
}

}  // namespace tally
