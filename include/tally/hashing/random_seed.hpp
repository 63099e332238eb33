#pragma once

#include <cstdint>

#include "tally/export.hpp"
#include "tally/hashing/key_hasher.hpp"

namespace tally {

/// A seed from the system's random numbers, so that nobody can prepare colliding keys beforehand. Filters that are merged
/// or exchanged need one seed: draw it once, and store it. A file contains the seed of its filter.
///
/// Throws std::exception if the system has no random numbers.
[[nodiscard]] TALLY_EXPORT std::uint64_t random_seed();

/// A secret for KeyHasher::keyed, from the system's random numbers. No file contains it: without it, a filter that was saved
/// cannot be loaded. Throws std::exception if the system has no random numbers.
[[nodiscard]] TALLY_EXPORT HashKey random_hash_key();

}  // namespace tally
