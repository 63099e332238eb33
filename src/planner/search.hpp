#pragma once

// Shared by src/planner_*.cpp only: searches for the best whole shape under a law of the error.

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>

#include "tally/hashing/hash_scheme.hpp"
#include "tally/shapes/counting_bloom.hpp"
#include "tally/theory/compound_poisson.hpp"

namespace tally::planner_detail {

/// The error of one structure as a function of its shape.
struct Law {
  /// ln of the false positive rate with m positions, k hashes, n keys: falls in m, rises in n.
  std::function<double(std::uint64_t m, std::uint32_t k, std::uint64_t n)> ln_rate;
  /// The nearest m the scheme can use; 0 where there is none.
  std::function<std::uint64_t(std::uint64_t m, std::uint32_t k, Rounding)> round;
  std::uint32_t max_hashes = max_num_hashes;
  /// Give up after so many numbers of hashes in a row without a better result, where the law is slow
  /// and has one minimum in k; 0 is never.
  std::uint32_t patience = 0;
};

struct Solution {
  std::uint64_t num_positions = 0;
  std::uint32_t num_hashes = 0;
  std::uint64_t num_keys = 0;
};

/// The least m, over all k, with ln_rate <= ln_target for n keys; the least k among equals.
std::optional<Solution> least_positions(const Law& law, std::uint64_t n, double ln_target);

/// The k with the lowest rate for n keys in at most m positions; the least k among equals.
std::optional<Solution> best_hashes(const Law& law, std::uint64_t n, std::uint64_t m);

/// The k that carries the most keys in at most m positions with ln_rate <= ln_target.
std::optional<Solution> most_keys(const Law& law, std::uint64_t m, double ln_target);

/// The most keys at given m and k; 0 if not even one.
std::uint64_t most_keys_at(const Law& law, std::uint64_t m, std::uint32_t k, double ln_target);

/// The law of a scheme; counters with theta - true_count = 1 have the same as bits.
struct SchemeLaw {
  std::string_view name;
  std::uint16_t file_id = 0;
  Law law;
};

/// Throws std::invalid_argument that lists the schemes.
SchemeLaw scheme_law(std::string_view scheme);

/// Positions of given width that fit a memory, in whole words; at most 2^56.
std::uint64_t positions_in(std::uint64_t memory_bytes, std::uint32_t counter_bits) noexcept;

/// Pr(all k counters >= gap) when n counts independent insertions.
Law insertions_law(const Law& scheme, std::uint64_t gap);

/// The same for a histogram of counts; n is ignored.
Law histogram_law(const Law& scheme, std::uint64_t gap, const theory::CountHistogram& histogram);

/// Which two of the three were given, checked.
struct Wanted {
  std::uint64_t num_keys = 0;
  double ln_rate = 0;  ///< 0: not given
  std::uint64_t memory_bytes = 0;
};
Wanted check_wanted(std::string_view structure, std::uint64_t num_keys, double false_positive_rate,
                    std::uint64_t memory_bytes);

/// Distinct keys of a histogram, rounded up; checked.
std::uint64_t num_keys_of(std::string_view structure, const theory::CountHistogram& histogram);

/// The shape for what is wanted, or std::invalid_argument that says what is out of reach.
Solution solve(std::string_view structure, const Law& law, const Wanted& wanted, std::uint32_t counter_bits);

struct CountingSolution {
  CountingBloomShape shape;
  std::uint64_t num_keys = 0;
};

/// As plan_counting_bloom says, under any scheme's law. counter_bits 0: chosen.
CountingSolution solve_counting(std::string_view structure, const Law& law, const Wanted& wanted,
                                std::uint64_t max_threshold, std::uint32_t counter_bits,
                                double max_saturation_probability);

inline constexpr double default_max_saturation_probability = 1e-6;

}  // namespace tally::planner_detail
