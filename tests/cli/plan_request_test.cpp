// The random requests of tests/statistical/random_plans_test.cpp, as the commands that a failure is printed with.

#include "support/plan_request.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "command_runner.hpp"

namespace tally::test {
namespace {

TEST(PlanRequest, IsPrintedAsACommandThatGivesTheSamePlan) {
  std::uint64_t num_compared = 0;
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    const PlanRequest request = random_plan_request(seed, 1e5);
    const std::optional<Plan> expected = plan_if_any(request.requirements);
    const CommandResult result =
        run_shell("tally() { \"$TALLY\" \"$@\"; }\n" + request.command_line() + " --json");
    ASSERT_EQ(result.exit_code == 0, expected.has_value()) << request.command_line() << "\n" << result.error;
    if (!expected) continue;
    const auto json = nlohmann::json::parse(result.output);
    const Candidate& recommended = expected->recommended();
    const auto& first = json.at("candidates").at(0);
    EXPECT_EQ(first.at("kind"), name_of(recommended.kind())) << request.command_line();
    EXPECT_EQ(first.at("memory_bytes"), recommended.shape.num_bytes()) << request.command_line();
    EXPECT_DOUBLE_EQ(first.at("false_positive_rate"), recommended.false_positive_rate)
        << request.command_line();
    ++num_compared;
  }
  EXPECT_GT(num_compared, 12u);
}

}  // namespace
}  // namespace tally::test
