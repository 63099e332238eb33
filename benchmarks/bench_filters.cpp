// Keys a second of the filters, single-key and batched, in and out of cache, beside the physical limit:
// random reads of 64-byte lines. Answers and false positive rates are checked before anything is timed.
//
//   bench_filters [--benchmark_filter=REGEX] [--benchmark_repetitions=N] [--benchmark_out=FILE.json]
//
// Case names: structure/operation/keys/working set. The order of the repetitions is random, so that a slow
// spell of the machine hits all cases alike; the last table has the ratios of the medians.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tally/filters/bloom.hpp"
#include "tally/filters/counting_bloom.hpp"
#include "tally/hashing/independent_schemes.hpp"

namespace {

using namespace tally;

constexpr std::uint64_t seed = 1;
constexpr std::size_t num_keys = std::size_t{1} << 21;
constexpr std::uint32_t num_hashes = 7;

// Keys 0 .. num_keys - 1 are in every filter, those from `first_absent` on are not.
constexpr std::uint64_t first_absent = std::uint64_t{1} << 40;

std::vector<std::uint64_t> keys_from(std::uint64_t first) {
  std::vector<std::uint64_t> keys(num_keys);
  for (std::size_t i = 0; i < num_keys; ++i) keys[i] = first + i;
  return keys;
}

const std::vector<std::uint64_t>& keys(bool present) {
  static const std::vector<std::uint64_t> in = keys_from(0);
  static const std::vector<std::uint64_t> out = keys_from(first_absent);
  return present ? in : out;
}

std::span<bool> results() {
  static const std::unique_ptr<bool[]> memory(new bool[num_keys]);
  return {memory.get(), num_keys};
}

struct WorkingSet {
  const char* name;
  std::uint64_t num_bytes;
};
constexpr WorkingSet in_cache{"1MiB", std::uint64_t{1} << 20};
constexpr WorkingSet out_of_cache{"1GiB", std::uint64_t{1} << 30};

// Words of independent bits, each set with probability 1/2: a filter at its best load, without the time to fill it.
detail::AlignedWords half_full_words(std::uint64_t num_bytes) {
  detail::AlignedWords words(num_bytes / 8);
  CongruentialSequence sequence(1, 2);
  for (std::uint64_t& word : words.words()) word = independent_hash({sequence.next(), 3}, 0);
  return words;
}

void require(bool condition, const std::string& what) {
  if (condition) return;
  std::fprintf(stderr, "bench_filters: wrong answers, nothing is timed: %s\n", what.c_str());
  std::exit(1);
}

template <class Filter>
void check_answers(const Filter& filter, const std::string& name) {
  filter.may_contain_batch(keys(true), results());
  require(std::all_of(results().begin(), results().end(), [](bool found) { return found; }),
          name + ": a key is missing");
  filter.may_contain_batch(keys(false), results());
  const auto found = static_cast<double>(std::count(results().begin(), results().end(), true));
  const double rate = filter.statistics().estimated_false_positive_rate;
  const double expected = rate * num_keys;
  require(std::abs(found - expected) < 5 * std::sqrt(expected) + 0.01 * expected,
          name + ": " + std::to_string(found) + " false positives, expected " + std::to_string(expected));
}

template <class Filter>
Filter bloom(const WorkingSet& set) {
  const std::uint64_t num_bits = 8 * set.num_bytes;
  Filter filter({.num_bits = num_bits, .num_hashes = num_hashes}, seed, 0,
                BitArray(num_bits, half_full_words(set.num_bytes)));
  // In the cache the keys would fill the filter up: there, few of them are in it.
  filter.insert_batch(std::span(keys(true)).first(set.num_bytes > in_cache.num_bytes ? num_keys : 0));
  if (set.num_bytes > in_cache.num_bytes) check_answers(filter, "bloom");
  return filter;
}

template <class Work>
void add_case(const std::string& name, Work work) {
  benchmark::RegisterBenchmark(
      name.c_str(),
      [work](benchmark::State& state) {
        for (auto _ : state) work();
        state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * num_keys));
      })
      ->Iterations(1)
      ->Unit(benchmark::kMillisecond);
}

// The limit: one word of a random line per key, the lines prefetched `window` keys ahead; 0: not prefetched.
void add_line_reads(const WorkingSet& set) {
  const auto words = std::make_shared<detail::AlignedWords>(half_full_words(set.num_bytes));
  const std::uint64_t num_lines = set.num_bytes / 64;
  for (const std::size_t window : {0, 32, 64, 128, 256}) {
    const auto read = [words, num_lines, window] {
      std::uint64_t sum = 0;
      std::array<const std::uint64_t*, 256> lines;
      CongruentialSequence sequence(7, 9);
      for (std::size_t first = 0; first < num_keys; first += std::max<std::size_t>(window, 1)) {
        if (window == 0) {
          sum += words->data()[8 * reduce_to_range(sequence.next(), num_lines)];
          continue;
        }
        for (std::size_t i = 0; i < window; ++i) {
          lines[i] = words->data() + 8 * reduce_to_range(sequence.next(), num_lines);
          detail::prefetch_for_read(lines[i]);
        }
        for (std::size_t i = 0; i < window; ++i) sum += *lines[i];
      }
      benchmark::DoNotOptimize(sum);
    };
    add_case("line/read/window-" + std::to_string(window) + "/" + set.name, read);
  }
}

template <class Filter>
void add_set_cases(const std::string& structure, const WorkingSet& set,
                   const std::shared_ptr<Filter>& filter) {
  for (const bool present : {true, false}) {
    const std::string suffix = std::string(present ? "/present/" : "/absent/") + set.name;
    add_case(structure + "/contains" + suffix, [filter, present] {
      std::size_t found = 0;
      for (const std::uint64_t key : keys(present)) found += filter->may_contain(key);
      benchmark::DoNotOptimize(found);
    });
    add_case(structure + "/contains-batch" + suffix, [filter, present] {
      filter->may_contain_batch(keys(present), results());
      benchmark::ClobberMemory();
    });
  }
}

template <class Filter>
void add_insert_cases(const std::string& structure, const WorkingSet& set,
                      const std::shared_ptr<Filter>& filter) {
  add_case(structure + std::string("/insert/present/") + set.name, [filter] {
    for (const std::uint64_t key : keys(true)) (void)filter->insert(key);
    benchmark::ClobberMemory();
  });
  add_case(structure + std::string("/insert-batch/present/") + set.name, [filter] {
    (void)filter->insert_batch(keys(true));
    benchmark::ClobberMemory();
  });
}

void add_cases(const WorkingSet& set) {
  add_line_reads(set);
  const auto plain = std::make_shared<BloomFilter<>>(bloom<BloomFilter<>>(set));
  add_set_cases("bloom", set, plain);
  add_insert_cases("bloom", set, plain);
  const auto blocked = std::make_shared<BlockedBloomFilter>(bloom<BlockedBloomFilter>(set));
  add_set_cases("blocked-bloom", set, blocked);
  add_insert_cases("blocked-bloom", set, blocked);
  const auto counting = std::make_shared<CountingBloomFilter<>>(
      CountingBloomShape{.num_counters = 2 * set.num_bytes, .num_hashes = num_hashes}, seed);
  add_insert_cases("counting-bloom", set, counting);
}

// Keeps every repetition's processor time (other work on the machine takes none of it) beside what it prints.
class Collector : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type == Run::RT_Iteration && !run.error_occurred) {
        times_[run.run_name.function_name].push_back(run.GetAdjustedCPUTime());
      }
    }
    ConsoleReporter::ReportRuns(runs);
  }

  double median(const std::string& name) const {
    const auto found = times_.find(name);
    if (found == times_.end()) return std::nan("");
    std::vector<double> times = found->second;
    std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2),
                     times.end());
    return times[times.size() / 2];
  }

 private:
  std::map<std::string, std::vector<double>> times_;
};

void print_ratio(const std::string& what, double ratio) {
  if (!std::isnan(ratio)) std::printf("%-66s %6.2f\n", what.c_str(), ratio);
}

void print_ratios(const Collector& collector) {
  std::printf("\nratios of medians\n");
  for (const WorkingSet& set : {in_cache, out_of_cache}) {
    const std::string suffix = std::string("/") + set.name;
    double best_read = std::nan("");
    for (const char* window : {"32", "64", "128", "256"}) {
      best_read = std::fmin(best_read, collector.median(std::string("line/read/window-") + window + suffix));
    }
    for (const std::string structure : {"bloom", "blocked-bloom", "counting-bloom"}) {
      for (const std::string operation : {"insert/present", "contains/present", "contains/absent"}) {
        std::string batched = structure + "/" + operation + suffix;
        const double single = collector.median(batched);
        batched.replace(batched.find(operation), operation.find('/'),
                        operation.substr(0, operation.find('/')) + "-batch");
        print_ratio(batched + ": single-key time / batched time", single / collector.median(batched));
        print_ratio(batched + ": time / best batched line read", collector.median(batched) / best_read);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<char*> arguments(argv, argv + argc);
  std::string interleave = "--benchmark_enable_random_interleaving=true";
  std::string repetitions = "--benchmark_repetitions=9";
  arguments.insert(arguments.begin() + 1, {interleave.data(), repetitions.data()});
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;
  add_cases(in_cache);
  add_cases(out_of_cache);
  Collector collector;
  benchmark::RunSpecifiedBenchmarks(&collector);
  print_ratios(collector);
}
