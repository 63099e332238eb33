// Structures that threads share, beside the same structure for one thread: what sharing costs one thread, and how much faster
// several threads are.
//
//   bench_shared [THREADS [ROUNDS [NAME]]]     default: 2 threads, 7 rounds, all structures
//
// In a memory of 256 KiB (in cache) and of 256 MiB. Rounds take turns over plain, shared by one thread and shared by all; in
// a round each thread has 2^17 (in cache) or 2^19 ready digests of its own. Structures are emptied after a round; lookups are
// of keys that are there. Wall time; a ratio is the median of the rounds' ratios. The rows
// 'random lines' are the limits, with plain arrays: batched reads of one random line per key in memory of that size, writes
// of one (which threads that share may overwrite here), and atomic steps, which none overwrites.
// The row 'insert, merged', in cache, is of threads with a structure each, which are merged at the end, beside one plain
// structure: out of cache, merging takes longer than these keys.
// That no key is missing is checked before.

#include <fmt/core.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support/rounds.hpp"
#include "tally/filters/bloom.hpp"
#include "tally/shared.hpp"

namespace {

using namespace tally;
using namespace tally::bench;

std::size_t num_threads = 2;
int num_rounds = 7;
std::size_t keys_per_thread = 0;
std::string only;  // part of the titles of the structures to measure

/// The digests of one thread in one round; others in every round.
std::vector<std::vector<Hash128>> digests;

void make_digests(std::uint64_t round) {
  digests.resize(num_threads);
  for (std::size_t t = 0; t < num_threads; ++t) {
    digests[t].resize(keys_per_thread);
    for (std::size_t i = 0; i < keys_per_thread; ++i)
      digests[t][i] = digest_of(((round * num_threads) + t) * keys_per_thread + i);
  }
}

/// Keeps this thread on processor number `index` of those that the process may use, so that no two threads begin on the same
/// one.
void stay_on_processor(std::size_t index) {
  static const cpu_set_t allowed = [] {
    cpu_set_t set;
    require(sched_getaffinity(0, sizeof set, &set) == 0, "the allowed processors are unknown");
    return set;
  }();
  index %= static_cast<std::size_t>(CPU_COUNT(&allowed));
  for (std::size_t processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (!CPU_ISSET(processor, &allowed) || index-- > 0) continue;
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(processor, &own);
    require(sched_setaffinity(0, sizeof own, &own) == 0, "a thread cannot be kept on its processor");
    return;
  }
}

/// Wall time in ns per key of work(batch, thread) over the digests of the first `count` threads, each in a thread: from when
/// the first of them starts to when the last one ends. They wait for each other without sleeping: waking up takes as long as
/// a tenth of the work in cache.
template <class Work>
double time_threads(std::size_t count, Work work) {
  using Clock = std::chrono::steady_clock;
  std::atomic<std::size_t> num_ready = 0;
  std::vector<Clock::time_point> starts(count);
  std::vector<Clock::time_point> ends(count);
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < count; ++t) {
      threads.emplace_back([&, t] {
        stay_on_processor(t);
        ++num_ready;
        while (num_ready < count) {
        }
        starts[t] = Clock::now();
        for (std::size_t first = 0; first < keys_per_thread; first += batch)
          work(std::span<const Hash128>(digests[t]).subspan(first, batch), t);
        ends[t] = Clock::now();
      });
    }
  }
  const auto time = *std::ranges::max_element(ends) - *std::ranges::min_element(starts);
  return std::chrono::duration<double, std::nano>(time).count() /
         static_cast<double>(count * keys_per_thread);
}

/// work(batch), for time_threads.
template <class Work>
auto in_any_thread(const Work& work) {
  return [&work](std::span<const Hash128> keys, std::size_t) { work(keys); };
}

/// All keys that are asked for are there.
std::atomic<std::uint64_t> num_missing = 0;

template <class Filter>
auto asked(const Filter& filter) {
  return [&filter](Hash128 key) {
    if (!filter.may_contain(key)) ++num_missing;
  };
}
template <class Sketch>
auto counted(const Sketch& sketch) {
  return [&sketch](Hash128 key) {
    if (sketch.count(key).value == 0) ++num_missing;
  };
}
template <class Filter>
auto asked_in_batches(const Filter& filter) {
  return [&filter](std::span<const Hash128> keys) {
    bool results[batch];
    filter.may_contain_batch(keys, std::span(results).first(keys.size()));
    for (const bool result : std::span(results).first(keys.size()))
      if (!result) ++num_missing;
  };
}

template <class Work>
auto one_by_one(Work work) {
  return [work](std::span<const Hash128> keys) {
    for (const Hash128 key : keys) work(key);
  };
}

struct Row {
  std::string name;
  std::function<void(std::span<const Hash128>)> plain;  // empty: there is no plain structure
  std::function<void(std::span<const Hash128>)> shared;
};

/// `clear` empties the structures.
template <class Clear>
void measure(const std::string& title, const std::vector<Row>& rows, Clear clear) {
  if (title.find(only) == std::string::npos) return;
  fmt::print("{}\n", title);
  std::vector<Times> times(rows.size());
  for (int round = 0; round <= num_rounds; ++round) {
    make_digests(static_cast<std::uint64_t>(round));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto keep = [&](const char* name, double time) {
        if (round > 0) times[i][name].push_back(time);
      };
      if (rows[i].plain) keep("plain", time_threads(1, in_any_thread(rows[i].plain)));
      keep("one", time_threads(1, in_any_thread(rows[i].shared)));
      keep("all", time_threads(num_threads, in_any_thread(rows[i].shared)));
    }
    clear();
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto ratio = [&](const char* a, const char* b) {
      std::vector<double> ratios;
      for (std::size_t r = 0; r < times[i].at(a).size(); ++r)
        ratios.push_back(times[i].at(a)[r] / times[i].at(b)[r]);
      return median(ratios);
    };
    const std::string plain = rows[i].plain ? fmt::format("plain {:6.1f} ns, shared {:5.2f} times that; ",
                                                          median(times[i].at("plain")), ratio("one", "plain"))
                                            : std::string();
    fmt::print("  {:<22} {}one thread {:6.1f} ns, {} threads {:5.2f} times as fast\n", rows[i].name, plain,
               median(times[i].at("one")), num_threads, ratio("one", "all"));
  }
}

/// Calls change(word, bit) for one random line per key, with all lines of a window prefetched before.
template <class Change>
auto changed(std::span<std::uint64_t> words, Change change) {
  return [words, change](std::span<const Hash128> keys) {
    constexpr std::size_t window = 64;
    for (std::size_t first = 0; first < keys.size(); first += window) {
      const std::span part = keys.subspan(first, std::min(window, keys.size() - first));
      const auto word_of = [&](Hash128 key) {
        return &words[8 * reduce_to_range(key.low, words.size() / 8)];
      };
      for (const Hash128 key : part) __builtin_prefetch(word_of(key), 1);
      for (const Hash128 key : part)
        change(std::atomic_ref(*word_of(key)), std::uint64_t{1} << key.high % 64);
    }
  };
}

void measure_lines(std::uint64_t num_bytes) {
  using Word = std::atomic_ref<std::uint64_t>;
  constexpr auto relaxed = std::memory_order_relaxed;
  std::vector<std::uint64_t> words(num_bytes / 8, 1);
  static std::atomic<std::uint64_t> sum = 0;
  measure(
      fmt::format("random lines, {} bytes", num_bytes),
      {{"read, 1 per key",
        {},
        [&](std::span<const Hash128> keys) { sum += cli::read_lines(words, keys, 1, 64); }},
       {"write, 1 per key",
        {},
        changed(words, [](Word word, std::uint64_t bit) { word.store(word.load(relaxed) | bit, relaxed); })},
       {"atomic step, 1 per key",
        {},
        changed(words, [](Word word, std::uint64_t bit) { word.fetch_or(bit, relaxed); })}},
      [] {});
}

/// Asks for all keys after they were inserted.
template <class Shared>
void check(const std::string& name, Shared& shared) {
  make_digests(1'000'000);
  const auto insert = [&](std::span<const Hash128> keys) {
    if constexpr (requires(std::span<InsertResult> results) { shared.insert_batch(keys, results); }) {
      InsertResult results[batch];
      shared.insert_batch(keys, std::span(results).first(keys.size()));
    } else if constexpr (requires { shared.insert_batch(keys); }) {
      (void)shared.insert_batch(keys);
    } else if constexpr (requires { shared.add_batch(keys); }) {
      (void)shared.add_batch(keys);
    } else {
      bool was_there[batch];
      shared.test_and_insert_batch(keys, std::span(was_there).first(keys.size()));
    }
  };
  (void)time_threads(num_threads, in_any_thread(insert));
  for (const std::vector<Hash128>& own : digests) {
    for (const Hash128 key : own) {
      if constexpr (requires { shared.may_contain(key); }) {
        require(shared.may_contain(key), name + ": a key is missing");
      } else {
        require(shared.count(key).value > 0, name + ": a key is missing");
      }
    }
  }
  shared.clear();
}

/// insert(structure, batch) into one structure of each thread, which are then merged, beside one structure in one thread.
template <class Structure, class Insert>
void measure_merged(const std::string& title, const Structure& empty, Insert insert) {
  const bool in_cache = tally::num_bytes(empty.shape()) < std::uint64_t{1} << 20;
  if (title.find(only) == std::string::npos || !in_cache) return;
  std::vector<Structure> own(num_threads, empty);
  std::vector<double> ratios;
  for (int round = 0; round <= num_rounds; ++round) {
    make_digests(static_cast<std::uint64_t>(round));
    const auto insert_own = [&](std::span<const Hash128> keys, std::size_t t) { insert(own[t], keys); };
    const double one = time_threads(1, insert_own);
    for (Structure& structure : own) structure.clear();
    double all = time_threads(num_threads, insert_own);
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t t = 1; t < num_threads; ++t) own[0].merge(own[t]);
    const std::chrono::duration<double, std::nano> merging = std::chrono::steady_clock::now() - start;
    all += merging.count() / static_cast<double>(num_threads * keys_per_thread);
    if (round > 0) ratios.push_back(one / all);
    for (Structure& structure : own) structure.clear();
  }
  fmt::print("  {:<22} {} threads {:5.2f} times as fast as one plain structure in one thread\n",
             "insert, merged", num_threads, median(ratios));
}

template <class Plain, class Shared, class Shape>
void measure_filter(const std::string& name, const Shape& shape) {
  Plain plain(shape, 1);
  Shared shared(shape, 1);
  check(name, shared);
  measure(fmt::format("{}, {} bytes", name, num_bytes(shape)),
          {{"insert", [&](auto keys) { (void)plain.insert_batch(keys); },
            [&](auto keys) { (void)shared.insert_batch(keys); }},
           {"insert, single", one_by_one([&](Hash128 key) { (void)plain.insert(key); }),
            one_by_one([&](Hash128 key) { (void)shared.insert(key); })},
           {"lookup", asked_in_batches(plain), asked_in_batches(shared)},
           {"lookup, single", one_by_one(asked(plain)), one_by_one(asked(shared))}},
          [&] { plain.clear(), shared.clear(); });
  measure_merged(name, plain, [](auto& filter, auto keys) { (void)filter.insert_batch(keys); });
}

/// Beside one filter that holds as many keys.
template <class Filter, class Shape>
void measure_shards(const std::string& name, const Shape& whole, const Shape& of_each) {
  constexpr std::uint32_t num_shards = 16;
  Filter plain(whole, 1);
  SharedShards<Filter> shared(num_shards, of_each, 1);
  check(name, shared);
  const auto insert = [](auto& filter) {
    return [&filter](std::span<const Hash128> keys) {
      InsertResult results[batch];
      filter.insert_batch(keys, std::span(results).first(keys.size()));
      for (const InsertResult result : std::span(results).first(keys.size()))
        if (result == InsertResult::full) ++num_missing;
    };
  };
  measure(fmt::format("{}, {} bytes", name, num_bytes(whole)),
          {{"insert", insert(plain), insert(shared)},
           {"lookup", asked_in_batches(plain), asked_in_batches(shared)},
           {"lookup, single", one_by_one(asked(plain)), one_by_one(asked(shared))}},
          [&] { plain.clear(), shared.clear(); });
}

void measure_duplicates(std::uint64_t num_bits) {
  SharedDuplicateFilter shared({num_bits, 5}, 1);
  check("duplicates", shared);
  measure(fmt::format("duplicates, {} bytes", num_bits / 8),
          {{"insert",
            {},
            [&](std::span<const Hash128> keys) {
              bool results[batch];
              shared.test_and_insert_batch(keys, std::span(results).first(keys.size()));
            }},
           {"insert, single", {}, one_by_one([&](Hash128 key) { (void)shared.test_and_insert(key); })},
           {"lookup", {}, asked_in_batches(shared)},
           {"lookup, single", {}, one_by_one(asked(shared))}},
          [&] { shared.clear(); });
}

void measure_count_min(std::uint64_t num_bytes) {
  const CountMinShape shape{num_bytes / 16, 4, 1, 32};
  CountMinSketch<> plain(shape, 1);
  SharedCountMinSketch<> shared(shape, 1);
  check("count-min", shared);
  const auto ask = [](auto& sketch) {
    return [&sketch](std::span<const Hash128> keys) {
      Count counts[batch];
      sketch.count_batch(keys, std::span(counts).first(keys.size()));
    };
  };
  measure(fmt::format("count-min, {} bytes", num_bytes),
          {{"add", [&](auto keys) { (void)plain.add_batch(keys); },
            [&](auto keys) { (void)shared.add_batch(keys); }},
           {"add, single", one_by_one([&](Hash128 key) { (void)plain.add(key); }),
            one_by_one([&](Hash128 key) { (void)shared.add(key); })},
           {"count", ask(plain), ask(shared)},
           {"count, single", one_by_one(counted(plain)), one_by_one(counted(shared))}},
          [&] { plain.clear(), shared.clear(); });
  measure_merged("count-min", plain, [](auto& sketch, auto keys) { (void)sketch.add_batch(keys); });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) num_threads = static_cast<std::size_t>(std::max(1, std::atoi(argv[1])));
  if (argc > 2) num_rounds = std::max(1, std::atoi(argv[2]));
  if (argc > 3) only = argv[3];
  for (const std::uint64_t num_bytes : {std::uint64_t{1} << 18, std::uint64_t{1} << 28}) {
    const std::uint64_t num_bits = 8 * num_bytes;
    keys_per_thread = std::size_t{1} << (num_bytes < std::size_t{1} << 20 ? 17 : 19);
    measure_lines(num_bytes);
    measure_duplicates(num_bits);
    measure_filter<BloomFilter<>, SharedBloomFilter<>>("bloom", BloomShape{num_bits, 7});
    measure_filter<BlockedBloomFilter, SharedBloomFilter<BlockedScheme>>("blocked bloom",
                                                                         BlockedBloomShape{num_bits, 7});
    measure_filter<RegisterBlockedBloomFilter, SharedBloomFilter<RegisterBlockedScheme>>(
        "register-blocked bloom", BlockedBloomShape{num_bits, 8});
    measure_filter<CountingBloomFilter<>, SharedCountingBloomFilter<>>(
        "counting bloom", CountingBloomShape{num_bits / 4, 7, 4, 1});
    measure_filter<BlockedCountingBloomFilter, SharedCountingBloomFilter<BlockedScheme>>(
        "blocked counting bloom", BlockedCountingBloomShape{num_bits / 4, 7, 4, 1});
    measure_count_min(num_bytes);
    // Of at least 1 MiB, so that the keys of a round find room.
    const std::uint64_t num_lines = std::max(num_bytes, std::uint64_t{1} << 20) / 64;
    measure_shards<DLeftCountingBloomFilter<>>(
        "d-left",
        DLeftShape{.buckets_per_subtable = num_lines / 2, .num_subtables = 2, .cells_per_bucket = 32},
        DLeftShape{.buckets_per_subtable = num_lines / 32, .num_subtables = 2, .cells_per_bucket = 32});
    measure_shards<CompactDLeftFilter>("compact d-left",
                                       CompactDLeftShape{.num_lines_per_subtable = num_lines / 2},
                                       CompactDLeftShape{.num_lines_per_subtable = num_lines / 32});
  }
  require(num_missing == 0, "keys were missing while they were timed");
}
