#pragma once

#include <cstdint>

#include "tally/export.hpp"
#include "tally/theory/dleft_fluid_limit.hpp"

namespace tally::theory {

/// How often a d-left table with c cells per bucket has no room, if no element is ever moved. `loads` comes
/// from dleft_loads() at the load of distinct fingerprints; c 1 to 255, B buckets in a subtable (at least 1);
/// else std::invalid_argument. The fluid limit has buckets without capacity, so the results hold while
/// overflows are rare. Logarithms are -infinity where a load below 1e-100 was returned as 0.

/// ln of the probability that one insertion finds all its d buckets full: sum_j ln x_{j,c}. This is not
/// x_{c+1}, the share that has overflowed and has not been deleted yet.
/// @source ours; Bonomi et al. 2006, section 5.2, reasons from x_{c+1}
TALLY_EXPORT double ln_dleft_overflow_probability(const DLeftLoads& loads, std::uint32_t c);
TALLY_EXPORT double dleft_overflow_probability(const DLeftLoads& loads, std::uint32_t c);

/// Expected number of insertions that find no room while B buckets per subtable are filled to `loads`, which
/// must be those of `insert_only`: d B times the integral of prod_j x_{j,c} over the load. The sum of the
/// differential equations over all loads above c telescopes, so the integral is sum_{i>c} x_i, x_i the share
/// of all buckets.
TALLY_EXPORT double dleft_expected_overflows_filling(const DLeftLoads& loads, std::uint64_t B,
                                                     std::uint32_t c);

/// Expected numbers of insertions that find no room: during the filling, and during the replacements after it.
struct DLeftExpectedOverflows {
  double filling = 0.0;
  double churning = 0.0;
};

/// Expected numbers over a lifetime: B buckets per subtable are filled to average_load, then N times a random
/// element is deleted and a new one inserted. The second number is the integral of prod_j x_{j,c} on the way
/// to the steady state, and after 48 steps per element N times the steady probability. d, average_load as for
/// dleft_loads().
TALLY_EXPORT DLeftExpectedOverflows dleft_expected_overflows(std::uint32_t d, std::uint64_t B,
                                                             std::uint32_t c, double average_load,
                                                             std::uint64_t N);

/// 1 - exp(-expected): the probability of at least one rare event, when `expected` (at least 0) are expected
/// and their number is a Poisson number.
TALLY_EXPORT double probability_of_any(double expected);
TALLY_EXPORT double ln_probability_of_any(double expected);

}  // namespace tally::theory
