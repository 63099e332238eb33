// Clients that nobody here wrote, each with a flow of its commands.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command_runner.hpp"
#include "running_module.hpp"

namespace tally::test {
namespace {

class RedisClients : public WithModule {};
class SlowRedisClients : public WithModule {};

TEST_F(RedisClients, PythonRunsItsFlow) {
  if (run_program({"/usr/bin/python3", "-c", "import redis"}).exit_code != 0)
    GTEST_SKIP() << "python3-redis is not installed (script/packages.txt)";
  RunningModule redis;
  const CommandResult result = run_program(
      {"timeout", "60", "/usr/bin/python3", TALLY_REDIS_TEST_DIR "/python_client.py", redis.socket()});
  EXPECT_EQ(result.output, "every reply as expected\n") << result.error;
}

/// Takes the package from npm's registry.
TEST_F(SlowRedisClients, NodeRunsItsFlow) {
  const TemporaryDirectory directory;
  const std::string install =
      "npm install --silent --no-audit --no-fund --prefix " + (directory / "") + " redis@4.7.1";
  if (run_program({"sh", "-c", install}).exit_code != 0)
    GTEST_SKIP() << "npm is not installed, or has no network";
  RunningModule redis;
  const CommandResult result =
      run_program({"env", "NODE_PATH=" + (directory / "node_modules"), "timeout", "60", "node",
                   TALLY_REDIS_TEST_DIR "/node_client.js", redis.socket()});
  EXPECT_EQ(result.output, "every reply as expected\n") << result.error;
}

}  // namespace
}  // namespace tally::test
