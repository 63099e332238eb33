#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "tally/any_filter.hpp"
#include "tally/export.hpp"
#include "tally/summaries/table.hpp"

namespace tally {

/// The summary of a filter that nodes send to each other: the bits of a Bloom filter, one bit per counter of a
/// counting Bloom filter (whether it is above 0), or the cells of a d-left filter. Throws std::invalid_argument for a
/// kind that has no summary.
TALLY_EXPORT SummaryTable summary_of(const AnyFilter& filter);

/// The layout of that summary; nothing for a kind that has none.
TALLY_EXPORT std::optional<SummaryLayout> summary_layout_of(const AnyFilter& filter);

/// Calls use(the words of that summary), of a filter that has one; they are valid during the call. For publishers that
/// compare them with an older version and need no SummaryTable.
TALLY_EXPORT void with_summary_words(const AnyFilter& filter,
                                     const std::function<void(std::span<const std::uint64_t>)>& use);

/// The inverse: the Bloom or d-left filter that answers as the summary's publisher did. A summary does not contain
/// the number of insertions: it is 0 for a Bloom filter, and the sum of all cells for a d-left filter. Throws
/// std::invalid_argument if `hasher` is not that of the layout.
TALLY_EXPORT AnyFilter filter_of(const SummaryTable& summary, const KeyHasher& hasher);

}  // namespace tally
