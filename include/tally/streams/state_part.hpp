#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "tally/any_filter/filter_view.hpp"

namespace tally {

/// A large part of a state that is written in pieces: a filter or words, where they are in memory, or words of its own.
using StatePart = std::variant<FilterView, std::span<const std::uint64_t>, std::vector<std::uint64_t>>;

}  // namespace tally
