#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

namespace tally::cli {

/// Calls use(item) for every item of the runs, in ascending order. Sorts the runs in place, in several threads.
template <class Item, class Use>
void for_each_in_order(std::vector<std::vector<Item>>& runs, std::uint32_t num_threads, Use use) {
  std::atomic<std::size_t> next = 0;
  const auto sort_some = [&] {
    for (std::size_t i = next++; i < runs.size(); i = next++) std::sort(runs[i].begin(), runs[i].end());
  };
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t i = 1; i < num_threads; ++i) threads.emplace_back(sort_some);
    sort_some();
  }

  // A heap of what is left of each run, the run with the least item first.
  using Rest = std::pair<const Item*, const Item*>;
  std::vector<Rest> heap;
  for (const std::vector<Item>& run : runs) {
    if (!run.empty()) heap.emplace_back(run.data(), run.data() + run.size());
  }
  const auto sift_down = [&](std::size_t at) {
    const Rest moved = heap[at];
    for (std::size_t child = 2 * at + 1; child < heap.size(); child = 2 * at + 1) {
      if (child + 1 < heap.size() && *heap[child + 1].first < *heap[child].first) ++child;
      if (!(*heap[child].first < *moved.first)) break;
      heap[at] = heap[child];
      at = child;
    }
    heap[at] = moved;
  };
  for (std::size_t at = heap.size() / 2; at-- > 0;) sift_down(at);
  while (!heap.empty()) {
    use(*heap[0].first);
    if (++heap[0].first == heap[0].second) {
      heap[0] = heap.back();
      heap.pop_back();
    }
    if (!heap.empty()) sift_down(0);
  }
}

}  // namespace tally::cli
