// tally squid against Debian's Squid.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <nlohmann/json.hpp>
#include <string>

#include "comes_true.hpp"
#include "http.hpp"
#include "running_squid.hpp"
#include "served_digest.hpp"

namespace tally::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using Json = nlohmann::json;

std::string lines_of(const HttpOrigin& origin, int first, int last) {
  std::string lines;
  for (int i = first; i <= last; ++i) lines += origin.url(i) + "\n";
  return lines;
}

class Squid : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::access(squid_program, X_OK) != 0)
      GTEST_SKIP() << "no " << squid_program << ": install Debian's squid";
  }

  // A digest of URLs, and the number of its bits that are set.
  std::string build(const std::string& urls, int& num_set, const std::string& capacity = "2000") const {
    std::string path = directory / "digest";
    const CommandResult built =
        run_tally({"squid", "build", "--json", "--capacity", capacity, "-b", "10", "-o", path}, urls);
    EXPECT_EQ(built.exit_code, 0) << built.error;
    const Json json = Json::parse(built.output);
    num_set =
        static_cast<int>(std::lround(json["fill_ratio"].get<double>() * json["num_bits"].get<double>()));
    return path;
  }
  // The first number from this one on whose URL is not in the digest, where it may be by chance: URLs have a port.
  static int absent_from(const std::string& digest, const HttpOrigin& origin, int number) {
    while (run_tally({"squid", "query", digest}, origin.url(number)).exit_code == 0) ++number;
    return number;
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
  const std::string digest = build(lines_of(origin, 1, 1000), num_set);
  const ServedDigest served(digest);
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

  const std::string absent = origin.url(absent_from(digest, origin, 5000));
  squid.get(absent);
  EXPECT_THAT(access_of(squid, absent), HasSubstr("HIER_DIRECT"));
}

TEST_F(Squid, CountsParentHitsOnlyWithoutPersistentConnections) {
  const HttpOrigin origin;
  const RunningSquid parent("digest_generation off\n");
  int num_set = 0;
  const std::string digest = build(lines_of(origin, 1, 50), num_set, "100");
  const ServedDigest served(digest);
  for (const bool is_persistent : {true, false}) {
    const RunningSquid squid("digest_generation off\nnever_direct allow all\nserver_persistent_connections " +
                             std::string(is_persistent ? "on" : "off") + "\ncache_peer 127.0.0.1 parent " +
                             std::to_string(parent.port()) +
                             " 0 no-query default no-netdb-exchange digest-url=" + served.url() +
                             digest_path + "\n");
    // It does not use its parent, nor ask for the digest, before it has found that the parent lives.
    ASSERT_TRUE(comes_true([&] { return squid.get(origin.url(6000)).starts_with("HTTP/1.1 200"); }));
    wait_for_digest(squid, origin, num_set);
    // In turn a URL that is not in the digest, and one that is.
    int absent = 7000;
    for (const int i : {1, 2, 3}) {
      absent = absent_from(digest, origin, absent + 1);
      squid.get(origin.url(absent));
      squid.get(origin.url(i));
      EXPECT_THAT(access_of(squid, origin.url(absent)), HasSubstr("FIRSTUP_PARENT")) << i;
      // With a connection that is used again, the log has why it was opened.
      EXPECT_THAT(access_of(squid, origin.url(i)),
                  HasSubstr(is_persistent ? "FIRSTUP_PARENT" : "CD_PARENT_HIT"))
          << i;
    }
  }
}

}  // namespace
}  // namespace tally::test
