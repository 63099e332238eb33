// The HTTP interface of a node, over TCP and a unix socket, with clients that behave and clients that do not.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "command_runner.hpp"
#include "http.hpp"
#include "running_nodes.hpp"

namespace tally::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Response {
  int status = 0;
  std::string head;
  std::string body;

  Json json() const { return Json::parse(body); }
};

Response response_in(const std::string& bytes) {
  const std::size_t end = bytes.find("\r\n\r\n");
  if (bytes.size() < 12 || end == std::string::npos) return {};
  return {std::stoi(bytes.substr(9, 3)), bytes.substr(0, end), bytes.substr(end + 4)};
}

std::string request_text(
    const std::string& method, const std::string& target, const std::string& body = "",
    const std::string& headers = "Host: localhost\r\nContent-Type: application/json\r\n") {
  return method + " " + target + " HTTP/1.1\r\n" + headers +
         "Connection: close\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

/// A node with an HTTP interface at a port of its own.
class HttpNode : public NodeProcess {
 public:
  HttpNode(const RunningRedis& redis, const std::string& name, const Flags& flags = {})
      : HttpNode(redis, name, free_port(), flags) {}

  std::uint16_t port() const { return port_; }
  Response send(const std::string& bytes) const {
    const LoopbackSocket connection = LoopbackSocket::connected(port_);
    connection.send(bytes);
    return response_in(connection.receive());
  }
  Response get(const std::string& target) const { return send(request_text("GET", target)); }
  Response post(const std::string& target, const Json& body) const {
    return send(request_text("POST", target, body.dump()));
  }
  bool is_listening() const {
    return comes_true([&] {
      try {
        return get("/health").status == 200;
      } catch (const std::system_error&) {
        return false;
      }
    });
  }

 private:
  HttpNode(const RunningRedis& redis, const std::string& name, std::uint16_t port, const Flags& flags)
      : NodeProcess(redis, name, with_port(flags, port)), port_(port) {}
  static Flags with_port(Flags flags, std::uint16_t port) {
    flags.insert(flags.end(), {"--api-listen", ":" + std::to_string(port)});
    return flags;
  }
  std::uint16_t port_;
};

TEST_F(Node, TakesKeysOverHttpAndSaysWhoHasThem) {
  const RunningRedis redis;
  HttpNode a(redis, "a"), b(redis, "b");
  ASSERT_TRUE(a.is_listening() && b.is_listening());
  const Response inserted = a.post("/keys", {{"keys", {"apple", "pear tree"}}, {"keys_hex", {"ff00"}}});
  EXPECT_EQ(inserted.status, 200) << inserted.body;
  EXPECT_EQ(inserted.json(), (Json{{"num_inserted", 3}, {"num_refused", 0}}));
  ASSERT_TRUE(converge({&a, &b}));
  EXPECT_EQ(b.get("/who-has?key=apple").json(), (Json{{"key", "apple"}, {"peers", {"a"}}}));
  EXPECT_EQ(b.get("/who-has?key=pear+tree").json().at("peers"), Json{"a"});
  EXPECT_EQ(b.get("/who-has?key=pear%20tree").json().at("peers"), Json{"a"});
  EXPECT_EQ(b.get("/who-has?key_hex=FF00").json().at("peers"), Json{"a"});
  EXPECT_EQ(b.get("/who-has?key=plum").json().at("peers"), Json::array());

  const Response removed = a.send(request_text("DELETE", "/keys", R"({"keys": ["apple"]})"));
  EXPECT_EQ(removed.json(), (Json{{"num_removed", 1}, {"num_refused", 0}}));
  const Response absent = a.send(request_text("DELETE", "/keys", R"({"keys": ["never"]})"));
  EXPECT_EQ(absent.status, 409);
  EXPECT_EQ(
      absent.json(),
      (Json{{"num_removed", 0},
            {"num_refused", 1},
            {"refused", {0}},
            {"error", "the refused keys are certainly absent; remove only keys that were inserted here"}}));
  ASSERT_TRUE(converge({&a, &b}));
  EXPECT_EQ(b.get("/who-has?key=apple").json().at("peers"), Json::array());
  EXPECT_EQ(a.status().at("changes_refused"), 1);
}

TEST_F(Node, SaysOverHttpThatItsFilterIsFull) {
  const RunningRedis redis;
  HttpNode node(redis, "a", {"--kind", "dleft", "--keys", "20"});
  ASSERT_TRUE(node.is_listening());
  std::vector<std::string> keys;
  for (int i = 0; i < 5000; ++i) keys.push_back(key_of("a", i));
  const Response full = node.post("/keys", {{"keys", keys}});
  EXPECT_EQ(full.status, 507);
  EXPECT_GT(full.json().at("num_refused"), 0);
  EXPECT_EQ(full.json().at("num_refused").get<int>() + full.json().at("num_inserted").get<int>(), 5000);
  EXPECT_EQ(full.json().at("error"), "the filter is full; start the node with larger --keys");
  // Exactly the others can be removed.
  const auto refused = full.json().at("refused").get<std::set<std::size_t>>();
  EXPECT_EQ(full.json().at("num_refused"), refused.size());
  std::vector<std::string> inserted;
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (!refused.contains(i)) inserted.push_back(keys[i]);
  EXPECT_EQ(node.send(request_text("DELETE", "/keys", Json{{"keys", inserted}}.dump())).status, 200);
  EXPECT_EQ(node.status().at("keys"), 0);
}

TEST_F(Node, NamesTheKeysThatItRefusesByTheirIndex) {
  const RunningRedis redis;
  HttpNode node(redis, "a");
  ASSERT_TRUE(node.is_listening());
  EXPECT_EQ(node.post("/keys", {{"keys", {"a", "b"}}, {"keys_hex", {"00"}}}).status, 200);
  // The keys in hexadecimal digits are counted after the others, whichever list is first in the body.
  const Response refused =
      node.send(request_text("DELETE", "/keys", R"({"keys_hex":["01","00"],"keys":["x","a","y","b"]})"));
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(refused.json().at("refused"), (Json{0, 2, 4}));
  EXPECT_EQ(refused.json().at("num_removed"), 3);
}

/// What a scrape of Prometheus makes of a page: the samples by name and labels. Every sample must have a help and a type before it.
std::map<std::string, double> scraped(const std::string& page) {
  const std::regex sample(
      R"(([a-z_:][a-z0-9_:]*)(\{[a-z_]+="[^"\\\n]*"(?:,[a-z_]+="[^"\\\n]*")*\})? (-?[0-9.e+-]+|NaN|\+Inf))");
  std::map<std::string, double> samples;
  std::map<std::string, std::string> types;
  std::set<std::string> helped;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    std::smatch parts;
    if (line.starts_with("# HELP ")) {
      const std::size_t blank = line.find(' ', 7);
      EXPECT_GT(line.size(), blank + 10) << line;  // blank is not npos then
      EXPECT_TRUE(helped.insert(line.substr(7, blank - 7)).second) << line;
    } else if (line.starts_with("# TYPE ")) {
      std::istringstream words(line.substr(7));
      std::string name, type;
      words >> name >> type;
      EXPECT_TRUE(types.emplace(name, type).second) << name << " has two types";
      EXPECT_TRUE(type == "gauge" || type == "counter") << line;
      EXPECT_EQ(type == "counter", name.ends_with("_total")) << line;
    } else if (std::regex_match(line, parts, sample)) {
      EXPECT_TRUE(types.contains(parts[1]) && helped.contains(parts[1])) << line;
      EXPECT_TRUE(samples.emplace(parts[1].str() + parts[2].str(), std::stod(parts[3])).second) << line;
    } else {
      ADD_FAILURE() << "no sample: " << line;
    }
  }
  EXPECT_TRUE(page.ends_with('\n'));
  return samples;
}

TEST_F(Node, FindsTheLongestPrefixOverHttp) {
  const RunningRedis redis;
  HttpNode a(redis, "a"), b(redis, "b"), router(redis, "router");
  ASSERT_TRUE(a.is_listening() && b.is_listening() && router.is_listening());
  EXPECT_EQ(a.post("/keys", {{"keys", {"x1", "x2", "x3"}}}).status, 200);
  EXPECT_EQ(b.post("/keys", {{"keys", {"x1"}}}).status, 200);
  ASSERT_TRUE(converge({&a, &b, &router}));
  const Json found = router.post("/longest-prefix", {{"blocks", {"x1", "x2", "x3", "x4"}}}).json();
  EXPECT_EQ(found.at("num_blocks"), 4);
  ASSERT_EQ(found.at("prefixes").size(), 2u);
  EXPECT_EQ(found.at("prefixes").at(0).at("peer"), "a");
  EXPECT_EQ(found.at("prefixes").at(0).at("num_blocks"), 3);
  EXPECT_EQ(found.at("prefixes").at(1).at("peer"), "b");
  EXPECT_EQ(found.at("prefixes").at(1).at("num_blocks"), 1);
  const auto samples = scraped(router.get("/metrics").body);
  EXPECT_EQ(samples.at("tally_node_lookups_total"), 4);
  EXPECT_EQ(samples.at("tally_node_lookups_maybe_total"), 3);
  EXPECT_EQ(samples.at("tally_node_peer_lookups_maybe_total{peer=\"a\"}"), 3);
  EXPECT_EQ(samples.at("tally_node_peer_lookups_maybe_total{peer=\"b\"}"), 1);
}

TEST_F(Node, HasMetricsForPrometheus) {
  const RunningRedis redis;
  HttpNode a(redis, "a"), b(redis, "b");
  ASSERT_TRUE(a.is_listening() && b.is_listening());
  a.add_keys(0, 100);
  ASSERT_TRUE(converge({&a, &b}));
  EXPECT_EQ(b.get("/who-has?key=" + key_of("a", 3)).status, 200);
  EXPECT_EQ(b.get("/nothing").status, 404);
  const Response page = b.get("/metrics");
  EXPECT_THAT(page.head, HasSubstr("Content-Type: text/plain; version=0.0.4"));
  const auto samples = scraped(page.body);
  EXPECT_EQ(samples.at("tally_node_up"), 1);
  EXPECT_EQ(samples.at("tally_node_peers"), 1);
  EXPECT_EQ(samples.at("tally_node_peer_current{peer=\"a\"}"), 1);
  EXPECT_LT(samples.at("tally_node_peer_age_seconds{peer=\"a\"}"), 60);
  EXPECT_GT(samples.at("tally_node_peer_copy_bytes{peer=\"a\"}"), 0);
  EXPECT_GT(samples.at("tally_node_received_bytes_total"), 0);
  EXPECT_EQ(samples.at("tally_node_lookups_total"), 1);
  EXPECT_EQ(samples.at("tally_node_lookups_maybe_total"), 1);
  EXPECT_EQ(samples.at("tally_node_http_requests_refused_total"), 1);
  EXPECT_GT(samples.at("process_resident_memory_bytes"), 1 << 20);
  EXPECT_EQ(samples.at("tally_node_peer_lookups_maybe_total{peer=\"a\"}"), 1);
  EXPECT_EQ(samples.at("tally_node_messages_refused_total{reason=\"invalid\"}"), 0);
  EXPECT_EQ(scraped(a.get("/metrics").body).at("tally_node_keys"), 100);

  const Json peers = b.get("/peers").json();
  EXPECT_EQ(peers.at("name"), "b");
  EXPECT_EQ(peers.at("peers").at(0).at("name"), "a");
  EXPECT_EQ(b.get("/ready").status, 200);
}

TEST_F(Node, HasMetricsThatTheClientOfPrometheusReads) {
  if (run_program({"/usr/bin/python3", "-c", "import prometheus_client"}).exit_code != 0)
    GTEST_SKIP() << "python3-prometheus-client is not installed (script/packages.txt)";
  const RunningRedis redis;
  HttpNode a(redis, "a"), b(redis, "b");
  ASSERT_TRUE(a.is_listening() && b.is_listening());
  ASSERT_TRUE(converge({&a, &b}));
  const std::string page = b.get("/metrics").body;
  const CommandResult parsed = run_program(
      {"/usr/bin/python3", "-c",
       "import sys\nfrom prometheus_client.parser import text_string_to_metric_families as parse\n"
       "print(sum(len(metric.samples) for metric in parse(sys.stdin.read())))\n"},
      page);
  EXPECT_EQ(parsed.output, std::to_string(scraped(page).size()) + "\n") << parsed.error;
}

double sum_over(const std::map<std::string, double>& samples, const std::string& name) {
  double sum = 0;
  for (const auto& [sample, value] : samples) sum += sample.starts_with(name) ? value : 0;
  return sum;
}

TEST_F(Node, CountsTheBytesOfEachPeerByTheirKind) {
  const RunningRedis redis;
  HttpNode a(redis, "a"), b(redis, "b");
  ASSERT_TRUE(a.is_listening() && b.is_listening());
  a.add_keys(0, 1000);
  ASSERT_TRUE(converge({&a, &b}));
  a.add_keys(1000, 1010);
  ASSERT_TRUE(converge({&a, &b}));
  ASSERT_TRUE(comes_true([&] {
    const auto samples = scraped(b.get("/metrics").body);
    return samples.at("tally_node_peer_received_bytes_total{peer=\"a\",kind=\"full\"}") > 1000 &&
           samples.at("tally_node_peer_received_bytes_total{peer=\"a\",kind=\"delta\"}") > 10 &&
           samples.at("tally_node_peer_received_bytes_total{peer=\"a\",kind=\"stored\"}") > 10 &&
           samples.at("tally_node_peer_received_bytes_total{peer=\"a\",kind=\"heartbeat\"}") > 10;
  }));
  const auto of_a = scraped(a.get("/metrics").body);
  EXPECT_GT(of_a.at("tally_node_sent_bytes_total{kind=\"full\"}"), 1000);
  EXPECT_GT(of_a.at("tally_node_sent_bytes_total{kind=\"delta\"}"), 10);
  const auto all_sent = [&] {
    return sum_over(scraped(b.get("/metrics").body), "tally_node_sent_bytes_total");
  };
  const double before = all_sent();
  const double between = b.status().at("bytes_sent");
  EXPECT_GE(between, before);
  EXPECT_LE(between, all_sent());
}

TEST_F(Node, CountsTheFalsePositivesThatClientsReport) {
  const RunningRedis redis;
  HttpNode a(redis, "a"), b(redis, "b");
  ASSERT_TRUE(b.is_listening());
  a.add_keys(0, 10);
  ASSERT_TRUE(converge({&a, &b}));
  EXPECT_EQ(b.post("/false-positives", {{"peer", "a"}}).status, 200);
  EXPECT_EQ(b.post("/false-positives", {{"peer", "a"}, {"num_keys", 4}}).status, 200);
  b.say("!false a 2");
  b.say("!false a");
  b.say("!false nobody");
  EXPECT_EQ(b.post("/false-positives", {{"peer", "nobody"}}).status, 404);
  for (const Json& body : std::vector<Json>{Json::object(),
                                            {{"peer", 3}},
                                            {{"peer", "a"}, {"num_keys", -1}},
                                            {{"peer", "a"}, {"num_keys", "x"}},
                                            {{"peer", "a"}, {"num_keys", 1e20}}})
    EXPECT_EQ(b.post("/false-positives", body).status, 400) << body;
  const Json peer = b.status().at("peers").at(0);
  EXPECT_EQ(peer.at("false_positives"), 8);
  EXPECT_EQ(scraped(b.get("/metrics").body).at("tally_node_peer_false_positives_total{peer=\"a\"}"), 8);
}

TEST_F(Node, CountsVersionsThatWereLostAndRepaired) {
  const RunningRedis redis;
  HttpNode a(redis, "a"), b(redis, "b");
  ASSERT_TRUE(b.is_listening());
  a.add_keys(0, 10);
  ASSERT_TRUE(converge({&a, &b}));
  EXPECT_EQ(b.status().at("versions_lost"), 0);
  // A heartbeat of a version that never came; again, if `a` has just published a later one.
  ASSERT_TRUE(comes_true([&] {
    const Json held = b.status().at("peers").at(0);
    Forger forger = forger_of("a", held.at("epoch"));
    for (std::uint64_t i = 0; i < held.at("sequence").get<std::uint64_t>() + 1; ++i) {
      (void)forger.insert("forged " + std::to_string(i));  // no version without a change
      (void)forger.publish();
    }
    publish_as(redis, "a", forger.heartbeat());
    return b.status().at("versions_lost") >= 1;
  }));
  ASSERT_TRUE(comes_true([&] {
    const Json status = b.status();
    return status.at("versions_repaired") == status.at("versions_lost") && converge({&a, &b});
  }));
}

TEST_F(Node, CountsRefusedMessagesByTheirReason) {
  const RunningRedis redis;
  HttpNode node(redis, "a");
  ASSERT_TRUE(node.is_listening());
  ASSERT_TRUE(comes_true([&] { return node.get("/ready").status == 200; }));
  redis.call({"PUBLISH", "tally:default:summary:b", "nonsense"});
  publish_as(redis, "c", forger_of("d").publish());  // on another channel
  publish_as(redis, "e", forger_of("e", 0, {}, 20'000, KeyHasher(7)).full());
  ASSERT_TRUE(comes_true([&] {
    const auto samples = scraped(node.get("/metrics").body);
    return samples.at("tally_node_messages_refused_total{reason=\"invalid\"}") == 1 &&
           samples.at("tally_node_messages_refused_total{reason=\"terms\"}") == 2;
  }));
  EXPECT_EQ(node.status().at("messages_refused"), 3);
}

TEST_F(Node, IsNotReadyWithoutItsServer) {
  std::optional<RunningRedis> redis(std::in_place);
  HttpNode node(*redis, "a");
  ASSERT_TRUE(node.is_listening());
  EXPECT_TRUE(comes_true([&] { return node.get("/ready").status == 200; }));
  redis.reset();
  EXPECT_TRUE(comes_true([&] { return node.get("/ready").status == 503; }));
  EXPECT_EQ(node.get("/health").status, 200);
}

TEST_F(Node, AnswersAtAUnixSocketThatOnlyItsOwnerCanOpen) {
  const RunningRedis redis;
  const TemporaryDirectory directory;
  const std::string path = directory / "node.sock";
  {
    NodeProcess node(redis, "a", {"--api-socket", path});
    const LoopbackSocket connection = connect_to_socket(path);
    EXPECT_EQ(std::filesystem::status(path).permissions(),
              std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    // A local client may leave out what keeps pages of a browser away, and send requests one after the other.
    connection.send(
        "GET /health HTTP/1.1\r\nHost: any\r\n\r\nGET /who-has?key=x HTTP/1.1\r\nHost: any\r\nConnection: "
        "close\r\n\r\n");
    const std::string both = connection.receive();
    EXPECT_THAT(both, HasSubstr("{\"status\":\"ok\"}"));
    EXPECT_THAT(both, HasSubstr("{\"key\":\"x\",\"peers\":[]}"));
  }
  // What a killed node left is no obstacle.
  NodeProcess again(redis, "a", {"--api-socket", path});
  const LoopbackSocket connection = connect_to_socket(path);
  connection.send("GET /health HTTP/1.1\r\nHost: any\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(response_in(connection.receive()).status, 200);
}

TEST_F(Node, RefusesAHundredBadRequestsAndGoesOn) {
  const RunningRedis redis;
  HttpNode node(redis, "a");
  ASSERT_TRUE(node.is_listening());
  const double num_before =
      scraped(node.get("/metrics").body).at("tally_node_http_requests_total");  // of is_listening, and itself
  const std::string usual = "Host: localhost\r\n";
  const std::string json = usual + "Content-Type: application/json\r\n";
  std::vector<std::pair<std::string, int>> bad;
  const auto add = [&](const std::string& bytes, int status) { bad.emplace_back(bytes, status); };
  for (const char* const garbage :
       {"\r\n\r\n\r\n\r\nX\r\n\r\n", "GET\r\n\r\n", "GET /health\r\n\r\n", "GET /health HTTP/9.1\r\n\r\n",
        "get\x01 / HTTP/1.1\r\n\r\n", "\x16\x03\x01\x02 hello\r\n\r\n",
        "GET /health HTTP/1.1\r\nHost localhost\r\n\r\n", "GET /health HTTP/1.1\r\n: x\r\n\r\n",
        "POST /keys HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        "POST /keys HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n",
        "POST /keys HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: "
        "chunked\r\n\r\nzz\r\n"})
    add(garbage, 400);
  add("GET /" + std::string(10'000, 'a') + " HTTP/1.1\r\n\r\n", 431);
  add("GET /health HTTP/1.1\r\nX: " + std::string(10'000, 'a') + "\r\n\r\n", 431);
  add("POST /keys HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n", 413);
  for (const char* const target :
       {"*", "http://elsewhere/", "/%", "/%g1", "/who-has?key=%f", "/who-has?key=%zz"})
    add(request_text("GET", target, "", usual), 400);
  for (const char* const target :
       {"/who-has", "/who-has?key_hex=0", "/who-has?key_hex=zz", "/who-has?key=a&key_hex=00",
        "/who-has?key=a&key=b", "/who-has?key=a&limit=1"})
    add(request_text("GET", target, "", usual), 400);
  for (const char* const target : {"/", "/nothing", "/keys/", "/../etc/passwd", "/%00"})
    add(request_text("GET", target, "", usual), 404);
  for (const char* const method : {"PUT", "PATCH", "GET", "OPTIONS", "PURGE", "get"})
    add(request_text(method, "/keys", "", usual), 405);
  for (const char* const path : {"/health", "/metrics", "/peers", "/who-has?key=a"})
    add(request_text("POST", path, "{}", json), 405);
  for (const char* const host : {"", "Host: evil.example\r\n", "Host: localhost.evil.example:80\r\n",
                                 "Host: 169.254.169.254\r\n", "Host: [::2]:80\r\n", "Host: [\r\n"})
    add(request_text("GET", "/health", "", host), 421);
  for (const char* const origin : {"http://evil.example", "null", "http://localhost"})
    add(request_text("GET", "/health", "", usual + "Origin: " + origin + "\r\n"), 403);
  for (const char* const site : {"cross-site", "same-site", "anything"})
    add(request_text("GET", "/health", "", usual + "Sec-Fetch-Site: " + site + "\r\n"), 403);
  for (const char* const type :
       {"", "Content-Type: text/plain\r\n", "Content-Type: application/x-www-form-urlencoded\r\n",
        "Content-Type: application/jsonx\r\n"})
    add(request_text("POST", "/keys", R"({"keys":["a"]})", usual + type), 415);
  for (const char* const body :
       {"", "{", "[]", "{}", "null", "\"keys\"", R"({"keys":"a"})", R"({"keys":[1]})", R"({"keys":[["a"]]})",
        R"({"keys":{"a":1}})", R"({"keys":[null]})", R"({"keys_hex":["0"]})", R"({"keys_hex":["xy"]})",
        R"({"blocks":["a"]})", "{\"keys\":[\"\xff\"]}", R"({"keys":["a"],"keys":["b"]})",
        R"({"keys":["a"],"key":"b"})", R"({"keys":["a"]}})"})
    for (const char* const method : {"POST", "DELETE"}) add(request_text(method, "/keys", body, json), 400);
  for (const char* const body : {"", "{}", R"({"keys":["a"]})", R"({"blocks":[7]})"})
    add(request_text("POST", "/longest-prefix", body, json), 400);
  for (const char* const body : {R"({"peer":"a","num_keys":[1]})", R"({"peer":["a"]})", R"({"num_keys":1})"})
    add(request_text("POST", "/false-positives", body, json), 400);
  EXPECT_GE(bad.size(), 100u);
  EXPECT_EQ(std::set(bad.begin(), bad.end()).size(), bad.size());
  for (const auto& [bytes, status] : bad) {
    const Response response = node.send(bytes);
    EXPECT_EQ(response.status, status) << bytes.substr(0, 120) << "\n" << response.body;
    if (response.body.empty()) continue;  // of a HEAD
    EXPECT_THAT(response.head, HasSubstr("Content-Type: application/json\r\n"));
    const Json json_body = response.json();
    EXPECT_EQ(json_body.size(), 1U);
    EXPECT_THAT(
        json_body.at("error").get<std::string>(),
        ::testing::AllOf(::testing::Not(HasSubstr("exception")), ::testing::SizeIs(::testing::Lt(300U))));
  }
  const auto samples = scraped(node.get("/metrics").body);
  EXPECT_EQ(samples.at("tally_node_http_requests_refused_total"), static_cast<double>(bad.size()));
  EXPECT_EQ(
      samples.at("tally_node_http_requests_total") - samples.at("tally_node_http_requests_refused_total"),
      num_before + 1);
  EXPECT_EQ(node.get("/peers").json().at("keys"), 0);
  EXPECT_EQ(node.status().at("is_connected"), true);
}

/// Raises the number of files that this process may have, until the end of the test.
class ManyFiles {
 public:
  ManyFiles() {
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit more = before_;
    more.rlim_cur = std::min<rlim_t>(more.rlim_max, 4096);
    setrlimit(RLIMIT_NOFILE, &more);
    number_ = more.rlim_cur;
  }
  ~ManyFiles() { setrlimit(RLIMIT_NOFILE, &before_); }
  ManyFiles(const ManyFiles&) = delete;
  ManyFiles& operator=(const ManyFiles&) = delete;
  rlim_t number() const { return number_; }

 private:
  rlimit before_{};
  rlim_t number_ = 0;
};

TEST_F(Node, SurvivesAThousandSlowConnections) {
  const ManyFiles files;
  if (files.number() < 1100) GTEST_SKIP() << "this process may have only " << files.number() << " files";
  const RunningRedis redis;
  HttpNode node(redis, "a");
  ASSERT_TRUE(node.is_listening());
  std::vector<LoopbackSocket> slow;
  for (int i = 0; i < 1000; ++i) {
    slow.push_back(LoopbackSocket::connected(node.port()));
    slow.back().send(i % 3 == 0   ? ""
                     : i % 3 == 1 ? "GET /hea"
                                  : "POST /keys HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                                    "application/json\r\nContent-Length: 9\r\n\r\n{");
    if (i % 100 == 99) {
      EXPECT_EQ(node.get("/health").status, 200) << i;
    }
  }
  EXPECT_EQ(node.post("/keys", {{"keys", {"a"}}}).status, 200);
  EXPECT_EQ(node.status().at("keys"), 1);
}

TEST_F(Node, AnswersWhileClientsDoNotReadTheirAnswers) {
#ifdef TALLY_COMMAND_IS_EMULATED
  GTEST_SKIP() << "the questions alone take longer than 25 s";
#endif
  const RunningRedis redis;
  const TemporaryDirectory directory;
  const std::string path = directory / "node.sock";
  HttpNode node(redis, "a", {"--api-socket", path});
  ASSERT_TRUE(node.is_listening());
  // Each answer is as long as its question, and no socket holds one of a million bytes.
  const std::string question = "?" + std::string(1'000'000, 'x') + "\n";
  const auto start = std::chrono::steady_clock::now();
  std::vector<LoopbackSocket> deaf;
  for (int i = 0; i < 270; ++i) {
    deaf.push_back(connect_to_socket(path));
    ASSERT_TRUE(deaf.back().send(question));
  }
  const LoopbackSocket client = connect_to_socket(path);
  EXPECT_TRUE(client.send("GET /health HTTP/1.1\r\nHost: any\r\nConnection: close\r\n\r\n"));
  EXPECT_EQ(response_in(client.receive()).status, 200);
  // No connection was freed because its 30 s to read an answer were over.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(25));
}

TEST_F(Node, KeepsItsUnixSocketForLocalClientsWhileOthersFillItsPort) {
  const RunningRedis redis;
  const TemporaryDirectory directory;
  const std::string path = directory / "node.sock";
  HttpNode node(redis, "a", {"--api-socket", path});
  ASSERT_TRUE(node.is_listening());
  const LoopbackSocket local = connect_to_socket(path);
  local.send("!text\n?before\n");
  EXPECT_EQ(local.receive("\n"), "before\t\n");
  std::vector<LoopbackSocket> many;
  for (int i = 0; i < 300; ++i) many.push_back(LoopbackSocket::connected(node.port()));
  EXPECT_EQ(node.get("/health").status, 200);
  local.send("?after\n");
  EXPECT_EQ(local.receive("\n"), "after\t\n");
}

/// Sends a request in parts, each of which the node reads alone, and does not end it.
Response answer_to_parts(std::uint16_t port, const std::string& head, const std::string& part,
                         int num_parts) {
  const LoopbackSocket client = LoopbackSocket::connected(port);
  client.send(head);
  for (int i = 0; i < num_parts; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (!client.send(part)) break;
  }
  return response_in(client.receive());
}

TEST_F(Node, StoresNoMoreThanEightKibibytesBesidesTheBody) {
  const RunningRedis redis;
  HttpNode node(redis, "a");
  ASSERT_TRUE(node.is_listening());
  const std::string chunked =
      "POST /keys HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"
      "Transfer-Encoding: chunked\r\n\r\n";
  const std::string part(900, 'a');
  for (const auto& [head, piece] : {
           std::pair{std::string("GET /health HTTP/1.1\r\nHost: localhost\r\n"), "X: " + part + "\r\n"},
           {"GET /", part},
           {chunked + "5;x=", part},
           {chunked + "0\r\n", "X: " + part + "\r\n"},
           {chunked, "1;x=" + part + "\r\n \r\n"},
       }) {
    const Response refused = answer_to_parts(node.port(), head, piece, 10);
    EXPECT_EQ(refused.status, 431) << head;
    EXPECT_THAT(refused.body, HasSubstr("8192 bytes")) << head;
  }
  // A long body in chunks is none of these.
  std::string body = chunked + "9\r\n{\"keys\":[\r\n";
  for (int i = 0; i < 3000; ++i) body += "66\r\n\"" + std::string(99, 'k') + "\",\r\n";
  body += "5\r\n\"x\"]}\r\n0\r\nTrailer: x\r\n\r\n";
  const Response taken = node.send(body);
  EXPECT_EQ(taken.status, 200) << taken.body;
  EXPECT_EQ(taken.json().at("num_inserted"), 3001);
}

TEST_F(Node, TakesABodyInChunksByteByByte) {
  const RunningRedis redis;
  HttpNode node(redis, "a");
  ASSERT_TRUE(node.is_listening());
  const std::string head =
      "Host: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: "
      "close\r\n\r\n";
  const auto answer = [&](const std::string& chunks) {
    const LoopbackSocket client = LoopbackSocket::connected(node.port());
    client.send("POST /keys HTTP/1.1\r\n" + head);
    for (const char byte : chunks) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      client.send(std::string(1, byte));
    }
    return response_in(client.receive());
  };
  EXPECT_EQ(
      answer("4\r\n{\"ke\r\n8;x=y\r\nys\":[\"a\"\r\n2\r\n]}\r\n0\r\nX: y\r\n\r\n").json().at("num_inserted"),
      1);
  EXPECT_THAT(answer("0\r\n\r\n").json().at("error"), HasSubstr("the body is not JSON"));
}

TEST_F(Node, RefusesByTheHeaderBeforeItReadsTheBody) {
  const RunningRedis redis;
  HttpNode node(redis, "a");
  ASSERT_TRUE(node.is_listening());
  const auto answer = [&](const std::string& line, const std::string& headers) {
    const LoopbackSocket client = LoopbackSocket::connected(node.port());
    client.send(line + " HTTP/1.1\r\n" + headers +
                "Content-Length: 1000000\r\nExpect: 100-continue\r\n\r\n{");
    return response_in(client.receive()).status;
  };
  const std::string json = "Content-Type: application/json\r\n";
  EXPECT_EQ(answer("POST /keys", json + "Host: elsewhere\r\n"), 421);
  EXPECT_EQ(answer("POST /keys", json + "Host: localhost\r\nOrigin: null\r\n"), 403);
  EXPECT_EQ(answer("POST /keys", "Host: localhost\r\n"), 415);
  EXPECT_EQ(answer("PUT /keys", json + "Host: localhost\r\n"), 405);
  EXPECT_EQ(answer("POST /key", json + "Host: localhost\r\n"), 404);
}

TEST_F(Node, ReadsNoLargerPartOfABodyThanItUses) {
  const RunningRedis redis;
  HttpNode node(redis, "a");
  ASSERT_TRUE(node.is_listening());
  std::string names;
  for (int i = 0; i < 500'000; ++i) names += "\"" + std::to_string(i) + "\":0,";
  std::string nested(8'000'000, '[');
  std::string keys;
  for (int i = 0; i < 1'000'000; ++i) keys += "\"" + std::to_string(i % 100) + "\",";
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(node.send(request_text("POST", "/keys", "{" + names + "\"keys\":[]}")).json().at("error"),
              "there is no member '0'; give keys or keys_hex");
  EXPECT_THAT(node.send(request_text("POST", "/keys", nested)).json().at("error"),
              "the body must be a JSON object");
  EXPECT_THAT(node.send(request_text("POST", "/keys", "{\"keys\":" + nested)).json().at("error"),
              "'keys' must be a list of texts");
  EXPECT_EQ(
      node.send(request_text("POST", "/keys", "{\"keys\":[" + keys + "\"x\"]}")).json().at("num_inserted"),
      1'000'001);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST_F(Node, SaysWhatItReadAndWhatIsAllowed) {
  const RunningRedis redis;
  HttpNode node(redis, "a");
  ASSERT_TRUE(node.is_listening());
  const auto error_of = [&](const std::string& method, const std::string& target,
                            const std::string& body = "") {
    return node.send(request_text(method, target, body)).json().at("error").get<std::string>();
  };
  EXPECT_EQ(error_of("POST", "/false-positives", R"({"peer":"a","num_keys":-1})"),
            "'num_keys' is -1; must be a whole number from 0 to 1000000000");
  EXPECT_EQ(error_of("POST", "/false-positives", R"({"peer":"a","num_keys":1000000001})"),
            "'num_keys' is 1000000001; must be a whole number from 0 to 1000000000");
  EXPECT_EQ(error_of("POST", "/false-positives", R"({"peer":"a","num_keys":1e20})"),
            "'num_keys' is 1e20; must be a whole number from 0 to 1000000000");
  EXPECT_EQ(error_of("POST", "/false-positives", R"({"peer":")" + std::string(1'000'000, 'p') + R"("})"),
            "there is no peer '" + std::string(80, 'p') + "...'; /peers has their names");
  EXPECT_EQ(error_of("POST", "/keys", R"({"keys_hex":[")" + std::string(1'000'001, '0') + R"("]})"),
            "'" + std::string(80, '0') + "...' has an odd number of hexadecimal digits");
  EXPECT_EQ(error_of("POST", "/keys", R"({"keys":["a)"),
            "the body is not JSON in UTF-8: it is wrong at byte 12, at '\"a'");
  EXPECT_EQ(error_of("GET", "/who-has?key=a&key=b"), "give one parameter: ?key= or ?key_hex=");
  EXPECT_EQ(error_of("POST", "/keys", std::string(std::size_t{9} << 20, ' ')),
            "the body has more than 8388608 bytes; send the keys in several requests");
  const Response wrong_method = node.send(request_text("GET", "/keys"));
  EXPECT_EQ(wrong_method.status, 405);
  EXPECT_THAT(wrong_method.head, HasSubstr("\r\nAllow: POST, DELETE"));
  const Response wrong_host = node.send(request_text("GET", "/health", "", "Host: elsewhere:80\r\n"));
  EXPECT_EQ(wrong_host.json().at("error"),
            "the Host is 'elsewhere:80'; must be localhost or 127.0.0.1 or ::1, unless the node has an "
            "--api-token-file");
  EXPECT_EQ(node.send(request_text("GET", "/health", "", "Host: LocalHost:80\r\n")).status, 200);
}

TEST_F(Node, RefusesPagesOfABrowserOverTcp) {
  const RunningRedis redis;
  HttpNode node(redis, "a");
  ASSERT_TRUE(node.is_listening());
  const auto status_of = [&](const std::string& site) {
    return node.send(request_text("GET", "/peers", "", "Host: localhost\r\nSec-Fetch-Site: " + site + "\r\n"))
        .status;
  };
  EXPECT_EQ(status_of("cross-site"), 403);
  EXPECT_EQ(status_of("same-site"), 403);
  EXPECT_EQ(status_of("none"), 200);  // its user has typed the address
  EXPECT_EQ(status_of("same-origin"), 200);
}

TEST_F(Node, NeedsItsTokenOverTcp) {
  const RunningRedis redis;
  const TemporaryDirectory directory;
  const std::string token = directory.write("token", "open sesame\n");
  HttpNode node(redis, "a", {"--api-token-file", token});
  const auto get = [&](const std::string& header) {
    return node.send(request_text("GET", "/health", "", "Host: localhost\r\n" + header)).status;
  };
  ASSERT_TRUE(comes_true([&] {
    try {
      return get("Authorization: Bearer open sesame\r\n") == 200;
    } catch (const std::system_error&) {
      return false;
    }
  }));
  EXPECT_EQ(get(""), 401);
  EXPECT_EQ(get("Authorization: Bearer open sesam\r\n"), 401);
  EXPECT_EQ(get("Authorization: Bearer open sesame!\r\n"), 401);
  EXPECT_EQ(get("Authorization: Basic open sesame\r\n"), 401);
  // Whoever has it may call the node by any name.
  const auto with_host = [&](const std::string& header) {
    return node.send(request_text("GET", "/health", "", "Host: node.example:80\r\n" + header)).status;
  };
  EXPECT_EQ(with_host("Authorization: Bearer open sesame\r\n"), 200);
  EXPECT_EQ(with_host("Authorization: Bearer close sesame\r\n"), 401);
  // The others keep no connection.
  const LoopbackSocket stranger = LoopbackSocket::connected(node.port());
  stranger.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(stranger.receive(), ::testing::AllOf(HasSubstr("401"), HasSubstr("\r\nConnection: close\r\n")));
}

TEST_F(Node, RefusesAnAddressWhereItCannotListen) {
  const TemporaryDirectory directory;
  const std::string empty = directory.write("empty", "");
  const auto refused = [](Flags flags) {
    flags.insert(flags.begin(), {"node", "a", "--redis", "unix:///nowhere", "--quiet"});
    const CommandResult result = run_tally(flags);
    EXPECT_EQ(result.exit_code, 2);
    return result.error;
  };
  EXPECT_THAT(refused({"--api-listen", "0.0.0.0:0"}), HasSubstr("--api-token-file"));
  EXPECT_THAT(refused({"--api-listen", "8080"}), HasSubstr("is no address"));
  EXPECT_THAT(refused({"--api-listen", ":99999"}), HasSubstr("is no address"));
  EXPECT_THAT(refused({"--api-listen", "no.such.host.invalid:80", "--api-token-file", empty}),
              HasSubstr("--api-token-file"));
  EXPECT_THAT(refused({"--api-socket", "/nowhere/at/all.sock"}),
              HasSubstr("cannot listen at /nowhere/at/all.sock"));
  EXPECT_THAT(refused({"--api-socket", directory / std::string(200, 'x')}),
              HasSubstr("must have at most 107"));
  const LoopbackSocket taken = LoopbackSocket::listening();
  EXPECT_THAT(refused({"--api-listen", ":" + std::to_string(taken.port())}),
              HasSubstr("cannot listen at 127.0.0.1:"));
}

}  // namespace
}  // namespace tally::test
