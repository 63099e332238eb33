#pragma once

#include <cstdint>

#include "tally/shapes/count_min.hpp"

namespace tally {

/// For CountMinSketch. Exactly two of epsilon, failure_probability and memory_bytes; 0 is 'not given':
///
///   epsilon and failure probability   the width and depth of the theorem
///   memory and failure probability    the theorem's depth, and the widest rows that fit
///   memory and epsilon                the theorem's width, and as many rows as fit
///
/// The sketch states a bound (bound()) that is at least as good as what was asked for.
struct CountMinRequest {
  double epsilon = 0;              ///< error, as a share of the sum of all weights; in (0, 1)
  double failure_probability = 0;  ///< delta: that a given estimate is off by more; in (0, 1)
  std::uint64_t memory_bytes = 0;  ///< of the counters, num_bytes(shape): a hard bound

  /// The largest sum of all weights there will be: counters are so wide that none saturates. 0: 64 bits.
  std::uint64_t total_count = 0;
  std::uint32_t counter_bits = 0;  ///< 8, 16, 32 or 64 in place of that
  CounterUpdate update = CounterUpdate::plain;
};

/// For the rows that are independent, the default ones too. Throws std::invalid_argument for a request out of
/// range, or that no sketch of at most 2^56 counters and 1024 rows meets.
/// @source theory::count_min_width, theory::count_min_depth (Cormode and Muthukrishnan 2003)
CountMinShape plan_count_min(const CountMinRequest& request);

/// For TwoHashRows: a prime width, and copies where one alone fails too often. It takes at least twice
/// the width of the classic sketch for the same epsilon.
/// @source Kirsch and Mitzenmacher 2008, Theorem 9.1 and section 9.2
CountMinShape plan_count_min_two_hash(const CountMinRequest& request);

}  // namespace tally
