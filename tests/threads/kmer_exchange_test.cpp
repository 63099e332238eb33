#include "kmers/exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <future>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "random.hpp"

namespace tally::cli {
namespace {

using Step = KmerExchange::Step;

KmerExchange exchange_of(std::size_t num_threads) { return KmerExchange(num_threads, 31, Strands::both); }

TEST(KmerExchange, EachOwnerGetsItsKmersOfEveryPieceOnceInABoundedNumberOfPieces) {
  constexpr std::size_t num_threads = 4;
  constexpr std::uint64_t num_pieces = 5000;
  KmerExchange exchange = exchange_of(num_threads);
  std::atomic<std::uint64_t> num_read = 0;
  std::vector<std::vector<std::uint64_t>> got(num_threads);
  std::vector<std::set<const KmerPiece*>> seen(num_threads);
  const auto has_kmers = [](std::uint64_t piece, std::size_t owner) { return (piece >> owner) % 2 == 0; };
  const auto work = [&](std::size_t own) {
    test::Random random(own);
    for (auto task = exchange.next(own); task.step != Step::end; task = exchange.next(own)) {
      seen[own].insert(task.piece);
      if (task.step == Step::read) {
        const std::uint64_t number = num_read++;
        if (number >= num_pieces) {
          exchange.end_input(task.piece);
          continue;
        }
        for (std::size_t owner = 0; owner < num_threads; ++owner) {
          task.piece->kmers_of[owner].clear();
          if (has_kmers(number, owner)) task.piece->kmers_of[owner].entries.push_back(number);
        }
        exchange.deliver(own, task.piece);
      }
      if (random.below(64) == 0) std::this_thread::yield();
      for (const std::uint64_t entry : task.piece->kmers_of[own].entries) got[own].push_back(entry);
      exchange.finish(task.piece);
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < num_threads; ++i) threads.emplace_back(work, i);
  }
  std::set<const KmerPiece*> pieces;
  for (std::size_t owner = 0; owner < num_threads; ++owner) {
    std::vector<std::uint64_t> expected;
    for (std::uint64_t piece = 0; piece < num_pieces; ++piece)
      if (has_kmers(piece, owner)) expected.push_back(piece);
    std::ranges::sort(got[owner]);
    EXPECT_EQ(got[owner], expected) << owner;
    pieces.insert(seen[owner].begin(), seen[owner].end());
  }
  EXPECT_LE(pieces.size(), num_threads + 4);
}

TEST(KmerExchange, WithoutFreePiecesAThreadWaitsForASlowOwner) {
  KmerExchange exchange = exchange_of(2);
  std::vector<KmerPiece*> delivered;
  for (int i = 0; i < 6; ++i) {  // all of them
    const KmerExchange::Task task = exchange.next(0);
    ASSERT_EQ(task.step, Step::read);
    task.piece->kmers_of[1].entries.push_back(1);
    exchange.deliver(0, task.piece);
    exchange.finish(task.piece);
    delivered.push_back(task.piece);
  }
  std::future<KmerExchange::Task> next = std::async(std::launch::async, [&] { return exchange.next(0); });
  EXPECT_EQ(next.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  const KmerExchange::Task slow = exchange.next(1);
  ASSERT_EQ(slow.step, Step::use);
  EXPECT_EQ(slow.piece, delivered.front());
  exchange.finish(slow.piece);
  EXPECT_EQ(next.get().step, Step::read);
}

TEST(KmerExchange, AThreadThatWaitsEndsOnceNobodyReadsAnyMore) {
  for (const bool is_stopped : {false, true}) {
    KmerExchange exchange = exchange_of(2);
    const KmerExchange::Task last = exchange.next(0);
    const KmerExchange::Task none = exchange.next(1);
    exchange.end_input(none.piece);
    std::future<KmerExchange::Task> next = std::async(std::launch::async, [&] { return exchange.next(1); });
    EXPECT_EQ(next.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
    if (is_stopped) {
      exchange.stop();
      EXPECT_EQ(next.get().step, Step::end);
      EXPECT_EQ(exchange.next(0).step, Step::end);
      continue;
    }
    last.piece->kmers_of[1].entries.push_back(1);
    exchange.deliver(0, last.piece);
    exchange.finish(last.piece);
    const KmerExchange::Task use = next.get();
    ASSERT_EQ(use.step, Step::use);
    exchange.finish(use.piece);
    EXPECT_EQ(exchange.next(0).step, Step::end);
    EXPECT_EQ(exchange.next(1).step, Step::end);
  }
}

TEST(KmerExchange, TheFirstErrorOfTheInputIsKeptForTheEnd) {
  KmerExchange exchange = exchange_of(2);
  const KmerExchange::Task first = exchange.next(0);
  const KmerExchange::Task second = exchange.next(1);
  EXPECT_NO_THROW(exchange.rethrow_error_of_input());
  exchange.end_input(second.piece, std::make_exception_ptr(std::runtime_error("damaged")));
  exchange.end_input(first.piece, std::make_exception_ptr(std::logic_error("later")));
  EXPECT_EQ(exchange.next(0).step, Step::end);
  EXPECT_THROW(exchange.rethrow_error_of_input(), std::runtime_error);
}

TEST(KmerExchange, EachWordOfAFilterHasOneOwner) {
  test::Random random(3);
  for (const std::size_t num_owners : {1, 2, 3, 7, 256}) {
    std::vector<std::pair<std::uint64_t, std::size_t>> owners;
    for (int i = 0; i < 2000; ++i) {
      const Hash128 digest = random.digest();
      owners.emplace_back(digest.low, owner_of(digest, num_owners));
      ASSERT_LT(owners.back().second, num_owners);
    }
    // The words of the filter are in the order of the lower half, too.
    std::ranges::sort(owners);
    EXPECT_TRUE(std::ranges::is_sorted(owners, {}, [](const auto& owner) { return owner.second; }));
  }
}

}  // namespace
}  // namespace tally::cli
