#include "text/bound_text.hpp"

#include <fmt/core.h>

#include "text/output.hpp"

namespace tally::cli {

std::string bound_text(const CountMinBound& bound) {
  return fmt::format("at most {} of the sum of all counts too high, with a probability of {}",
                     human_rate(bound.epsilon), human_rate(1 - bound.failure_probability));
}

}  // namespace tally::cli
