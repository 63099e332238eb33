#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

#include "random.hpp"

namespace tally::test {

/// The most keys of a batch of batches_in_threads.
inline constexpr std::size_t batch_size = 100;

/// Calls work(0), work(1), ... each in a thread, and waits for all.
template <class Work>
void in_threads(std::size_t num_threads, Work work) {
  std::vector<std::jthread> threads;
  for (std::size_t t = 0; t < num_threads; ++t) threads.emplace_back([&work, t] { work(t); });
}

/// Calls work(thread, batch) for all batches of the keys, dealt out to the threads in turn.
template <class Work>
void batches_in_threads(std::size_t num_threads, const std::vector<std::uint64_t>& keys, Work work) {
  in_threads(num_threads, [&](std::size_t t) {
    for (std::size_t first = t * batch_size; first < keys.size(); first += num_threads * batch_size)
      work(t, std::span(keys).subspan(first, std::min(batch_size, keys.size() - first)));
  });
}

inline std::vector<std::uint64_t> random_keys(std::size_t count, std::uint64_t num_different,
                                              std::uint64_t seed) {
  Random random(seed);
  std::vector<std::uint64_t> keys(count);
  for (std::uint64_t& key : keys) key = random.below(num_different);
  return keys;
}

}  // namespace tally::test
