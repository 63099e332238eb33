#pragma once

#include <cstdint>
#include <optional>

#include "tally/streams/threshold.hpp"

// How a ThresholdStream divides its memory and its false positive rate.

namespace tally::detail {

using StreamOptions = ThresholdStream::Options;

/// With a threshold of 1, a key is reported at its first occurrence, and the set alone decides, exactly.
inline bool needs_filter(const StreamOptions& options) noexcept { return options.threshold > 1; }

/// Maximum memory of the set of reported keys before the filter is known.
std::uint64_t set_bytes(const StreamOptions& options) noexcept;
/// Memory of the set beside a filter of this size.
std::uint64_t set_bytes_beside(std::uint64_t filter_bytes, std::uint64_t memory_bytes) noexcept;

/// See ThresholdStream::least_memory_bytes.
std::optional<std::uint64_t> least_memory_bytes(const StreamOptions& options);

/// Returns the options. Throws std::invalid_argument for impossible ones.
const StreamOptions& checked(const StreamOptions& options);

double wanted_rate(const StreamOptions& options) noexcept;
/// The part of the wanted rate for the next filter, after `num_before` filters.
double rate_of_generation(const StreamOptions& options, std::size_t num_before);

/// The filter of a stream with unlimited memory.
ThresholdShape shape_for(const StreamOptions& options, std::uint64_t num_keys, double rate,
                         bool follows_stream);
/// The filter for the keys (0: as many as fit) and the rate, if the memory allows it; otherwise the best that the memory
/// allows.
ThresholdShape shape_in_memory(const StreamOptions& options, std::uint64_t num_keys, double rate);

}  // namespace tally::detail
