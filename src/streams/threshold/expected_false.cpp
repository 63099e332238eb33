#include "streams/threshold/expected_false.hpp"

#include <cmath>

#include "streams/threshold/law_of_count.hpp"

namespace tally::detail {
namespace {

// With fewer counters at 0, there is no useful estimate.
constexpr double least_share_untouched = 0.1;

// Number of loads for which the distribution in a generation is calculated.
constexpr int num_steps = 16;

double to_double(std::uint64_t number) { return static_cast<double>(number); }

/// A share of the keys of a generation, by their count in it; counts above max_gap are merged into one bin.
theory::CountHistogram histogram_of(const CountVisits& own, double share) {
  theory::CountHistogram histogram;
  const std::uint64_t most = std::min(own.threshold(), CountVisits::max_gap);
  histogram.keys_with_count.assign(most + 1, 0.0);
  for (std::uint64_t c = 1; c < most; ++c) {
    histogram.keys_with_count[c] = share * std::max(0.0, to_double(own.at(c)) - to_double(own.at(c + 1)));
  }
  histogram.keys_with_count[most] = share * to_double(own.at(most));
  return histogram;
}

}  // namespace

std::optional<double> expected_false_reports(std::uint64_t threshold,
                                             std::span<const GenerationVisits> generations) {
  if (generations.empty()) return 0;
  const std::uint64_t max_gap = std::min(threshold, CountVisits::max_gap);
  const std::uint64_t least = threshold > CountVisits::max_gap ? threshold - CountVisits::max_gap : 1;
  const std::size_t num_counts =
      threshold - least;  // true counts from `least` to the one below the threshold
  double sum = 0;
  double num_reports = 0;
  double soon_before_reports =
      0;                        // probability that a reported key was already reported one occurrence earlier
  double num_earlier_keys = 0;  // new keys of the earlier generations
  std::vector<double> at_last(num_counts, 0);  // as below
  Law earlier(max_gap + 1, 0.0);
  earlier[0] = 1;
  for (const GenerationVisits& generation : generations) {
    const double num_new_keys = to_double(generation.own->at(1));
    if (num_new_keys == 0) continue;
    Law average(max_gap + 1, 0.0);
    std::vector<double> soon(num_counts,
                             0.0);  // probability at an occurrence that other keys added what is missing
    std::vector<double> soon_before(num_counts, 0.0);  // and that they had added it by the previous one
    for (int step = 0; step < num_steps; ++step) {
      const double load = (step + 0.5) / num_steps;
      const Law law = law_of_sum(
          earlier, law_of_least_counter(histogram_of(*generation.own, load), generation.shape, max_gap));
      for (std::size_t s = 0; s < law.size(); ++s) average[s] += law[s] / num_steps;
      const double keys_then = num_earlier_keys + load * num_new_keys;
      const double keys_before = std::max(0.0, keys_then - num_new_keys / num_steps);
      for (std::size_t i = 0; i < num_counts; ++i) {
        // The last of t occurrences, uniform up to now, was before a share x of that time with the probability x^t.
        const double t = to_double(least + i);
        double pass = 0;
        for (std::uint64_t s = num_counts - i; s <= max_gap; ++s) pass += law[s];
        const double kept = std::pow(keys_before / keys_then, t);
        at_last[i] = kept * at_last[i] + (1 - kept) * pass;
        soon[i] += pass / num_steps;
        soon_before[i] += at_last[i] / num_steps;
      }
    }
    if (!(average[0] >= least_share_untouched)) return std::nullopt;
    // Occurrences by the true count. Keys that occur again at the same count do not matter.
    std::vector<double> visits(num_counts, 0.0);
    for (std::size_t i = 0; i < num_counts; ++i) {
      double seen = to_double(generation.counts->at(least + i));
      for (std::size_t s = 1; s <= i; ++s) seen -= visits[i - s] * average[s];
      visits[i] = std::max(0.0, seen / average[0]);
      sum += visits[i] * soon[i];
      if (i > 0) sum -= visits[i] * soon_before[i - 1];
    }
    const double reports = to_double(generation.counts->at(threshold));
    num_reports += reports;
    if (num_counts > 0) soon_before_reports += reports * soon_before[num_counts - 1];
    earlier = law_of_sum(earlier,
                         law_of_least_counter(histogram_of(*generation.own, 1), generation.shape, max_gap));
    num_earlier_keys += num_new_keys;
  }
  if (num_reports == 0) return 0;
  // The x with x = sum - (1 - x / num_reports) soon_before_reports: reported keys that are not false occurred again.
  const double share = soon_before_reports / num_reports;
  if (share < 1) sum = (sum - soon_before_reports) / (1 - share);
  return std::clamp(sum, 0.0, num_reports);
}

}  // namespace tally::detail
