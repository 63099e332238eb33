#pragma once

#include <cstddef>
#include <cstdint>

#include "tally/export.hpp"

namespace tally::detail {

/// results[i]: whether all positions that BlockedScheme gives the digest {low[i], high[i]} in lines[i], the
/// digest's line of 512 bits, are set.
using TestLines = void (*)(const std::uint64_t* const* lines, const std::uint64_t* low,
                           const std::uint64_t* high, std::uint32_t num_hashes, std::size_t num_keys,
                           bool* results);

/// The loop for machines whose vectors hold a whole line, null for other machines. Tests compare it with
/// BlockedScheme.
TALLY_EXPORT TestLines blocked_line_test() noexcept;

}  // namespace tally::detail
