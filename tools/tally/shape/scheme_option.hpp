#pragma once

#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "tally/hashing/scheme_list.hpp"
#include "tally/shapes/filter_kind.hpp"

namespace tally::cli {

/// --scheme for filters with positions.
Option add_scheme(CommandLine app, std::string& scheme);

/// --scheme for every kind. `of_sketches` is the end of the description, `more` are allowed words beside the names of
/// schemes.
Option add_scheme_of_any_kind(CommandLine app, std::string& scheme, const std::string& of_sketches,
                              const std::vector<std::string>& more = {});

/// The values of --scheme for a kind.
std::vector<std::string> scheme_names(FilterKind kind);

/// The scheme with this name; if the name is empty, the default of the kind. Throws std::invalid_argument that names
/// --scheme and lists the schemes of the kind.
NamedScheme scheme_for(FilterKind kind, const std::string& name);

}  // namespace tally::cli
