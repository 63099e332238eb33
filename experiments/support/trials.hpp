#pragma once

#include <fmt/core.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <thread>
#include <vector>

#include "tally/hashing/mix64.hpp"

namespace tally::experiments {

/// The options of every experiment.
struct Options {
  std::uint64_t trials = 0;
  std::uint64_t other_trials =
      200;                  ///< of what Experiment::other_trials says; with --small as many as trials
  std::uint64_t steps = 0;  ///< of each trial: a removal and an insertion
  std::uint64_t seed = 1;
  std::uint32_t threads = 1;
  bool small = false;  ///< a run of seconds, as the tests do it
};

/// The results of trial(seed) for `num_trials` trials, each with its own seed, in order, whatever the number of
/// threads. Prints the time it took on stderr.
template <class Trial>
auto run_trials(const Options& options, std::string_view name, std::uint64_t num_trials, Trial trial) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<decltype(trial(std::uint64_t{}))> results(num_trials);
  std::atomic<std::uint64_t> next = 0;
  const auto work = [&] {
    for (std::uint64_t i = next++; i < num_trials; i = next++) {
      results[i] = trial(mix64(mix64(options.seed) + i));
      if (num_trials >= 1000 && (i + 1) % (num_trials / 10) == 0)
        fmt::print(stderr, "{}: {} of {} trials\n", name, i + 1, num_trials);
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t i = 1; i < options.threads; ++i) threads.emplace_back(work);
    work();
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  fmt::print(stderr, "{}: {} trials in {:.1f} s\n", name, num_trials, seconds.count());
  return results;
}

}  // namespace tally::experiments
