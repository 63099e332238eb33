#pragma once

// Only for src/planner/.

#include <cstdint>
#include <vector>

#include "tally/theory/compound_poisson.hpp"

namespace tally::planner_detail {

/// What a simulation of conservative update with insertions in random order says of Pr(the count reported for a key >= theta).
///
/// At most 16384 counters with as many keys of each count per counter as the m have; the same for the same arguments. Some
/// milliseconds. Counts beyond the histogram are taken as 4 theta at most.
class ConservativeSimulation {
 public:
  ConservativeSimulation(const theory::CountHistogram& histogram, std::uint64_t theta, std::uint32_t k,
                         std::uint64_t m);

  /// The promised rate of a key that was inserted true_count < theta times, or what the simulation says if that is more. For
  /// absent keys that is two standard errors above the share of the counters that reach theta, to the power k. For others it is the share
  /// of the keys with this count or the next one with 200 keys, if it differs from the promise by three standard errors.
  double at_least(double promised, std::uint64_t true_count) const;

 private:
  std::uint64_t theta_;
  std::uint32_t num_hashes_;
  double num_counters_;
  double num_counters_reached_;
  std::vector<double> keys_of_count_;     // by count below theta
  std::vector<double> reached_of_count_;  // those of them that are reported with theta or more
};

}  // namespace tally::planner_detail
