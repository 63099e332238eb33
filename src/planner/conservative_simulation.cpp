#include "planner/conservative_simulation.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "tally/detail/splitmix64.hpp"

namespace tally::planner_detail {
namespace {

constexpr std::uint64_t most_counters = 16384;
constexpr double most_insertions = 1 << 18;
constexpr double most_per_counter = 512;  // insertions

class Draw {
 public:
  std::uint64_t below(std::uint64_t limit) { return ((detail::splitmix64(state_) >> 32) * limit) >> 32; }

 private:
  std::uint64_t state_ = 0;
};

/// The count of each key, if the histogram is `scale` times as large; those beyond it have at most 4 theta.
std::vector<std::uint32_t> scaled_counts(const theory::CountHistogram& histogram, double scale,
                                         std::uint64_t theta) {
  std::vector<std::uint32_t> counts;
  double left = 0.5;  // what is less than a key goes to the next lower count
  const auto add = [&](double num_keys, double count) {
    left += scale * num_keys;
    const auto whole = static_cast<std::size_t>(left);
    counts.insert(counts.end(), whole, static_cast<std::uint32_t>(count));
    left -= static_cast<double>(whole);
  };
  const double most = 4 * static_cast<double>(theta);
  if (histogram.keys_beyond > 0)
    add(histogram.keys_beyond, std::min(most, histogram.insertions_beyond / histogram.keys_beyond));
  for (std::size_t count = histogram.keys_with_count.size(); count-- > 1;)
    add(histogram.keys_with_count[count], std::min(most, static_cast<double>(count)));
  return counts;
}

double num_simulated_insertions(const theory::CountHistogram& histogram, std::uint64_t theta) {
  const double most = 4 * static_cast<double>(theta);
  double sum = std::min(histogram.insertions_beyond, most * histogram.keys_beyond);
  for (std::size_t count = 1; count < histogram.keys_with_count.size(); ++count)
    sum += std::min(most, static_cast<double>(count)) * histogram.keys_with_count[count];
  return sum;
}

}  // namespace

ConservativeSimulation::ConservativeSimulation(const theory::CountHistogram& histogram, std::uint64_t theta,
                                               std::uint32_t k, std::uint64_t m)
    : theta_(theta), num_hashes_(k), keys_of_count_(theta, 0.0), reached_of_count_(theta, 0.0) {
  const double per_counter = num_simulated_insertions(histogram, theta) / static_cast<double>(m);
  if (per_counter > most_per_counter) {  // no counter is below theta, and the keys would not fit into memory
    num_counters_ = num_counters_reached_ = 1;
    return;
  }
  const auto fit = static_cast<std::uint64_t>(most_insertions / std::max(per_counter, 1.0));
  const std::uint64_t num_counters = std::min({m, most_counters, std::max<std::uint64_t>(fit, 1024)});
  const std::vector<std::uint32_t> counts =
      scaled_counts(histogram, static_cast<double>(num_counters) / static_cast<double>(m), theta);
  Draw draw;
  std::vector<std::uint32_t> positions(counts.size() * k);
  for (std::uint32_t& position : positions) position = static_cast<std::uint32_t>(draw.below(num_counters));
  std::vector<std::uint32_t> insertions;  // keys
  for (std::size_t key = 0; key < counts.size(); ++key)
    insertions.insert(insertions.end(), counts[key], static_cast<std::uint32_t>(key));
  for (std::size_t i = insertions.size(); i > 1; --i) std::swap(insertions[i - 1], insertions[draw.below(i)]);

  std::vector<std::uint32_t> counters(num_counters);
  for (const std::uint32_t key : insertions) {
    const std::uint32_t* const own = positions.data() + std::size_t{key} * k;
    std::uint32_t least = counters[own[0]];
    for (std::uint32_t j = 1; j < k; ++j) least = std::min(least, counters[own[j]]);
    if (least >= theta) continue;
    for (std::uint32_t j = 0; j < k; ++j)
      if (counters[own[j]] == least) counters[own[j]] = least + 1;
  }
  num_counters_ = static_cast<double>(num_counters);
  num_counters_reached_ = static_cast<double>(
      std::ranges::count_if(counters, [&](std::uint32_t value) { return value >= theta; }));
  for (std::size_t key = 0; key < counts.size(); ++key) {
    if (counts[key] >= theta) continue;
    const auto own = std::span(positions).subspan(key * k, k);
    ++keys_of_count_[counts[key]];
    reached_of_count_[counts[key]] +=
        std::ranges::all_of(own, [&](std::uint32_t position) { return counters[position] >= theta; });
  }
}

double ConservativeSimulation::at_least(double promised, std::uint64_t true_count) const {
  if (true_count == 0) {
    const double share = num_counters_reached_ / num_counters_;
    const double error = std::sqrt(share * (1 - share) / num_counters_);
    return std::max(promised, std::pow(std::min(1.0, share + 2 * error), num_hashes_));
  }
  constexpr double enough_keys = 200;
  while (true_count < theta_ && keys_of_count_[true_count] < enough_keys) ++true_count;
  if (true_count == theta_) return promised;
  const double share = reached_of_count_[true_count] / keys_of_count_[true_count];
  const double error = std::sqrt(share * (1 - share) / keys_of_count_[true_count]);
  return share - 3 * error > promised ? std::min(1.0, share + 3 * error) : promised;
}

}  // namespace tally::planner_detail
