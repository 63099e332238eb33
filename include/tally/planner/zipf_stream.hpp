#pragma once

#include <cstdint>
#include <vector>

#include "tally/export.hpp"

namespace tally {

/// How many insertions have a weight; only the ratios of these numbers count.
struct WeightFrequency {
  std::uint64_t weight = 1;
  double num_insertions = 0;
};

/// Keys that are drawn by Zipf's law, each insertion independently of the others: rank i of num_ranks with a probability
/// proportional to i^-exponent. num_ranks 1 to 2^56; exponent 0 (uniform) to 20; num_insertions 1 to 2^56.
struct TALLY_EXPORT ZipfStream {
  std::uint64_t num_ranks = 0;
  double exponent = 0;
  std::uint64_t num_insertions = 0;
  /// The weights of the insertions, drawn independently of their keys: each 1 to 2^56, and a finite number of insertions, at
  /// least 0, not all 0. Empty: each insertion adds 1.
  std::vector<WeightFrequency> weights = {};

  double mean_weight() const noexcept;
  /// Expected sum of all weights.
  double total() const noexcept { return mean_weight() * static_cast<double>(num_insertions); }
  /// A sum of all weights that a stream hardly exceeds: six standard deviations above the expected one.
  double largest_total() const noexcept;
};

}  // namespace tally
