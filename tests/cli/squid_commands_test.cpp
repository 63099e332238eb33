// The commands of tally squid by themselves, but for those that speak HTTP.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "http.hpp"
#include "served_digest.hpp"
#include "unserved_port.hpp"

namespace tally::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using Json = nlohmann::json;

TEST_F(SquidCommands, BuildTakesTheNumberOfDistinctUrlsAndInfoSaysWhatIsThere) {
  const std::string path = build("a", numbered_urls(1, 1000) + numbered_urls(1, 500));
  const Json json = Json::parse(run_tally({"squid", "info", "--json", path}).output);
  EXPECT_EQ(json["capacity"], 1000);
  EXPECT_EQ(json["bits_per_entry"], 5);
  EXPECT_EQ(json["num_bits"], 5000);
  EXPECT_EQ(json["count"], 1000);
  EXPECT_EQ(json["del_count"], 0);
  EXPECT_NEAR(json["planned_false_positive_rate"].get<double>(), 0.092, 0.0005);
  EXPECT_NEAR(json["estimated_false_positive_rate"].get<double>(), 0.092, 0.015);
  EXPECT_THAT(
      run_tally({"squid", "info", path}).output,
      AllOf(HasSubstr("capacity             1000\n"), HasSubstr("bits                 5000, 5 per entry\n")));
  EXPECT_EQ(read_file(path).size(), 128U + 625);
}

TEST_F(SquidCommands, QueryPrintsSelectsCountsAndInverts) {
  const std::string path = build("a", numbered_urls(1, 1000), {"-b", "40"});
  EXPECT_EQ(run_tally({"squid", "query", path}, numbered_urls(999, 1002)).output, numbered_urls(999, 1000));
  EXPECT_EQ(run_tally({"squid", "query", "-v", path}, numbered_urls(999, 1002)).output,
            numbered_urls(1001, 1002));
  EXPECT_EQ(run_tally({"squid", "query", "-c", path}, numbered_urls(991, 1010)).output, "10\n");
  const Json json =
      Json::parse(run_tally({"squid", "query", "--json", path}, numbered_urls(991, 1020)).output);
  EXPECT_EQ(json["num_urls"], 30);
  EXPECT_EQ(json["num_found"], 10);
  EXPECT_EQ(json["num_absent"], 20);
  EXPECT_EQ(run_tally({"squid", "query", path}, numbered_urls(2000, 2001)).exit_code, 1);
  const std::string log =
      directory.write("log", "GET\thttp://www.example.org/7\nGET\thttp://other.example.org/\n");
  EXPECT_EQ(run_tally({"squid", "query", "-f", "2", path, log}).output, "http://www.example.org/7\n");
}

TEST_F(SquidCommands, UrlsAreTakenAsSquidWritesThemUnlessAsIs) {
  const std::string path = build("a", "HTTP://WWW.Example.ORG:80/x\nhttp://www.example.org\n", {"-b", "100"});
  const std::string written = "http://www.example.org/x\nhttp://www.example.org/\n";
  EXPECT_EQ(run_tally({"squid", "query", "--as-is", path}, written).output, written);
  EXPECT_EQ(run_tally({"squid", "query", path}, "http://www.example.org.:080\n").exit_code, 0);
  EXPECT_EQ(run_tally({"squid", "query", "--as-is", path}, "http://www.example.org\n").exit_code, 1);
}

TEST_F(SquidCommands, MoreUrlsThanTheCapacityAreKeptAndWarnedOf) {
  const CommandResult result =
      run_tally({"squid", "build", "-q", "-n", "100", "-o", directory / "a"}, numbered_urls(1, 1000));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.error, HasSubstr("warning: planned for 100 URLs, but there are 1000"));
  EXPECT_EQ(run_tally({"squid", "query", "-c", directory / "a"}, numbered_urls(1, 1000)).output, "1000\n");
}

TEST_F(SquidCommands, WriteToStandardOutputAndReadFromStandardInput) {
  const std::string path = build("a", numbered_urls(1, 10));
  const CommandResult piped = run_tally({"squid", "build", "-q", "-o", "-"}, numbered_urls(1, 10));
  EXPECT_EQ(piped.output, read_file(path));
  EXPECT_THAT(run_tally({"squid", "info", "-"}, piped.output).output, HasSubstr("count                10\n"));
  EXPECT_EQ(run_tally({"squid", "build", "-q", "-o", directory / "none"}).exit_code, 1);
  EXPECT_EQ(run_tally({"squid", "query", directory / "none"}, numbered_urls(1, 10)).exit_code, 1);
}

TEST_F(SquidCommands, ErrorsNameWhatIsWrong) {
  const std::string path = build("a", numbered_urls(1, 10));
  const auto expect_error = [](std::vector<std::string> arguments, const std::string& fragment) {
    arguments.insert(arguments.begin(), "squid");
    const CommandResult result = run_tally(arguments, "");
    EXPECT_EQ(result.exit_code, 2) << fragment;
    EXPECT_THAT(result.error, AllOf(StartsWith("tally squid"), HasSubstr(fragment)));
    EXPECT_THAT(result.output, IsEmpty());
  };
  expect_error({"build", "-o", path}, "exists; give --force");
  expect_error({"build", "-o", directory / "x", "-b", "128"}, "must be at most 127");
  expect_error({"build", "-o", directory / "x", "-n", "1G"},
               "capacity is 1000000000; must be 1 to 429496728");
  expect_error({"info", directory / "absent"}, "absent: No such file");
  expect_error({"info", directory.write("junk", "junk")}, "as a Squid digest: length is 4 bytes");
  expect_error({"info", directory.write("long", read_file(path) + "x")},
               "1 bytes follow after its end (at byte 135)");
  expect_error({"info", "https://127.0.0.1"}, "is not an http URL");
  expect_error({"info", "http://"}, "has no host");
  expect_error({"info", "http://a:b"}, "has an invalid port");
  expect_error({"info", "http://a:65536"}, "has an invalid port");
  expect_error({"info", "http://[::1"}, "has no ']'");
  expect_error({"info", "http://a/\r\nHost: b"}, "has a blank or a control character");
  const UnservedPort unserved;
  expect_error({"fetch", "http://" + unserved.host_and_port(), "-o", directory / "x"},
               "cannot connect: Connection refused");
  expect_error({"serve", path, "--host", "not an address"}, "--host: 'not an address'");
  expect_error({"serve", path, "--port", "65536"}, "must be at most 65535");
  expect_error({"serve", directory / "absent"}, "No such file");
  const LoopbackSocket taken = LoopbackSocket::listening();
  expect_error({"serve", path, "--port", std::to_string(taken.port())}, "Address already in use");
  expect_error({}, "");
  EXPECT_FALSE(std::filesystem::exists(directory / "x"));
}

}  // namespace
}  // namespace tally::test
