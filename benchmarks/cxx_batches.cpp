// Batches of 64-bit integers in C++, beside which benchmarks/time_python sets those of Python.
// Usage: cxx_batches KIND NUM_KEYS
// Prints ns per key: insertions, lookups of present keys, and of absent keys, each the median of five.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tally/planner.hpp"
#include "tally/tally.hpp"

namespace {

using namespace tally;

constexpr std::size_t num_runs = 5;

/// The same keys as those of time_python: a bijection of the numbers from `first` on.
std::vector<std::uint64_t> keys_from(std::uint64_t first, std::size_t count) {
  std::vector<std::uint64_t> keys(count);
  for (std::size_t i = 0; i < count; ++i) keys[i] = (first + i) * 0x9e3779b97f4a7c15u;
  return keys;
}

template <class Work>
double median_ns(std::size_t num_keys, const std::function<void()>& prepare, Work work) {
  std::array<double, num_runs> times;
  for (double& time : times) {
    prepare();
    const auto begin = std::chrono::steady_clock::now();
    work();
    time = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() /
           static_cast<double>(num_keys);
  }
  std::ranges::sort(times);
  return times[num_runs / 2];
}

template <class Filter>
void measure(Filter filter, std::size_t num_keys) {
  const auto present = keys_from(0, num_keys);
  const auto absent = keys_from(num_keys, num_keys);
  const auto results = std::make_unique<bool[]>(num_keys);
  const std::span<bool> answers(results.get(), num_keys);
  std::uint64_t num_full = 0;
  const auto insert_all = [&] {
    if constexpr (requires { filter.insert_batch(present); }) {
      filter.insert_batch(present);
    } else {
      num_full += filter.insert_range(present);
    }
  };
  const double insert = median_ns(
      num_keys, [&] { filter.clear(); }, insert_all);
  const auto ask = [&](const std::vector<std::uint64_t>& keys) {
    return median_ns(
        num_keys, [] {}, [&] { filter.may_contain_batch(keys, answers); });
  };
  const double hit = ask(present);
  if (num_full != 0 || std::ranges::count(answers, true) != static_cast<std::ptrdiff_t>(num_keys)) {
    fmt::print(stderr, "cxx_batches: a key is missing\n");
    std::exit(1);
  }
  fmt::print("{} {} {}\n", insert, hit, ask(absent));
}

}  // namespace

int main(int num_arguments, char** arguments) {
  if (num_arguments != 3) {
    fmt::print(stderr, "usage: cxx_batches bloom|blocked-bloom|counting-bloom|dleft NUM_KEYS\n");
    return 2;
  }
  const std::string_view kind = arguments[1];
  const std::uint64_t num_keys = std::stoull(arguments[2]);
  const Requirements wanted{.num_keys = num_keys, .false_positive_rate = 0.01};
  if (kind == "bloom") {
    measure(BloomFilter(plan_bloom(wanted), 42), num_keys);
  } else if (kind == "blocked-bloom") {
    measure(BlockedBloomFilter(plan_blocked_bloom(wanted), 42), num_keys);
  } else if (kind == "counting-bloom") {
    measure(CountingBloomFilter(plan_counting_bloom(wanted), 42), num_keys);
  } else {
    measure(DLeftCountingBloomFilter(plan_dleft(wanted), 42), num_keys);
  }
}
