#include "tally/theory/count_min.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "theory/detail.hpp"

namespace tally::theory {
namespace {

constexpr double max_width = 0x1p56;

void check(const char* function, std::uint64_t w, std::uint32_t depth, double epsilon) {
  detail::require_at_least_1(function, "w", w);
  detail::require_at_least_1(function, "depth", depth);
  detail::require(epsilon > 0.0 && epsilon < detail::infinity, function, "epsilon", epsilon,
                  "above 0 and finite");
}

std::uint64_t width_for(const char* function, double numerator, double epsilon) {
  detail::require_open_unit(function, "epsilon", epsilon);
  const double width = std::ceil(numerator / epsilon);
  detail::require(width <= max_width, function, "epsilon", epsilon,
                  "so large that the width is at most 2^56");
  return static_cast<std::uint64_t>(width);
}

std::uint32_t at_least_1(double count) { return static_cast<std::uint32_t>(std::max(1.0, std::ceil(count))); }

}  // namespace

double ln_count_min_failure_probability(std::uint64_t w, std::uint32_t depth, double epsilon) {
  check("count_min_failure_probability", w, depth, epsilon);
  return std::min(0.0, -static_cast<double>(depth) * (std::log(static_cast<double>(w)) + std::log(epsilon)));
}

double count_min_failure_probability(std::uint64_t w, std::uint32_t depth, double epsilon) {
  return std::exp(ln_count_min_failure_probability(w, depth, epsilon));
}

std::uint64_t count_min_width(double epsilon) {
  return width_for("count_min_width", std::numbers::e, epsilon);
}

std::uint32_t count_min_depth(double delta) {
  detail::require_open_unit("count_min_depth", "delta", delta);
  return at_least_1(-std::log(delta));
}

double ln_count_min_two_hash_failure_probability(std::uint64_t w, std::uint32_t depth, double epsilon,
                                                 std::uint32_t num_copies) {
  constexpr const char* function = "count_min_two_hash_failure_probability";
  check(function, w, depth, epsilon);
  detail::require_at_least_1(function, "num_copies", num_copies);
  const double ln_w = std::log(static_cast<double>(w));
  const double ln_row = std::numbers::ln2 - std::log(epsilon) - ln_w;  // of 2 / (w epsilon)
  const double one_copy = detail::ln_add(ln_row - ln_w, static_cast<double>(depth) * ln_row);
  return std::min(0.0, static_cast<double>(num_copies) * one_copy);
}

double count_min_two_hash_failure_probability(std::uint64_t w, std::uint32_t depth, double epsilon,
                                              std::uint32_t num_copies) {
  return std::exp(ln_count_min_two_hash_failure_probability(w, depth, epsilon, num_copies));
}

std::uint64_t count_min_two_hash_width(double epsilon) {
  return width_for("count_min_two_hash_width", 2 * std::numbers::e, epsilon);
}

std::uint32_t count_min_two_hash_depth(double epsilon) {
  detail::require_open_unit("count_min_two_hash_depth", "epsilon", epsilon);
  constexpr double share = 1 - 1 / (2 * std::numbers::e * std::numbers::e);
  return at_least_1(-std::log(epsilon) - std::log(share));
}

std::uint32_t count_min_two_hash_copies(double epsilon, double delta) {
  detail::require_open_unit("count_min_two_hash_copies", "epsilon", epsilon);
  detail::require_open_unit("count_min_two_hash_copies", "delta", delta);
  return at_least_1(std::log(delta) / std::log(epsilon));
}

}  // namespace tally::theory
