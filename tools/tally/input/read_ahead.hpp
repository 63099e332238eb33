#pragma once

#include <cstdint>
#include <optional>

#include "input/key_loop.hpp"
#include "input/read_ahead/work_for_two.hpp"
#include "tally/hashing/key_hasher.hpp"

namespace tally::cli {

/// Whether two threads are wanted: if no number is given, where there are two processors.
bool wants_two_threads(std::optional<std::uint32_t> num_threads);

/// Whether all input is files, and not tiny ones. What is still being written is better read by one thread: keys are
/// used at once then.
bool can_read_ahead(const InputOptions& input);

/// Reads and hashes all keys, and works on them, in two threads. `use` receives at most KeyReader::max_keys_a_call keys per
/// call. Returns false, and has done nothing, if no second thread is available. `totals`
/// says what was read so far. Throws what for_each_batch throws, and
/// what the work throws.
bool read_ahead(const InputOptions& input, const KeyHasher& hasher, bool quiet, const WorkForTwo& work,
                KeyTotals& totals);

}  // namespace tally::cli
