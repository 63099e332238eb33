#pragma once

/// Streams of keys: every key once, the moment its count or sum reaches a threshold; rankings; states to resume from.

#include "tally/streams/exact_check.hpp"
#include "tally/streams/reported_keys.hpp"
#include "tally/streams/state_loader.hpp"
#include "tally/streams/state_pieces.hpp"
#include "tally/streams/state_reader.hpp"
#include "tally/streams/state_writer.hpp"
#include "tally/streams/sum.hpp"
#include "tally/streams/threshold.hpp"
#include "tally/streams/top.hpp"
