#pragma once

#include <cstdint>
#include <string_view>

#include "tally/export.hpp"

namespace tally {

/// By what plan() orders the structures that meet the requirements.
enum class PlanPreference : std::uint8_t {
  fastest,   ///< least time: OperationCosts::total_ns
  smallest,  ///< least memory; if the memory is given, the lowest false positive rate or the most keys
  balanced   ///< least product of both: twice the memory must save more than half of the time
};

/// "fastest", "smallest" or "balanced".
TALLY_EXPORT std::string_view name_of(PlanPreference preference) noexcept;

}  // namespace tally
