#include "tally/planner.hpp"
#include "fail_each.hpp"

// Plans are values: where there is no memory for one there is none, and the next is as if nothing had been.

namespace tally::test {
namespace {

constexpr std::uint64_t stride = 41;  // a plan makes thousands of requests, all alike

TEST(Allocation, APlanIsMadeWholeOrNotAtAll) {
  const std::vector<Requirements> all = {
      {.num_keys = 1000, .false_positive_rate = 0.01},
      {.num_keys = 1000, .memory_bytes = 4000, .threshold = 3},
      {.num_keys = 1000,
       .false_positive_rate = 0.01,
       .needs_deletes = true,
       .needs_counts = true,
       .max_doublings = 1},
      {.false_positive_rate = 0.05,
       .threshold = 2,
       .histogram = theory::make_count_histogram({{1, 900}, {2, 80}, {3, 20}}, 10)},
  };
  for (const Requirements& requirements : all) {
    EXPECT_GT(fail_each(
                  "plan", [] { return std::string(); },
                  [&](std::string& reason) {
                    const Plan made = plan(requirements);
                    reason = made.reason + std::string(name_of(made.recommended().kind()));
                  },
                  [](const std::string& reason) { return reason; }, stride),
              stride);
  }
}

TEST(Allocation, AShapeIsPlannedOrNot) {
  const auto try_all = [](int&) {
    (void)plan_bloom({.num_keys = 1000, .false_positive_rate = 0.01});
    (void)plan_blocked_bloom({.num_keys = 1000, .false_positive_rate = 0.01});
    (void)plan_register_blocked_bloom({.num_keys = 1000, .false_positive_rate = 0.01});
    (void)plan_counting_bloom({.num_keys = 1000, .false_positive_rate = 0.01});
    (void)plan_threshold({.num_keys = 1000, .false_positive_rate = 0.01, .threshold = 3, .true_count = 0});
    (void)plan_dleft({.num_keys = 1000, .false_positive_rate = 0.01});
    (void)plan_count_min({.epsilon = 0.01, .failure_probability = 0.01});
    (void)plan_count_min_two_hash({.epsilon = 0.01, .failure_probability = 0.01});
  };
  fail_each(
      "shapes", [] { return 0; }, try_all, [](int value) { return value; }, stride);
}

}  // namespace
}  // namespace tally::test
