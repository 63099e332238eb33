#include "input/read_ahead.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <limits>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "command_runner.hpp"
#include "key_streams.hpp"
#include "random.hpp"
#include "tally/streams/reported_keys.hpp"

namespace tally::cli {
namespace {

using test::TemporaryDirectory;

/// Every key once, in order: the set is of those that were seen.
class FirstSights {
 public:
  WorkForTwo work() {
    return {.find_absent =
                [this](WorkForTwo::Digests digests, std::span<std::uint32_t> indices) {
                  second_threads.insert(std::this_thread::get_id());
                  return seen_.find_absent(digests, indices);
                },
            .remember =
                [this](WorkForTwo::Digests digests) {
                  second_threads.insert(std::this_thread::get_id());
                  seen_.remember(digests);
                },
            .use =
                [this](WorkForTwo::Texts texts, WorkForTwo::Digests digests, std::uint64_t num_others,
                       std::uint64_t num_remembered) {
                  EXPECT_EQ(std::this_thread::get_id(), caller_);
                  EXPECT_LE(texts.size(), KeyReader::max_keys_a_call);
                  num_lines += texts.size() + num_others;
                  num_left_out += num_others;
                  seen_.begin_batch_ahead(num_remembered);
                  for (std::size_t i = 0; i < texts.size(); ++i) {
                    if (seen_.has_since(digests[i])) continue;
                    EXPECT_EQ(seen_.add(digests[i]), HashSet::Outcome::inserted);
                    keys_once.emplace_back(texts[i]);
                  }
                  return seen_.added();
                }};
  }

  std::vector<std::string> keys_once;
  std::uint64_t num_lines = 0;
  std::uint64_t num_left_out = 0;
  std::set<std::thread::id> second_threads;

 private:
  std::thread::id caller_ = std::this_thread::get_id();
  ReportedKeys seen_{std::numeric_limits<std::uint64_t>::max()};
};

InputOptions input_of(std::vector<std::string> files) {
  InputOptions input;
  input.files = std::move(files);
  return input;
}

TEST(ReadAhead, EveryKeyComesAtItsFirstSightAndOnce) {
  const TemporaryDirectory directory;
  std::string text;
  for (const double exponent : {0.0, 0.7, 1.2}) text += test::zipf_lines(100'000, 30'000, exponent, 1);
  text += "the last line has no newline";
  const std::vector<std::string> keys = test::split_keys(text);
  for (std::uint32_t round = 0; round < 6; ++round) {
    FirstSights sights;
    KeyTotals totals;
    InputOptions input = input_of({directory.write("keys", text)});
    input.num_threads = 2 + round % 4;
    read_ahead(input, KeyHasher(round), true, sights.work(), totals);
    EXPECT_EQ(sights.keys_once, test::keys_over(keys, 1));
    EXPECT_EQ(sights.num_lines, keys.size());
    EXPECT_EQ(totals.num_keys, keys.size());
    // With more threads all pieces may be sieved before the first keys are remembered.
    if (input.num_threads == 2u) {
      EXPECT_GT(sights.num_left_out, keys.size() / 4);
    }
    EXPECT_EQ(sights.second_threads.size(), 1U);
    EXPECT_FALSE(sights.second_threads.contains(std::this_thread::get_id()));
  }
}

TEST(ReadAhead, AnEmptyFileHasNoKeys) {
  const TemporaryDirectory directory;
  FirstSights sights;
  KeyTotals totals;
  read_ahead(input_of({directory.write("empty", "")}), KeyHasher(1), true, sights.work(), totals);
  EXPECT_EQ(sights.num_lines, 0U);
}

TEST(ReadAhead, AFailureAnywhereEndsAllThreadsAndIsThrown) {
  const TemporaryDirectory directory;
  const std::string file = directory.write("keys", test::zipf_lines(200'000, 50'000, 0.5, 2));
  for (const int failing : {0, 1, 2, 3}) {
    for (const int num_calls : {0, 1, 10}) {
      FirstSights sights;
      KeyTotals totals;
      const WorkForTwo work = sights.work();
      std::array<int, 3> calls_left{num_calls, num_calls, num_calls};
      const auto count = [&](int i) {
        if (i == failing && calls_left[i]-- == 0) throw std::runtime_error("enough");
      };
      const WorkForTwo failing_work{
          .find_absent = [&](auto digests,
                             auto indices) { return count(0), work.find_absent(digests, indices); },
          .remember = [&](auto digests) { count(1), work.remember(digests); },
          .use = [&](auto keys, auto digests, auto others,
                     auto remembered) { return count(2), work.use(keys, digests, others, remembered); }};
      InputOptions input = input_of({file});
      input.num_threads = num_calls == 1 ? 4 : 2;
      if (failing == 3) input.files.push_back(directory / "none");
      EXPECT_THROW(read_ahead(input, KeyHasher(1), true, failing_work, totals), std::runtime_error);
      if (failing == 3) {
        EXPECT_EQ(sights.num_lines, 200'000U);  // what came before it
      }
    }
  }
}

TEST(ReadAhead, PipesAreAndFilesThatAreNotTiny) {
  const TemporaryDirectory directory;
  const std::string file = directory.write("keys", std::string(300'000, '\n'));
  const auto wants = [](const std::vector<std::string>& files, std::uint32_t num_threads = 2) {
    InputOptions input = input_of(files);
    input.num_threads = num_threads;
    return wants_to_read_ahead(input);
  };
  EXPECT_TRUE(wants({file}));
  EXPECT_FALSE(wants({file}, 1));
  EXPECT_TRUE(wants({file, file, directory.write("tiny", "a")}));
  EXPECT_TRUE(wants({file, "/dev/zero"}));
  EXPECT_FALSE(wants({file, "/dev/zero"}, 1));
  EXPECT_FALSE(wants({directory / "tiny"}));
}

TEST(ReadAhead, DigestsComeInTheOrderOfTheInputAndAFailureOfTheirUseIsThrown) {
  const TemporaryDirectory directory;
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += std::to_string(i) + '\n';
  InputOptions input = input_of({directory.write("keys", text)});
  for (const std::uint32_t num_threads : {1u, 2u, 5u}) {
    input.num_threads = num_threads;
    std::uint64_t next = 0;
    const KeyTotals totals = for_each_digest_batch(input, KeyHasher(1), true, [&](auto digests) {
      for (const Hash128 digest : digests) ASSERT_EQ(digest, KeyHasher(1)(std::to_string(next++)));
    });
    EXPECT_EQ(next, 50'000u);
    EXPECT_EQ(totals.num_keys, 50'000u);
    const auto failing = [](auto) { throw std::runtime_error("full"); };
    EXPECT_THROW(for_each_digest_batch(input, KeyHasher(1), true, failing), std::runtime_error);
  }
}

TEST(ReadAhead, ASelectionInAnyOrderIsMadeByAllThreadsAndPrintedInTheOrderOfTheInput) {
  const TemporaryDirectory directory;
  const std::vector<std::string> keys = test::split_keys(test::zipf_lines(200'000, 50'000, 0.5, 3));
  std::string text;
  for (const std::string& key : keys) text += key + '\n';
  InputOptions input = input_of({directory.write("keys", text)});
  const KeyHasher hasher(1);
  const auto is_selected = [](Hash128 digest) { return digest.low % 3 == 0; };
  std::vector<std::string> expected;
  for (const std::string& key : keys)
    if (is_selected(hasher(key))) expected.push_back(key);
  for (const std::uint32_t num_threads : {1u, 2u, 5u}) {
    input.num_threads = num_threads;
    std::mutex mutex;
    std::set<std::thread::id> threads;
    std::atomic<bool> fails = false;
    const auto select = [&](std::span<const Hash128> digests, std::span<std::uint32_t> indices) {
      if (fails) throw std::runtime_error("enough");
      // Each thread waits in its first call until another one has called, too.
      for (int tries = 0; tries < 500; ++tries) {
        std::unique_lock lock(mutex);
        threads.insert(std::this_thread::get_id());
        if (threads.size() >= std::min(num_threads, 2u)) break;
        lock.unlock();
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      std::size_t num_selected = 0;
      for (std::uint32_t i = 0; i < digests.size(); ++i)
        if (is_selected(digests[i])) indices[num_selected++] = i;
      return num_selected;
    };
    KeyTotals totals;
    std::vector<std::string> printed;
    std::uint64_t num_others = 0;
    const auto print = [&](std::span<const std::string_view> texts, std::uint64_t others) {
      printed.insert(printed.end(), texts.begin(), texts.end());
      num_others += others;
    };
    const DigestSelection selection{.whole = select, .in_any_order = true};
    for_selected_texts(input, hasher, true, totals, selection, print);
    EXPECT_EQ(printed, expected);
    EXPECT_EQ(printed.size() + num_others, keys.size());
    EXPECT_GE(threads.size(), std::min(num_threads, 2u));
    fails = true;
    EXPECT_THROW(for_selected_texts(input, hasher, true, totals, selection, print), std::runtime_error);
  }
}

TEST(RecentDigests, AreFoundFromAnyNumberOnUntilTheyAreDropped) {
  test::Random random(1);
  detail::RecentDigests recent;
  std::vector<Hash128> twin;
  std::uint64_t first = 0;
  std::uint64_t num_found = 0;
  for (int i = 0; i < 200'000; ++i) {
    const Hash128 digest{random.below(20'000), 7};
    recent.add(digest);
    twin.push_back(digest);
    ASSERT_EQ(recent.size(), twin.size());
    if (i % 10 == 0) {
      const std::uint64_t from = random.between(first, twin.size());
      const Hash128 wanted{random.below(20'000), 7};
      const bool is_there =
          std::find(twin.begin() + static_cast<std::ptrdiff_t>(from), twin.end(), wanted) != twin.end();
      ASSERT_EQ(recent.contains(wanted, from), is_there) << i;
      num_found += is_there;
      ASSERT_TRUE(std::ranges::equal(recent.from(from), std::span(twin).subspan(from)));
    }
    if (i % 1000 == 999) recent.drop_before(first = random.between(first, twin.size()));
  }
  EXPECT_GT(num_found, 500U);
}

}  // namespace
}  // namespace tally::cli
