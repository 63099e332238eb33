#pragma once

/// Structures that several threads fill at the same time. Those with a `release` become an ordinary structure.

#include "tally/filters/shared_bloom.hpp"
#include "tally/filters/shared_counting_bloom.hpp"
#include "tally/filters/shared_duplicate.hpp"
#include "tally/filters/shared_shards.hpp"
#include "tally/filters/shared_threshold.hpp"
#include "tally/sets/shared_entry_counts.hpp"
#include "tally/sets/shared_entry_set.hpp"
#include "tally/sketches/shared_count_min.hpp"
