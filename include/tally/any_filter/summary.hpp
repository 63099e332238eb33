#pragma once

#include "tally/any_filter.hpp"
#include "tally/summaries/table.hpp"

namespace tally {

/// What a filter tells others: the bits of a Bloom filter, those of a counting Bloom filter's counters that are above
/// 0, the cells of a d-left filter. Throws std::invalid_argument for a kind that has no summary.
SummaryTable summary_of(const AnyFilter& filter);

/// The other way: the Bloom or d-left filter that answers as the summary's publisher did. Its numbers of insertions are
/// 0 (of a d-left filter: one for what every cell counts), since nobody told. `hasher` is the one of the layout;
/// std::invalid_argument otherwise.
AnyFilter filter_of(const SummaryTable& summary, const KeyHasher& hasher);

}  // namespace tally
