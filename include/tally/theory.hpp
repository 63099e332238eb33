#pragma once

/// All formulas. You can use them without the rest of the library.

#include "tally/theory/blocked_bloom.hpp"
#include "tally/theory/blocked_counters.hpp"
#include "tally/theory/bloom.hpp"
#include "tally/theory/compound_poisson.hpp"
#include "tally/theory/confidence.hpp"
#include "tally/theory/count_min.hpp"
#include "tally/theory/counter_overflow.hpp"
#include "tally/theory/dleft_fingerprints.hpp"
#include "tally/theory/dleft_fluid_limit.hpp"
#include "tally/theory/dleft_overflow.hpp"
#include "tally/theory/dleft_safe_load.hpp"
#include "tally/theory/double_hashing.hpp"
#include "tally/theory/estimate.hpp"
#include "tally/theory/kappa_star.hpp"
#include "tally/theory/partition_double.hpp"
#include "tally/theory/rate_concentration.hpp"
#include "tally/theory/similarity.hpp"
#include "tally/theory/summary_cache.hpp"
#include "tally/theory/tails.hpp"
#include "tally/theory/threshold.hpp"
