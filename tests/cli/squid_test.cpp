// tally squid against Debian's Squid, and by itself.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "command_runner.hpp"
#include "http.hpp"
#include "running_command.hpp"
#include "running_squid.hpp"

namespace tally::test {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;

const std::string digest_path = "/squid-internal-periodic/store_digest";

std::string lines_of(const HttpOrigin& origin, int first, int last) {
  std::string lines;
  for (int i = first; i <= last; ++i) lines += origin.url(i) + "\n";
  return lines;
}

bool comes_true(const std::function<bool()>& condition, int seconds = 30) {
  for (int i = 0; i < 10 * seconds; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return false;
}

// The number after `name` in a page of Squid's cache manager; -1 if there is none.
int number_after(const std::string& page, const std::string& name) {
  const std::size_t at = page.find(name);
  return at == std::string::npos ? -1 : std::atoi(page.c_str() + at + name.size());
}

/// `tally squid serve` of a file, on a port that is free.
class ServedDigest {
 public:
  explicit ServedDigest(const std::string& path)
      : command_({TALLY_COMMAND, "squid", "serve", path, "--port", "0", "--log"}),
        first_remark_(command_.read_error_line()),
        port_(static_cast<std::uint16_t>(number_after(first_remark_, "http://127.0.0.1:"))) {}

  RunningCommand& command() { return command_; }
  std::uint16_t port() const { return port_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  RunningCommand command_;
  std::string first_remark_;
  std::uint16_t port_;
};

class Squid : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::access(squid_program, X_OK) != 0)
      GTEST_SKIP() << "no " << squid_program << ": install Debian's squid";
  }

  // A digest of URLs, and the number of its bits that are set.
  std::string build(const std::string& urls, int& num_set) const {
    std::string path = directory / "digest";
    const CommandResult built =
        run_tally({"squid", "build", "--json", "--capacity", "2000", "-b", "10", "-o", path}, urls);
    EXPECT_EQ(built.exit_code, 0) << built.error;
    const Json json = Json::parse(built.output);
    num_set =
        static_cast<int>(std::lround(json["fill_ratio"].get<double>() * json["num_bits"].get<double>()));
    return path;
  }
  // Asks for one object, so that the Squid fetches the digest of its peer, and waits until it has all of it.
  static void wait_for_digest(const RunningSquid& squid, const HttpOrigin& origin, int num_set) {
    squid.get(origin.url(0));
    int seen = -1;
    EXPECT_TRUE(comes_true([&] {
      seen = number_after(squid.manager("peer_select"), "bits: per entry: 10 on: ");
      return seen >= num_set;
    })) << squid.manager("peer_select")
        << squid.log();
    EXPECT_EQ(seen, num_set);
  }

  // Squid writes it when it has sent the answer, which the client may have seen already.
  static std::string access_of(const RunningSquid& squid, const std::string& url) {
    comes_true([&] { return !squid.access_of(url).empty(); });
    return squid.access_of(url);
  }

  TemporaryDirectory directory;
};

TEST_F(Squid, ItsDigestHasEveryObjectThatItPutThereAndPredictsItsHits) {
  constexpr int num_objects = 300;
  const HttpOrigin origin;
  const RunningSquid squid(
      "digest_generation on\ndigest_rebuild_period 1 second\ndigest_rewrite_period 1 second\n"
      "digest_rebuild_chunk_percentage 100\n");
  for (int i = 1; i <= num_objects; ++i) {
    ASSERT_THAT(squid.get(origin.url(i)), StartsWith("HTTP/1.1 200"));
  }
  const std::string urls = lines_of(origin, 1, num_objects);
  const std::string path = directory / "digest";

  // Squid writes a digest a second. It is one of all objects before long, and has as many as Squid says.
  CommandResult fetched;
  const auto fetch_says_what_squid_says = [&] {
    fetched = run_tally({"squid", "fetch", "--force", squid.url(), "-o", path});
    if (fetched.exit_code != 0) return false;
    const Json json = Json::parse(run_tally({"squid", "info", "--json", path}).output);
    return json["count"] >= num_objects &&
           json["count"] == number_after(squid.manager("store_digest"), "entries: count: ");
  };
  ASSERT_TRUE(comes_true(fetch_says_what_squid_says))
      << fetched.error << squid.manager("store_digest") << squid.log();
  EXPECT_EQ(run_tally({"squid", "query", path}, urls).output, urls);
  EXPECT_EQ(run_tally({"squid", "query", "-c", squid.url()}, urls).output,
            std::to_string(num_objects) + "\n");

  // Others pass as often as the bits say. Five standard deviations: by chance once in 1.7 million runs.
  constexpr int num_others = 5000;
  const double rate =
      Json::parse(run_tally({"squid", "info", "--json", path}).output)["estimated_false_positive_rate"];
  EXPECT_GT(rate, 0.02);
  EXPECT_LT(rate, 0.2);
  const CommandResult others =
      run_tally({"squid", "query", "-c", path}, lines_of(origin, 10'001, 10'000 + num_others));
  EXPECT_NEAR(std::stod(others.output), num_others * rate, 5 * std::sqrt(num_others * rate * (1 - rate)));

  // Each object that Squid would serve from its cache is in the digest.
  int num_hits = 0;
  for (const int i : {1, 2, 150, 299, 300, 301, 302, 20'000}) {
    const bool is_hit =
        squid.get(origin.url(i), "Cache-Control: only-if-cached\r\n").starts_with("HTTP/1.1 200");
    EXPECT_EQ(is_hit, i <= num_objects) << i;
    num_hits += is_hit ? 1 : 0;
    EXPECT_TRUE(!is_hit || run_tally({"squid", "query", path}, origin.url(i)).exit_code == 0) << i;
  }
  EXPECT_EQ(num_hits, 5);
}

TEST_F(Squid, ChoosesTallyAsItsPeerByTheDigestThatTallyServes) {
  const HttpOrigin origin;
  int num_set = 0;
  ServedDigest served(build(lines_of(origin, 1, 1000), num_set));
  const RunningSquid squid("digest_generation off\ncache_peer 127.0.0.1 sibling " +
                           std::to_string(served.port()) + " 0 no-query no-netdb-exchange\n");
  wait_for_digest(squid, origin, num_set);
  EXPECT_EQ(served.command().read_line(), "200 GET " + digest_path + "\n");

  for (const int i : {1, 500, 1000}) {
    // Tally does not have the object: Squid goes on to the origin, and its client sees nothing of it.
    EXPECT_THAT(squid.get(origin.url(i)), StartsWith("HTTP/1.1 200")) << i;
    EXPECT_EQ(served.command().read_line(), "504 GET " + origin.url(i) + "\n");
  }
  for (int i = 2001; i <= 2020; ++i) squid.get(origin.url(i));
  served.command().send(SIGTERM);
  const CommandResult ended = served.command().wait();
  EXPECT_EQ(ended.exit_code, 0) << ended.error;
  // 0.1% of those that are not in the digest pass: three of 20 URLs once in a million runs.
  EXPECT_LE(std::count(ended.output.begin(), ended.output.end(), '\n'), 2) << ended.output;
}

TEST_F(Squid, FetchesFromAPeerWhatTheDigestThatTallyServesForItSays) {
  const HttpOrigin origin;
  const RunningSquid peer("digest_generation off\n");
  for (int i = 1; i <= 20; ++i) peer.get(origin.url(i));
  int num_set = 0;
  ServedDigest served(build(lines_of(origin, 1, 1000), num_set));
  const RunningSquid squid("digest_generation off\ncache_peer 127.0.0.1 sibling " +
                           std::to_string(peer.port()) +
                           " 0 no-query no-netdb-exchange digest-url=" + served.url() + digest_path + "\n");
  wait_for_digest(squid, origin, num_set);

  const int num_requests = origin.num_requests();
  for (int i = 1; i <= 20; ++i) {
    EXPECT_THAT(squid.get(origin.url(i)), StartsWith("HTTP/1.1 200")) << i;
  }
  EXPECT_EQ(origin.num_requests(), num_requests);
  for (int i = 1; i <= 20; ++i) EXPECT_THAT(access_of(squid, origin.url(i)), HasSubstr("CD_SIBLING_HIT"));

  squid.get(origin.url(5000));
  EXPECT_THAT(access_of(squid, origin.url(5000)), HasSubstr("HIER_DIRECT"));
}

std::string numbered_urls(int first, int last) {
  std::string lines;
  for (int i = first; i <= last; ++i) lines += "http://www.example.org/" + std::to_string(i) + "\n";
  return lines;
}

class SquidCommands : public ::testing::Test {
 protected:
  std::string build(const std::string& name, const std::string& urls, std::vector<std::string> flags = {}) {
    std::string path = directory / name;
    std::vector<std::string> arguments{"squid", "build", "-q", "--force", "-o", path};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const CommandResult result = run_tally(arguments, urls);
    EXPECT_EQ(result.exit_code, 0) << result.error;
    return path;
  }

  TemporaryDirectory directory;
};

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
  EXPECT_THAT(run_tally({"squid", "info", path}).output,
              AllOf(HasSubstr("capacity       1000\n"), HasSubstr("bits           5000, 5 an entry\n")));
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
  EXPECT_THAT(result.error, HasSubstr("warning: planned for 100 URLs, and there are 1000"));
  EXPECT_EQ(run_tally({"squid", "query", "-c", directory / "a"}, numbered_urls(1, 1000)).output, "1000\n");
}

TEST_F(SquidCommands, WriteToStandardOutputAndReadFromStandardInput) {
  const std::string path = build("a", numbered_urls(1, 10));
  const CommandResult piped = run_tally({"squid", "build", "-q", "-o", "-"}, numbered_urls(1, 10));
  EXPECT_EQ(piped.output, read_file(path));
  EXPECT_THAT(run_tally({"squid", "info", "-"}, piped.output).output, HasSubstr("count          10\n"));
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
  expect_error({"info", directory.write("junk", "junk")}, "as a Squid digest: there are 4 bytes");
  expect_error({"info", directory.write("long", read_file(path) + "x")},
               "1 bytes follow its end (at byte 135)");
  expect_error({"info", "https://127.0.0.1"}, "is no http URL");
  expect_error({"info", "http://"}, "has no host");
  expect_error({"info", "http://a:b"}, "has a port that is none");
  expect_error({"info", "http://a:65536"}, "has a port that is none");
  expect_error({"info", "http://[::1"}, "has no ']'");
  expect_error({"info", "http://a/\r\nHost: b"}, "has a blank or a control character");
  expect_error({"fetch", "http://127.0.0.1:" + std::to_string(free_port()), "-o", directory / "x"},
               "cannot connect: Connection refused");
  expect_error({"serve", path, "--host", "not an address"}, "--host: 'not an address'");
  expect_error({"serve", path, "--port", "65536"}, "must be at most 65535");
  expect_error({"serve", directory / "absent"}, "No such file");
  const LoopbackSocket taken = LoopbackSocket::listening();
  expect_error({"serve", path, "--port", std::to_string(taken.port())}, "Address already in use");
  expect_error({}, "");
  EXPECT_FALSE(std::filesystem::exists(directory / "x"));
}

// Answers one request with these bytes, and closes the connection.
class OneAnswer {
 public:
  explicit OneAnswer(std::string bytes)
      : listener_(LoopbackSocket::listening()), thread_([this, bytes = std::move(bytes)] {
          const LoopbackSocket connection(::accept4(listener_.file(), nullptr, nullptr, SOCK_CLOEXEC));
          connection.receive("\r\n\r\n");
          connection.send(bytes);
        }) {}
  ~OneAnswer() { thread_.join(); }
  OneAnswer(const OneAnswer&) = delete;
  OneAnswer& operator=(const OneAnswer&) = delete;
  std::string url() const { return "http://127.0.0.1:" + std::to_string(listener_.port()); }

 private:
  LoopbackSocket listener_;
  std::thread thread_;
};

TEST_F(SquidCommands, FetchTakesWholeAnswersOnly) {
  const std::string digest = read_file(build("a", numbered_urls(1, 10)));
  const auto fetch = [&](const std::string& answer) {
    const OneAnswer server(answer);
    return run_tally({"squid", "fetch", "--force", "-q", server.url(), "-o", directory / "x"});
  };
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  for (const std::string& whole :
       {ok + "\r\n" + digest, ok + "Content-Length: 135\r\n\r\n" + digest,
        ok + "Transfer-Encoding: chunked\r\n\r\n87\r\n" + digest + "\r\n0\r\n\r\n"}) {
    const CommandResult result = fetch(whole);
    EXPECT_EQ(result.exit_code, 0) << result.error;
    EXPECT_EQ(read_file(directory / "x"), digest);
  }
  EXPECT_THAT(fetch(ok + "Content-Length: 136\r\n\r\n" + digest).error, HasSubstr("no whole answer"));
  EXPECT_THAT(fetch("").error, HasSubstr("no whole answer"));
  EXPECT_THAT(fetch("junk\r\n\r\n").error, HasSubstr("no whole answer"));
  EXPECT_THAT(fetch(ok + "X: " + std::string(10'000, 'x') + "\r\n\r\n").error, HasSubstr("no whole answer"));
  EXPECT_THAT(fetch(ok + "Content-Length: 1000000000\r\n\r\n").error,
              HasSubstr("answers with more than 268435583 bytes"));
  EXPECT_THAT(fetch("HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n").error,
              HasSubstr("answers 302 Found"));
}

TEST_F(SquidCommands, FetchRefusesWhatIsNoDigest) {
  const HttpOrigin origin;
  const CommandResult object = run_tally({"squid", "fetch", origin.url(1), "-o", directory / "x"});
  EXPECT_EQ(object.exit_code, 2);
  EXPECT_THAT(object.error, HasSubstr("as a Squid digest: there are 6 bytes"));
  ServedDigest served(build("a", numbered_urls(1, 10)));
  const CommandResult absent = run_tally({"squid", "fetch", served.url() + "/other", "-o", directory / "x"});
  EXPECT_EQ(absent.exit_code, 2);
  EXPECT_THAT(absent.error, HasSubstr("/other answers 404 Not Found: the digest is at /squid-internal"));
  EXPECT_FALSE(std::filesystem::exists(directory / "x"));
}

TEST_F(SquidCommands, ServeGivesTheDigestAtItsPathAndWhatIsThereAfterItWasReplaced) {
  const std::string path = build("a", numbered_urls(1, 10));
  ServedDigest served(path);
  EXPECT_EQ(run_tally({"squid", "fetch", "-q", served.url(), "-o", directory / "b"}).exit_code, 0);
  EXPECT_EQ(read_file(directory / "b"), read_file(path));
  EXPECT_EQ(run_tally({"squid", "query", "-c", served.url()}, numbered_urls(1, 10)).output, "10\n");

  build("a", numbered_urls(1, 3000));
  EXPECT_EQ(run_tally({"squid", "query", "-c", served.url()}, numbered_urls(1, 3000)).output, "3000\n");
  EXPECT_THAT(served.command().read_error_line(), HasSubstr("read " + path + " again"));

  directory.write("a", "junk");
  EXPECT_EQ(run_tally({"squid", "query", "-c", served.url()}, numbered_urls(1, 3000)).output, "3000\n");
  EXPECT_THAT(served.command().read_error_line(), HasSubstr("the digest of before is served on"));

  served.command().send(SIGINT);
  const CommandResult ended = served.command().wait();
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.output, std::string("200 GET ") + digest_path + "\n200 GET " + digest_path + "\n200 GET " +
                              digest_path + "\n200 GET " + digest_path + "\n");
}

TEST_F(SquidCommands, ServeAnswersEachRequestAsAPeerShould) {
  const ServedDigest served(build("a", numbered_urls(1, 10)));
  const auto answer = [&](const std::string& request) {
    const LoopbackSocket connection = LoopbackSocket::connected(served.port());
    connection.send(request + "Connection: close\r\n\r\n");
    return connection.receive();
  };
  const std::string digest = answer("GET " + digest_path + " HTTP/1.1\r\nHost: a\r\n");
  EXPECT_THAT(digest, AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("\r\nContent-Length: 135\r\n"),
                            HasSubstr("\r\nContent-Type: application/cache-digest\r\n"),
                            HasSubstr("\r\nExpires: "), HasSubstr("\r\nLast-Modified: ")));
  EXPECT_THAT(answer("GET http://a.test:3128" + digest_path + " HTTP/1.1\r\nHost: a\r\n"),
              StartsWith("HTTP/1.1 200"));
  const std::string head = answer("HEAD " + digest_path + " HTTP/1.1\r\nHost: a\r\n");
  EXPECT_THAT(head, AllOf(HasSubstr("Content-Length: 135\r\n"), ::testing::EndsWith("\r\n\r\n")));
  const std::size_t modified = digest.find("Last-Modified: ") + 15;
  const std::string same = answer("GET " + digest_path + " HTTP/1.1\r\nHost: a\r\nIf-Modified-Since: " +
                                  digest.substr(modified, digest.find('\r', modified) - modified) + "\r\n");
  EXPECT_THAT(same, AllOf(StartsWith("HTTP/1.1 304"), ::testing::EndsWith("\r\n\r\n")));
  EXPECT_THAT(answer("GET " + digest_path + " HTTP/1.1\r\nHost: a\r\nIf-Modified-Since: junk\r\n"),
              StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(answer("GET http://www.example.org/1 HTTP/1.1\r\nHost: a\r\n"), StartsWith("HTTP/1.1 504"));
  EXPECT_THAT(answer("GET /1 HTTP/1.1\r\nHost: a\r\nCache-Control: max-age=1, only-if-cached\r\n"),
              StartsWith("HTTP/1.1 504"));
  EXPECT_THAT(answer("GET / HTTP/1.1\r\nHost: a\r\n"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(answer("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n"), StartsWith("HTTP/1.1 405"));
}

TEST_F(SquidCommands, ServeOutlivesHostileRequests) {
  ServedDigest served(build("a", numbered_urls(1, 10)));
  const auto answer = [&](const std::string& bytes) {
    const LoopbackSocket connection = LoopbackSocket::connected(served.port());
    connection.send(bytes);
    ::shutdown(connection.file(), SHUT_WR);
    return connection.receive();
  };
  EXPECT_THAT(answer("junk\r\n\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(answer("GET / HTTP/1.1\r\nX: " + std::string(100'000, 'x')),
              AnyOf(IsEmpty(), StartsWith("HTTP/1.1 400")));
  EXPECT_THAT(answer("POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n"),
              AnyOf(IsEmpty(), StartsWith("HTTP/1.1 400")));
  EXPECT_THAT(answer("GET / HTT"), Not(HasSubstr("200")));
  EXPECT_THAT(answer(""), IsEmpty());
  // Connections that say nothing, or are closed before the answer, do not keep others out.
  std::vector<LoopbackSocket> silent;
  for (int i = 0; i < 200; ++i) silent.push_back(LoopbackSocket::connected(served.port()));
  for (int i = 0; i < 20; ++i) {
    LoopbackSocket::connected(served.port()).send("GET " + digest_path + " HTTP/1.1\r\n\r\n");
  }
  EXPECT_EQ(run_tally({"squid", "query", "-c", served.url()}, numbered_urls(1, 10)).output, "10\n");
}

}  // namespace
}  // namespace tally::test
