#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "command_runner.hpp"
#include "running_module.hpp"

namespace tally::test {
namespace {

class InstalledModule : public WithModule {};

TEST_F(InstalledModule, IsOneFileFromWhichAServerStarts) {
  const TemporaryDirectory prefix;
  const CommandResult installed =
      run_program({"cmake", "--install", TALLY_BUILD_DIR, "--component", "redis", "--prefix", prefix / ""});
  ASSERT_EQ(installed.exit_code, 0) << installed.output << installed.error;
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(prefix / "")) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  ASSERT_EQ(files.size(), 1U);
  EXPECT_TRUE(files[0].ends_with("/tally/tally.so")) << files[0];
  const RunningRedis redis({"--loadmodule", files[0]});
  EXPECT_EQ(redis.call({"BF.ADD", "key", "item"}), ":1\r\n");
}

}  // namespace
}  // namespace tally::test
