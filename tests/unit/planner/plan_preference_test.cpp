#include "tally/planner/plan_preference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "expect_refused.hpp"
#include "tally/planner.hpp"

namespace tally {
namespace {

constexpr PlanPreference all_preferences[] = {PlanPreference::fastest, PlanPreference::smallest,
                                              PlanPreference::balanced};

/// Requirements of many sorts.
std::vector<Requirements> sample_requirements() {
  const auto skewed = theory::zipf_count_histogram(100'000, 1, 1'000'000, 256);
  const auto heavy = theory::make_count_histogram({{1, 100'000.0}, {200, 500.0}}, 256);
  const auto all_heavy = theory::make_count_histogram({{200, 100'000.0}}, 256);
  return {
      {.num_keys = 1'000'000, .false_positive_rate = 0.01},
      {.num_keys = 1'000'000, .false_positive_rate = 0.01, .keys_repeat = false},
      {.num_keys = 100'000'000, .false_positive_rate = 1e-6},
      {.num_keys = 1'000'000, .false_positive_rate = 0.01, .needs_deletes = true},
      {.num_keys = 1'000'000, .false_positive_rate = 0.002, .needs_deletes = true, .keys_repeat = false},
      {.num_keys = 50'000'000, .false_positive_rate = 0.002, .needs_deletes = true, .keys_repeat = false},
      {.num_keys = 1'000'000, .false_positive_rate = 1e-6, .needs_deletes = true},
      {.num_keys = 1'000'000, .false_positive_rate = 0.2, .needs_counts = true},
      {.num_keys = 1'000'000, .memory_bytes = 4'000'000},
      {.num_keys = 1'000'000, .memory_bytes = 4'000'000, .needs_deletes = true, .keys_repeat = false},
      {.false_positive_rate = 0.01, .memory_bytes = 4'000'000, .needs_deletes = true},
      {.false_positive_rate = 0.01, .memory_bytes = 4'000'000},
      {.num_keys = 100'000, .false_positive_rate = 0.01, .threshold = 3},
      {.num_keys = 100'000, .false_positive_rate = 0.01, .threshold = 3, .num_insertions = 300'000},
      {.num_keys = 10'000'000, .memory_bytes = 8},
      {.false_positive_rate = 0.01, .threshold = 3, .histogram = skewed},
      {.false_positive_rate = 0.01, .needs_counts = true, .histogram = heavy},
      {.false_positive_rate = 0.01, .needs_counts = true, .histogram = all_heavy},
  };
}

Plan plan_with(Requirements requirements, PlanPreference preference,
               std::span<const MeasuredFilter> figures = {}) {
  requirements.preference = preference;
  return plan(requirements, figures);
}

/// The rules for what may come first, written again.
bool may_lead(const Requirements& requirements, const Candidate& candidate) {
  const bool is_known = requirements.needs_deletes || requirements.needs_counts ||
                        (requirements.theta() > 1 && requirements.histogram.has_value());
  if (traits_of(candidate.kind()).can_fill_up && !is_known) return false;
  return candidate.saturation_probability <= 0.5 && candidate.promised_true_count == requirements.theta() - 1;
}

double time_of(const Requirements& requirements, const Candidate& candidate) {
  const OperationCosts& costs = candidate.operation_costs;
  return costs.insert_ns + (costs.lookup_absent_ns + costs.lookup_present_ns) / 2 +
         (requirements.needs_deletes ? costs.remove_ns.value() : 0);
}

/// Large is bad: bytes, a high rate, few keys.
double space_of(const Requirements& requirements, const Candidate& candidate) {
  if (!requirements.memory_bytes) return static_cast<double>(candidate.shape.num_bytes());
  if (requirements.false_positive_rate) return 1 / static_cast<double>(candidate.num_keys);
  return candidate.errors.back().ln_false_positive_rate;
}

std::vector<FilterShape> shapes_of(const Plan& plan) {
  std::vector<FilterShape> shapes;
  for (const Candidate& candidate : plan.candidates) shapes.push_back(candidate.shape);
  return shapes;
}

/// Times that turn every order around.
std::vector<MeasuredFilter> inverse_figures(const Plan& plan) {
  std::vector<MeasuredFilter> figures;
  for (const Candidate& candidate : plan.candidates) {
    OperationCosts costs = candidate.operation_costs;
    costs.insert_ns = 100 / costs.insert_ns;
    costs.lookup_absent_ns = 100 / costs.lookup_absent_ns;
    costs.lookup_present_ns = 100 / costs.lookup_present_ns;
    if (costs.remove_ns) costs.remove_ns = 100 / *costs.remove_ns;
    figures.push_back({candidate.shape, costs});
  }
  return figures;
}

TEST(PlanPreference, WithoutOneNoTimeChangesAnything) {
  for (const Requirements& requirements : sample_requirements()) {
    const Plan usual = plan(requirements);
    const Plan measured = plan(requirements, inverse_figures(usual));
    EXPECT_EQ(shapes_of(measured), shapes_of(usual));
    EXPECT_EQ(measured.reason, usual.reason);
    EXPECT_EQ(measured.warnings, usual.warnings);
  }
}

TEST(PlanPreference, ChangesOnlyTheOrder) {
  for (const Requirements& requirements : sample_requirements()) {
    const std::vector<FilterShape> usual = shapes_of(plan(requirements));
    for (const PlanPreference preference : all_preferences) {
      const std::vector<FilterShape> own = shapes_of(plan_with(requirements, preference));
      EXPECT_TRUE(std::is_permutation(own.begin(), own.end(), usual.begin(), usual.end()));
    }
  }
}

TEST(PlanPreference, TheFirstIsTheBestOfThoseThatMayLead) {
  for (const Requirements& requirements : sample_requirements()) {
    for (const bool with_figures : {false, true}) {
      const std::vector<MeasuredFilter> figures =
          with_figures ? inverse_figures(plan(requirements)) : std::vector<MeasuredFilter>();
      const Plan fastest = plan_with(requirements, PlanPreference::fastest, figures);
      const Plan smallest = plan_with(requirements, PlanPreference::smallest, figures);
      for (const Candidate& candidate : fastest.candidates) {
        if (!may_lead(requirements, candidate)) continue;
        EXPECT_TRUE(may_lead(requirements, fastest.recommended()));
        EXPECT_TRUE(may_lead(requirements, smallest.recommended()));
        EXPECT_LE(time_of(requirements, fastest.recommended()), time_of(requirements, candidate));
        EXPECT_LE(space_of(requirements, smallest.recommended()), space_of(requirements, candidate));
      }
    }
  }
}

TEST(PlanPreference, ABalancedChoiceHasTheLeastProductOfTimeAndMemory) {
  for (const Requirements& requirements : sample_requirements()) {
    if (requirements.memory_bytes) continue;
    const Plan balanced = plan_with(requirements, PlanPreference::balanced);
    const auto product = [&](const Candidate& candidate) {
      return time_of(requirements, candidate) * space_of(requirements, candidate);
    };
    EXPECT_TRUE(may_lead(requirements, balanced.recommended()));
    for (const Candidate& candidate : balanced.candidates)
      if (may_lead(requirements, candidate)) {
        EXPECT_LE(product(balanced.recommended()), product(candidate));
      }
  }
}

TEST(PlanPreference, ABalancedChoiceInAGivenMemoryIsNeverWorseInTimeAndSpace) {
  for (const Requirements& requirements : sample_requirements()) {
    const Plan balanced = plan_with(requirements, PlanPreference::balanced);
    const Candidate& first = balanced.recommended();
    for (const Candidate& candidate : balanced.candidates) {
      if (!may_lead(requirements, candidate) || !may_lead(requirements, first)) continue;
      EXPECT_FALSE(time_of(requirements, candidate) < time_of(requirements, first) &&
                   space_of(requirements, candidate) < space_of(requirements, first));
    }
  }
}

TEST(PlanPreference, ThoseThatMayNotLeadStayBehindThoseThatMay) {
  bool any_behind = false;
  for (const Requirements& requirements : sample_requirements()) {
    for (const PlanPreference preference : all_preferences) {
      const Plan result = plan_with(requirements, preference);
      EXPECT_TRUE(std::ranges::is_partitioned(
          result.candidates, [&](const Candidate& candidate) { return may_lead(requirements, candidate); }));
      any_behind = any_behind || !may_lead(requirements, result.candidates.back());
    }
  }
  EXPECT_TRUE(any_behind);
}

TEST(PlanPreference, TheReasonStatesThePriceOfTheChoice) {
  const Requirements set{.num_keys = 1'000'000, .false_positive_rate = 0.01};
  const Plan fastest = plan_with(set, PlanPreference::fastest);
  EXPECT_EQ(fastest.recommended().kind(), FilterKind::blocked_bloom);
  EXPECT_EQ(fastest.reason,
            "it is the fastest: a lookup and an insertion take 5.06 ns, and 23.9 ns with bloom; the price: "
            "it takes "
            "5.28% more memory than bloom, which takes 9.59 bits per key");
  const Plan smallest = plan_with(set, PlanPreference::smallest);
  EXPECT_EQ(smallest.recommended().kind(), FilterKind::bloom);
  EXPECT_EQ(
      smallest.reason,
      "it takes the least memory: it takes 9.59 bits per key, and blocked-bloom takes 10.1 bits per key; the "
      "price: a lookup and an insertion take 23.9 ns, 373% more time than with blocked-bloom, the fastest");
}

TEST(PlanPreference, TheReasonSaysWhatComesFirstInVain) {
  // It is not known how often keys repeat, so the d-left filter may fill up.
  const Requirements counts{.num_keys = 100'000, .false_positive_rate = 0.01, .threshold = 100};
  const Plan fastest = plan_with(counts, PlanPreference::fastest);
  EXPECT_EQ(fastest.recommended().kind(), FilterKind::counting_bloom);
  const Plan smaller = plan_with(counts, PlanPreference::smallest);
  EXPECT_NE(smaller.recommended().kind(), FilterKind::dleft);
  EXPECT_NE(smaller.reason.find("; dleft 3 x 16 would come first, but it can fill up"), std::string::npos)
      << smaller.reason;
  const Plan removals = plan_with({.num_keys = 1'000'000, .false_positive_rate = 0.01, .needs_deletes = true},
                                  PlanPreference::smallest);
  EXPECT_EQ(removals.recommended().kind(), FilterKind::dleft);
  EXPECT_NE(removals.reason.find("; it can fill up, which counting-bloom cannot"), std::string::npos)
      << removals.reason;
}

TEST(PlanPreference, TimesAreThoseOfTheFiguresAndElseAreCarriedOverInLineReads) {
  const Requirements requirements{.num_keys = 1'000'000, .false_positive_rate = 0.01};
  const Plan usual = plan(requirements);
  ASSERT_EQ(usual.recommended().kind(), FilterKind::bloom);
  EXPECT_EQ(usual.recommended().operation_costs, operation_costs(usual.recommended().shape));
  OperationCosts slow_machine = usual.recommended().operation_costs;
  slow_machine.line_read_ns *= 10;
  slow_machine.insert_ns = 1;
  slow_machine.lookup_absent_ns = 2;
  slow_machine.lookup_present_ns = 3;
  const MeasuredFilter figures[] = {{usual.recommended().shape, slow_machine}};
  const Plan measured = plan_with(requirements, PlanPreference::fastest, figures);
  ASSERT_EQ(measured.recommended().kind(), FilterKind::bloom);
  EXPECT_EQ(measured.recommended().operation_costs.source, CostSource::figures);
  EXPECT_EQ(measured.recommended().operation_costs.insert_ns, 1);
  const Candidate& blocked = measured.candidates.at(1);
  ASSERT_EQ(blocked.kind(), FilterKind::blocked_bloom);
  EXPECT_EQ(blocked.operation_costs.source, CostSource::carried_over);
  EXPECT_DOUBLE_EQ(blocked.operation_costs.insert_ns, 10 * operation_costs(blocked.shape).insert_ns);
  EXPECT_DOUBLE_EQ(blocked.operation_costs.line_read_ns, 10 * operation_costs(blocked.shape).line_read_ns);
  EXPECT_TRUE(std::ranges::any_of(measured.warnings, [](const std::string& warning) {
    return warning.starts_with("there are no figures for blocked-bloom");
  }));
}

TEST(PlanPreference, RefusesFiguresThatAreNoTimes) {
  const Requirements requirements{.num_keys = 1'000'000, .false_positive_rate = 0.01, .needs_deletes = true};
  const Candidate first = plan(requirements).recommended();
  for (const double ns : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    for (const auto field : {&OperationCosts::insert_ns, &OperationCosts::lookup_absent_ns,
                             &OperationCosts::lookup_present_ns, &OperationCosts::line_read_ns}) {
      MeasuredFilter figure{first.shape, first.operation_costs};
      figure.costs.*field = ns;
      test::expect_refused(
          [&] {
            (void)plan(requirements, {&figure, 1});
          },
          {"plan: ", "_ns of a figure is", "must be above 0"});
    }
    MeasuredFilter figure{first.shape, first.operation_costs};
    figure.costs.remove_ns = ns;
    test::expect_refused([&] { (void)plan(requirements, {&figure, 1}); }, {"remove_ns of a figure is"});
  }
  const MeasuredFilter twice[] = {{first.shape, first.operation_costs}, {first.shape, first.operation_costs}};
  test::expect_refused([&] { (void)plan(requirements, twice); }, {"plan: there are two figures for dleft"});
  MeasuredFilter without{first.shape, first.operation_costs};
  without.costs.remove_ns.reset();
  test::expect_refused(
      [&] {
        (void)plan(requirements, {&without, 1});
      },
      {"plan: remove_ns of a figure is missing"});
}

// ---- compact filters that are not worth their memory

bool offers_compact(const Plan& plan) {
  return std::ranges::any_of(plan.candidates,
                             [](const Candidate& c) { return c.kind() == FilterKind::compact_dleft; });
}

std::string note_on_compact(const Plan& plan) {
  for (const std::string& warning : plan.warnings)
    if (warning.starts_with("compact-dleft is left out: ")) return warning;
  return "";
}

TEST(Plan, LeavesOutACompactFilterThatTakesAsMuchAsATableOfDigests) {
  const Requirements few{
      .num_keys = 5, .false_positive_rate = 0.01, .needs_deletes = true, .keys_repeat = false};
  const Requirements low_rate{
      .num_keys = 1'000'000, .false_positive_rate = 1e-9, .needs_deletes = true, .keys_repeat = false};
  const Requirements large{
      .num_keys = 1000, .memory_bytes = 1 << 30, .needs_deletes = true, .keys_repeat = false};
  for (const Requirements& requirements : {few, low_rate, large}) {
    const Plan result = plan(requirements);
    EXPECT_FALSE(offers_compact(result));
    EXPECT_NE(note_on_compact(result).find("a hash table of the keys' digests takes 213"), std::string::npos)
        << note_on_compact(result);
  }
  EXPECT_NE(note_on_compact(plan(low_rate)).find("it would use "), std::string::npos);
}

TEST(Plan, OffersACompactFilterUpToTheMemoryOfATableOfDigests) {
  bool was_offered = true;
  double least_load = 1;
  for (double rate = 1e-2; rate > 1e-8; rate /= 1.3) {
    const Requirements requirements{
        .num_keys = 1'000'000, .false_positive_rate = rate, .needs_deletes = true, .keys_repeat = false};
    const Plan result = plan(requirements);
    const CompactDLeftShape shape = plan_compact_dleft(requirements);
    const bool is_offered = offers_compact(result);
    EXPECT_EQ(is_offered, static_cast<double>(num_bytes(shape)) < result.exact_table_bytes) << rate;
    EXPECT_LE(is_offered, was_offered) << "at a lower rate it is not offered again";
    EXPECT_EQ(is_offered, note_on_compact(result).empty());
    if (is_offered) least_load = 1e6 / static_cast<double>(shape.num_cells());
    was_offered = is_offered;
  }
  EXPECT_FALSE(was_offered);
  EXPECT_GT(least_load, 0.05);
  EXPECT_LT(least_load, 0.12);
}

}  // namespace
}  // namespace tally
