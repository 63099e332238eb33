#pragma once

// Only for src/planner/: searches for the best shape with whole numbers, given a formula for the false positive rate.

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>

#include "tally/hashing/hash_scheme.hpp"
#include "tally/planner/requirements.hpp"
#include "tally/shapes/blocked_counting_bloom.hpp"
#include "tally/shapes/counting_bloom.hpp"
#include "tally/theory/compound_poisson.hpp"
#include "tally/theory/double_hashing.hpp"

namespace tally::planner_detail {

/// The patience of a law that takes long.
inline constexpr std::uint32_t slow_law_patience = 4;

/// The false positive rate of a structure as a function of its shape.
struct Law {
  /// ln of the false positive rate with m positions, k hashes and n keys. It falls as m grows, and rises as n grows.
  std::function<double(std::uint64_t m, std::uint32_t k, std::uint64_t n)> ln_rate;
  /// The same for what is promised and printed, where it is known better than for the search; empty if it is not.
  std::function<double(std::uint64_t m, std::uint32_t k, std::uint64_t n)> ln_promised = {};
  bool is_limit = false;                             ///< ln_rate is no exact law at any size
  PositionLaw positions = PositionLaw::independent;  ///< how a key's positions depend on each other
  /// The nearest m that the scheme can use; 0 if there is none.
  std::function<std::uint64_t(std::uint64_t m, std::uint32_t k, Rounding)> round;
  std::uint32_t max_hashes = max_num_hashes;
  std::uint32_t hashes_step = 1;  ///< k is a multiple of this
  /// The search stops after this many values of k in a row without a better result. For slow formulas with one minimum
  /// in k; 0 means that all values are tried.
  std::uint32_t patience = 0;

  double ln_promised_rate(std::uint64_t m, std::uint32_t k, std::uint64_t n) const {
    return ln_promised ? ln_promised(m, k, n) : ln_rate(m, k, n);
  }
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

/// The k for which at most m positions hold the most keys with ln_rate <= ln_target.
std::optional<Solution> most_keys(const Law& law, std::uint64_t m, double ln_target);

/// The most keys at given m and k; 0 if not even one.
std::uint64_t most_keys_at(const Law& law, std::uint64_t m, std::uint32_t k, double ln_target);

/// Up to this many positions the limits of the laws are too low: for 1000 keys at a rate of 1e-30 by 1%.
inline constexpr std::uint64_t few_positions = std::uint64_t{1} << 18;

/// At most this many steps are taken to count the law of a scheme (see false_positive_law).
inline constexpr double counted_steps = 0x1p22;

/// The law of a scheme. Counters with theta - true_count = 1 have the same law as bits.
struct SearchLaw {
  std::uint16_t file_id = 0;
  PositionLaw kind = PositionLaw::independent;
  Law law;
};

/// The member of theory::DoubleHashing that the law is, if it is one.
std::optional<theory::DoubleHashing> double_hashing_of(PositionLaw law) noexcept;

/// Throws std::invalid_argument that lists the schemes.
SearchLaw search_law(std::string_view scheme);

/// The number of positions of this width that fit into the memory, in whole words; at most 2^56.
std::uint64_t positions_in(std::uint64_t memory_bytes, std::uint32_t counter_bits) noexcept;

/// Throw std::invalid_argument for a value out of range: low to high, or above 0 and below 1. For 0 the message adds
/// that the field may be left out.
void require_count(std::string_view structure, std::string_view field, std::uint64_t value, std::uint64_t low,
                   std::uint64_t high);
void require_rate(std::string_view structure, std::string_view field, double value);

/// The two of the three that were given, checked.
struct Wanted {
  std::optional<std::uint64_t> num_keys;
  std::optional<double> ln_rate;
  std::optional<std::uint64_t> memory_bytes;
};
/// `num_keys` comes from the requirements or from their histogram.
Wanted check_wanted(std::string_view structure, const Requirements& requirements,
                    std::optional<std::uint64_t> num_keys);
/// The same without a histogram.
Wanted check_wanted(std::string_view structure, const Requirements& requirements);

/// Distinct keys of a histogram, rounded up; checked.
std::uint64_t num_keys_of(std::string_view structure, const theory::CountHistogram& histogram);

/// The best shape for what is wanted. Throws std::invalid_argument that names what cannot be met.
Solution solve(std::string_view structure, const Law& law, const Wanted& wanted, std::uint32_t counter_bits);

struct CountingSolution {
  CountingBloomShape shape;
  std::uint64_t num_keys = 0;
};

inline BlockedCountingBloomShape blocked_shape(const CountingBloomShape& shape) noexcept {
  return {shape.num_counters, shape.num_hashes, shape.counter_bits, shape.max_threshold};
}

/// What is known about the keys (predict.hpp).
struct Keys;

/// How the counters of a kind behave.
struct CountingLaw {
  /// The law of counters of this width.
  std::function<Law(std::uint32_t counter_bits)> of_width;
  /// The expected number of counters that reach `full` over the replacements, at most.
  std::function<double(const Keys&, std::uint64_t num_keys, const CountingBloomShape&, std::uint64_t full,
                       std::uint64_t num_replacements)>
      expected_saturated;
};

/// With the positions of a scheme anywhere.
CountingLaw counting_law(const Law& scheme);

/// Of a SharedDuplicateFilter.
Law duplicate_law();

/// With all counters of a key in one line, of as many counters as fit. `theta` is the largest one of the queries: with one
/// above 1, the positions of a key that coincide matter. There are then at most 24 hashes.
CountingLaw blocked_counting_law(std::uint64_t theta);

/// What plan_counting_bloom plans, with the law of any scheme, or plan_blocked_counting_bloom. If keys are replaced and it is
/// known how often they repeat, the counters are wide enough for these too.
CountingSolution solve_counting(std::string_view structure, const CountingLaw& law, const Wanted& wanted,
                                const Requirements& requirements, const Keys& keys);

}  // namespace tally::planner_detail
