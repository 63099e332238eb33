#pragma once

// What benchmarks of batches share: keys that are made before the clock starts, rounds, and the physical limit.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/line_reads.hpp"
#include "bench/timing.hpp"
#include "tally/hashing/hash128.hpp"
#include "tally/hashing/mix64.hpp"

namespace tally::bench {

inline constexpr std::size_t batch = 2048;
inline constexpr std::uint64_t keys_per_round = 480 * batch;
inline constexpr std::uint64_t first_absent = std::uint64_t{1} << 40;

using cli::median;
using cli::processor_seconds;

inline Hash128 digest_of(std::uint64_t key) { return {mix64(2 * key + 1), mix64(2 * key + 2)}; }

/// One batch of keys: those from a number on, made before the clock starts.
class Keys {
 public:
  std::span<const Hash128> digests(std::uint64_t first, std::size_t count = batch) {
    return digests_by([&](std::size_t i) { return first + i; }, count);
  }
  std::span<const std::string_view> texts(std::uint64_t first, std::size_t count = batch) {
    return texts_by([&](std::size_t i) { return first + i; }, count);
  }

  /// The same for the keys with the numbers number_of(0), number_of(1), ..., called in this order.
  template <class NumberOf>
  std::span<const Hash128> digests_by(NumberOf number_of, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) digests_[i] = digest_of(number_of(i));
    return std::span(digests_).first(count);
  }
  template <class NumberOf>
  std::span<const std::string_view> texts_by(NumberOf number_of, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const Hash128 digest = digest_of(number_of(i));
      std::memcpy(bytes_.data() + 16 * i, &digest, 16);
      texts_[i] = {bytes_.data() + 16 * i, 16};
    }
    return std::span(texts_).first(count);
  }

 private:
  std::vector<Hash128> digests_ = std::vector<Hash128>(batch);
  std::vector<char> bytes_ = std::vector<char>(16 * batch);
  std::vector<std::string_view> texts_ = std::vector<std::string_view>(batch);
};

/// What operations took, a number of ns for every round.
using Times = std::map<std::string, std::vector<double>>;

/// The time of a round of batches in ns per key, without what `prepare` does: use(prepare(first key of the batch)).
/// `num_keys` is a multiple of a batch.
template <class Prepare, class Use>
double time_round(std::uint64_t first, Prepare prepare, Use use, std::uint64_t num_keys = keys_per_round) {
  double seconds = 0;
  for (std::uint64_t key = first; key < first + num_keys; key += batch) {
    const auto keys = prepare(key);
    const double start = processor_seconds();
    use(keys);
    seconds += processor_seconds() - start;
  }
  return 1e9 * seconds / static_cast<double>(num_keys);
}

inline constexpr std::initializer_list<std::size_t> line_read_windows = {32, 64, 128, 256};

/// Reads of `num_lines` random lines per key, prefetched a window of keys ahead, with the best of the windows; a window
/// of 1 prefetches nothing.
inline double time_line_reads(std::span<const std::uint64_t> words, std::uint32_t num_lines,
                              std::uint64_t first, Keys& keys, std::uint64_t num_keys = keys_per_round,
                              std::initializer_list<std::size_t> windows = line_read_windows) {
  static std::uint64_t sum = 0;
  double best = INFINITY;
  for (const std::size_t window : windows) {
    const auto read = [&](std::span<const Hash128> digests) {
      sum += cli::read_lines(words, digests, num_lines, window);
    };
    best = std::min(best, time_round(
                              first, [&](std::uint64_t key) { return keys.digests(key); }, read, num_keys));
    first += num_keys;  // other lines, which the last reads have not brought into the caches
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
