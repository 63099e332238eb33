#pragma once

#include <string_view>

#include "tally/streams/records.hpp"

namespace tally::detail {

/// Throws std::invalid_argument if the lengths of the spans do not match.
void require_records(std::string_view structure, const StreamRecords& records, bool with_keys,
                     bool with_times);

}  // namespace tally::detail
