// tally squid fetch and serve against any peer, the hostile too.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <regex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "comes_true.hpp"
#include "http.hpp"
#include "served_digest.hpp"

namespace tally::test {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

// Answers one request with these bytes, and then with the repeated ones, with pauses, until nobody takes them.
class OneAnswer {
 public:
  explicit OneAnswer(std::string bytes, std::string repeated = "", useconds_t pause = 0)
      : listener_(LoopbackSocket::listening()),
        thread_([this, bytes = std::move(bytes), repeated = std::move(repeated), pause] {
          const LoopbackSocket connection(::accept4(listener_.file(), nullptr, nullptr, SOCK_CLOEXEC));
          connection.receive("\r\n\r\n");
          bool is_open = connection.send(bytes);
          while (is_open && !repeated.empty()) {
            usleep(pause);
            is_open = connection.send(repeated);
          }
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
  EXPECT_THAT(fetch(ok + "Content-Length: 136\r\n\r\n" + digest).error, HasSubstr("incomplete answer"));
  EXPECT_THAT(fetch("").error, HasSubstr("incomplete answer"));
  EXPECT_THAT(fetch("junk\r\n\r\n").error, HasSubstr("incomplete answer"));
  EXPECT_THAT(fetch(ok + "X: " + std::string(10'000, 'x') + "\r\n\r\n").error,
              HasSubstr("incomplete answer"));
  EXPECT_THAT(fetch(ok + "Content-Length: 1000000000\r\n\r\n").error,
              HasSubstr("answers with more than 268435583 bytes"));
  EXPECT_THAT(fetch("HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n").error,
              HasSubstr("answers 302 Found"));
}

TEST_F(SquidCommands, FetchRefusesWhatIsNoDigest) {
  const HttpOrigin origin;
  const CommandResult object = run_tally({"squid", "fetch", origin.url(1), "-o", directory / "x"});
  EXPECT_EQ(object.exit_code, 2);
  EXPECT_THAT(object.error, HasSubstr("as a Squid digest: length is 6 bytes"));
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
  EXPECT_THAT(served.command().read_error_line(), HasSubstr("still serving the previous digest"));

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

TEST_F(SquidCommands, ServeKeepsAnAccessLogThatCanBeRotated) {
  const std::string log = directory / "access.log";
  ServedDigest served(build("a", numbered_urls(1, 10)), ":", "--access-log '" + log + "'");
  const auto ask = [&](const std::string& request) {
    const LoopbackSocket connection = LoopbackSocket::connected(served.port());
    connection.send(request + "Connection: close\r\n\r\n");
    (void)connection.receive();
  };
  ask("GET " + digest_path + " HTTP/1.1\r\nHost: a\r\nUser-Agent: one \"two\"\r\n");
  ask("GET /no\\ne HTTP/1.0\r\nHost: a\r\n");
  ask("nonsense\r\n");
  const std::string when = R"(\[\d\d/[A-Z][a-z]{2}/20\d\d:\d\d:\d\d:\d\d \+0000\])";
  const std::regex first("127\\.0\\.0\\.1 - - " + when + " \"GET " + digest_path +
                         R"( HTTP/1\.1" 200 135 "-" "one \\x22two\\x22"\n)" + "127\\.0\\.0\\.1 - - " + when +
                         R"( "GET /no\\x5cne HTTP/1\.0" 404 \d+ "-" "-"\n)" + "127\\.0\\.0\\.1 - - " + when +
                         R"( "- - HTTP/1\.1" 400 12 "-" "-"\n)");
  EXPECT_TRUE(comes_true([&] { return std::regex_match(read_file(log), first); })) << read_file(log);

  std::filesystem::rename(log, directory / "access.log.1");
  served.command().send(SIGUSR1);
  EXPECT_TRUE(comes_true([&] { return std::filesystem::exists(log); }));
  ask("HEAD / HTTP/1.1\r\nHost: a\r\n");
  EXPECT_TRUE(comes_true([&] {
    return read_file(log).find("\"HEAD / HTTP/1.1\" 404 0 ") != std::string::npos;
  })) << read_file(log);
  EXPECT_TRUE(std::regex_match(read_file(directory / "access.log.1"), first));
  const CommandResult refused =
      run_tally({"squid", "serve", directory / "a", "--port", "0", "--access-log", "/nowhere/access.log"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.error, HasSubstr("--access-log: '/nowhere/access.log'"));
}

const std::string chunked_beginning = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

TEST_F(SquidCommands, FetchGivesUpWhereChunksHoldNextToNothing) {
  std::string chunks;
  for (int i = 0; i < 1000; ++i) chunks += "1\r\nx\r\n";
  const OneAnswer server(chunked_beginning, chunks, 0);
  const auto start = std::chrono::steady_clock::now();
  const CommandResult result = run_tally({"squid", "fetch", server.url(), "-o", directory / "x"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.error, AllOf(HasSubstr(server.url()), HasSubstr("bytes are content")));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  EXPECT_EQ(directory.num_files(), 0U);
}

TEST_F(SquidCommands, SlowFetchGivesUpWhereBytesComeOneByOne) {
  for (const std::string& beginning : {chunked_beginning, std::string("HTTP/1.1 200 OK\r\n\r\n")}) {
    const OneAnswer server(beginning, beginning == chunked_beginning ? "1\r\nx\r\n" : "x", 100'000);
    const auto start = std::chrono::steady_clock::now();
    const CommandResult result = run_tally({"squid", "fetch", server.url(), "-o", directory / "x"});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.error, AllOf(HasSubstr(server.url()), HasSubstr("too slow: ")));
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  }
  EXPECT_EQ(directory.num_files(), 0U);
}

TEST_F(SquidCommands, ServeClosesIdleConnectionsForThoseThatAsk) {
  const std::string path = build("a", numbered_urls(1, 10));
#ifdef TALLY_COMMAND_IS_SANITIZED  // whose check of an object's type opens a pipe, and fails where no file can be opened
  const std::vector<std::string> limits{":"};
#else
  const std::vector<std::string> limits{":", "ulimit -n 40"};
#endif
  for (const std::string& limit : limits) {
    ServedDigest served(path, limit);
    std::vector<LoopbackSocket> silent;
    for (int i = 0; i < 300; ++i) silent.push_back(LoopbackSocket::connected(served.port()));
    for (int i = 0; i < 300; i += 2) silent[static_cast<std::size_t>(i)].send("GET / HT");
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 3; ++i) {
      const CommandResult result = run_tally({"squid", "query", "-c", served.url()}, numbered_urls(1, 10));
      EXPECT_EQ(result.output, "10\n") << limit << ": " << result.error;
    }
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(15)) << limit;
  }
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
