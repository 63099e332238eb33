#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tally::cli {

/// "; did you mean 'over'?": the words of `known` that are closest to a mistyped one, at most three; empty if
/// none is close.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace tally::cli
