#pragma once

#include <string>
#include <vector>

#include "shape/options.hpp"

namespace tally::cli {

/// Adds the flags of Count-Min sketches, planned or exact, as one group of the help. `how_often_more` is the part of a
/// description that says how often the error may be larger than --epsilon.
std::vector<Option> add_count_min_options(
    CommandLine app, ShapeOptions& options,
    const std::string& how_often_more = "--failure-probability is the probability of a larger error");

}  // namespace tally::cli
