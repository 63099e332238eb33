#include "tally/detail/checked_math.hpp"

#include <stdexcept>
#include <string>

namespace tally::detail {

void throw_product_too_large(std::uint64_t a, std::uint64_t b, std::string_view what) {
  throw std::invalid_argument(std::string(what) + ": " + std::to_string(a) + " x " + std::to_string(b) +
                              " does not fit in 64 bits; use less");
}

}  // namespace tally::detail
