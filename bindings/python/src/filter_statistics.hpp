#pragma once

#include <optional>

#include "python.hpp"
#include "tally/any_filter.hpp"

namespace tally::python {

/// The statistics of a filter of any kind, read while it cannot change.
struct Statistics {
  explicit Statistics(const AnyFilter& filter)
      : common(filter.statistics()), dleft(filter.dleft_statistics()), compact(filter.compact_statistics()) {}

  /// A tally.FilterStatistics, tally.DLeftStatistics or tally.CompactDLeftStatistics.
  py::object to_python() const;

  FilterStatistics common;
  std::optional<DLeftStatistics> dleft;
  std::optional<CompactDLeftStatistics> compact;
};

}  // namespace tally::python
