#pragma once

// What benchmarks of batches share: keys that are made before the clock starts, rounds, and the physical limit.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/line_reads.hpp"
#include "tally/hashing/hash128.hpp"
#include "tally/hashing/mix64.hpp"

namespace tally::bench {

inline constexpr std::size_t batch = 2048;
inline constexpr std::uint64_t keys_per_round = 480 * batch;
inline constexpr std::uint64_t first_absent = std::uint64_t{1} << 40;

inline double processor_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

inline Hash128 digest_of(std::uint64_t key) { return {mix64(2 * key + 1), mix64(2 * key + 2)}; }

/// One batch of keys: those from a number on, made before the clock starts.
class Keys {
 public:
  std::span<const Hash128> digests(std::uint64_t first, std::size_t count = batch) {
    for (std::size_t i = 0; i < count; ++i) digests_[i] = digest_of(first + i);
    return std::span(digests_).first(count);
  }
  std::span<const std::string_view> texts(std::uint64_t first) {
    for (std::size_t i = 0; i < batch; ++i) {
      const Hash128 digest = digest_of(first + i);
      std::memcpy(bytes_.data() + 16 * i, &digest, 16);
      texts_[i] = {bytes_.data() + 16 * i, 16};
    }
    return texts_;
  }

 private:
  std::vector<Hash128> digests_ = std::vector<Hash128>(batch);
  std::vector<char> bytes_ = std::vector<char>(16 * batch);
  std::vector<std::string_view> texts_ = std::vector<std::string_view>(batch);
};

/// What operations took, a number of ns for every round.
using Times = std::map<std::string, std::vector<double>>;

inline double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

/// The time of a round of batches, without what `prepare` does: use(prepare(first key of the batch)).
template <class Prepare, class Use>
double time_round(std::uint64_t first, Prepare prepare, Use use) {
  double seconds = 0;
  for (std::uint64_t key = first; key < first + keys_per_round; key += batch) {
    const auto keys = prepare(key);
    const double start = processor_seconds();
    use(keys);
    seconds += processor_seconds() - start;
  }
  return 1e9 * seconds / static_cast<double>(keys_per_round);
}

/// Reads of `num_lines` random lines per key, prefetched a window of keys ahead, with the best window.
inline double time_line_reads(std::span<const std::uint64_t> words, std::uint32_t num_lines,
                              std::uint64_t first, Keys& keys) {
  static std::uint64_t sum = 0;
  double best = INFINITY;
  for (const std::size_t window : {32, 64, 128, 256}) {
    const auto read = [&](std::span<const Hash128> digests) {
      sum += cli::read_lines(words, digests, num_lines, window);
    };
    best = std::min(best, time_round(
                              first, [&](std::uint64_t key) { return keys.digests(key); }, read));
  }
  if (sum == 1) std::puts("");  // so that it is read
  return best;
}

inline void require(bool condition, const std::string& what) {
  if (condition) return;
  std::fprintf(stderr, "wrong answers, nothing is timed: %s\n", what.c_str());
  std::exit(1);
}

/// A line an operation: its time, and its ratio to that of `limit`.
inline void print_times(const Times& times, const std::string& limit,
                        const std::vector<std::string>& operations) {
  for (const std::string& operation : operations) {
    const std::vector<double>& own = times.at(operation);
    std::vector<double> ratios;
    for (std::size_t i = 0; i < own.size(); ++i) ratios.push_back(own[i] / times.at(limit)[i]);
    fmt::print("  {:<26} {:7.2f} ns, least {:7.2f}  {:6.2f} times {}\n", operation, median(own),
               *std::min_element(own.begin(), own.end()), median(ratios), limit);
  }
}

}  // namespace tally::bench
