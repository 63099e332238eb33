#include "tally/filters/aging_bloom.hpp"

#include <cmath>

namespace tally {

double rate_per_generation(double rate) noexcept { return -std::expm1(0.5 * std::log1p(-rate)); }

}  // namespace tally
