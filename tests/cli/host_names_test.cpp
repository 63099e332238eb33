// Names of servers, looked up while the node goes on.

#include "node/host_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "running_nodes.hpp"

namespace tally::test {
namespace {

using cli::HostNames;
using ::testing::HasSubstr;

constexpr Nanoseconds second = 1'000'000'000;

/// A resolver that answers when the test lets it.
class Resolver {
 public:
  HostNames::LookUp look_up() const {
    return [state = state_](const std::string&) {
      std::unique_lock lock(state->mutex);
      ++state->num_lookups;
      state->changed.wait(lock, [&] { return !state->answers.empty(); });
      HostNames::Answer answer = state->answers.back();
      state->answers.pop_back();
      return answer;
    };
  }
  void answer(HostNames::Answer answer) {
    const std::lock_guard lock(state_->mutex);
    state_->answers.push_back(std::move(answer));
    state_->changed.notify_one();
  }
  int num_lookups() const { return state_->num_lookups; }

 private:
  struct State {  // threads may outlive the test
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<HostNames::Answer> answers;
    std::atomic<int> num_lookups = 0;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

redis_client::Address at(const std::string& host) { return {.host = host, .port = 1234}; }

/// After the bell, as the loop of a node does.
HostNames::Found wait_and_find(HostNames& names, const std::string& host, Nanoseconds now) {
  std::vector<pollfd> polled;
  names.add_polled(polled);
  EXPECT_EQ(::poll(polled.data(), polled.size(), 20'000), 1);
  names.step(now);
  return names.find(at(host), now);
}

TEST(HostNames, LooksUpNoIpAddressAndNoSocket) {
  Resolver resolver;
  HostNames names(resolver.look_up());
  for (const char* const host : {"127.0.0.1", "::1", ""})
    EXPECT_EQ(names.find(at(host), 0).address, at(host));
  EXPECT_EQ(resolver.num_lookups(), 0);
}

TEST(HostNames, FindsANameWithoutWaitingForIt) {
  Resolver resolver;
  HostNames names(resolver.look_up());
  EXPECT_TRUE(names.find(at("a"), 0).is_pending());
  EXPECT_EQ(names.deadline(), 5 * second);
  resolver.answer({.ip_address = "10.0.0.1"});
  EXPECT_EQ(wait_and_find(names, "a", second).address, at("10.0.0.1"));
  // It is good for the connections that are made then, and looked up again for later ones.
  EXPECT_EQ(names.find(at("a"), second + second / 2).address, at("10.0.0.1"));
  EXPECT_TRUE(names.find(at("a"), 60 * second).is_pending());
  resolver.answer({.ip_address = "10.0.0.2"});
  EXPECT_EQ(wait_and_find(names, "a", 61 * second).address, at("10.0.0.2"));
  EXPECT_EQ(resolver.num_lookups(), 2);
}

TEST(HostNames, UsesTheLastAddressWhileTheResolverIsSilentOrFails) {
  Resolver resolver;
  HostNames names(resolver.look_up());
  (void)names.find(at("a"), 0);
  resolver.answer({.ip_address = "10.0.0.1"});
  ASSERT_TRUE(wait_and_find(names, "a", 0).address);
  EXPECT_TRUE(names.find(at("a"), 10 * second).is_pending());
  EXPECT_EQ(names.deadline(), 12 * second);
  names.step(12 * second);
  EXPECT_EQ(names.find(at("a"), 12 * second).address, at("10.0.0.1"));
  EXPECT_GT(names.deadline(), 1000 * second);  // nothing to wake for
  EXPECT_EQ(names.find(at("a"), 40 * second).address, at("10.0.0.1"));
  resolver.answer({.fault = "gone"});
  EXPECT_EQ(wait_and_find(names, "a", 41 * second).address, at("10.0.0.1"));
  EXPECT_EQ(resolver.num_lookups(), 2);  // never two at once
}

TEST(HostNames, SaysWhyThereIsNoAddress) {
  Resolver resolver;
  HostNames names(resolver.look_up());
  (void)names.find(at("a"), 0);
  EXPECT_TRUE(names.find(at("a"), 4 * second).is_pending());
  EXPECT_EQ(names.find(at("a"), 5 * second).fault, "its name is not found within 5 s");
  resolver.answer({.fault = "unknown"});
  EXPECT_EQ(wait_and_find(names, "a", 6 * second).fault, "unknown");
  EXPECT_TRUE(names.find(at("a"), 8 * second).is_pending());
  resolver.answer({.fault = "unknown"});  // for the thread
}

TEST(HostNames, OfTheSystemAreFoundOrNot) {
  EXPECT_EQ(HostNames::ask_system("localhost").ip_address, "127.0.0.1");
  const HostNames::Answer none = HostNames::ask_system("no name at all");
  EXPECT_EQ(none.ip_address, "");
  EXPECT_NE(none.fault, "");
}

TEST_F(Node, AnswersWhileNamesOfServersAreLookedUp) {
#ifdef TALLY_COMMAND_IS_SANITIZED
  GTEST_SKIP() << "the address sanitizer must be loaded first";
#endif
#ifdef TALLY_COMMAND_IS_EMULATED
  GTEST_SKIP() << "what is loaded first is loaded into qemu, which is of another processor";
#endif
  const RunningRedis redis({}, true);
  ::setenv("LD_PRELOAD", TALLY_SLOW_NAMES, 1);
  NodeProcess a("redis://gone.slow:1,127.0.0.1:" + std::to_string(redis.port()), "a");
  NodeProcess alone("redis://gone.slow:1", "alone");
  ::unsetenv("LD_PRELOAD");
  ASSERT_TRUE(comes_true([&] { return a.status().at("is_connected").get<bool>(); }));
  // It looks for the first one again, every 2 s.
  using Clock = std::chrono::steady_clock;
  Clock::duration longest{};
  const Clock::time_point end = Clock::now() + std::chrono::seconds(5);
  while (Clock::now() < end) {
    const Clock::time_point before = Clock::now();
    EXPECT_TRUE(a.status().at("is_connected").get<bool>());
    (void)alone.status();
    longest = std::max(longest, Clock::now() - before);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_LT(longest, std::chrono::milliseconds(1500));
  EXPECT_THAT(alone.command().read_error_line(), HasSubstr("Redis at gone.slow:1: Temporary failure"));
}

TEST_F(Node, ConnectsToAServerByItsName) {
  const RunningRedis redis({}, true);
  const std::string address = "localhost:" + std::to_string(redis.port());
  NodeProcess a(address, "a"), b(address, "b");
  a.add_keys(0, 10);
  ASSERT_TRUE(converge({&a, &b}));
  EXPECT_EQ(b.status().at("redis"), address);
  EXPECT_EQ(b.num_missed("a", 0, 10), 0);
}

}  // namespace
}  // namespace tally::test
