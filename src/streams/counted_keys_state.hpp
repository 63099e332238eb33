#pragma once

#include <cstdint>

#include "tally/sketches/counted_keys.hpp"
#include "tally/streams/state_reader.hpp"
#include "tally/streams/state_writer.hpp"

namespace tally::detail {

void save(StateWriter& state, const CountedKeys& keys);
CountedKeys restore_counted_keys(StateReader& state, std::uint64_t capacity);

}  // namespace tally::detail
