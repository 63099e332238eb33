#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "call.hpp"
#include "tally/shapes/filter.hpp"

namespace tally::redis {

/// A structure that was asked for by the words of the command line of `tally plan` and `tally build`.
struct ChosenShape {
  FilterShape shape;
  std::string reason;                         ///< why this structure
  std::vector<std::string> warnings;          ///< of the planner
  std::optional<std::uint64_t> num_keys;      ///< that it is planned for
  std::optional<double> false_positive_rate;  ///< predicted with all these keys
  std::optional<std::uint64_t> seed;          ///< nothing: to be drawn
};

/// The structure that the arguments from `first` on ask for. Each is the name of an option, with or without its dashes, in
/// any case, followed by its value if it has one. With the kind or the exact size of a structure, it is that structure;
/// otherwise the one that plan() recommends. Throws Refusal that names the option.
ChosenShape choose_shape(const Call& call, std::size_t first);

/// The words that give exactly this shape, which has not grown: "kind", "bloom", "scheme", ...
std::vector<std::string> words_of(const FilterShape& shape);

}  // namespace tally::redis
