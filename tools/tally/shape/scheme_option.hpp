#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tally/shapes/filter.hpp"

namespace tally::cli {

/// What --scheme may be for filters of a kind; nothing for blocked-bloom, whose one scheme is not chosen.
std::vector<std::string> scheme_names(FilterKind kind);

/// The scheme of this name; the kind's default one without a name. Throws std::invalid_argument that names --scheme and
/// what the kind can have.
std::uint16_t scheme_id_for(FilterKind kind, const std::string& name);

}  // namespace tally::cli
