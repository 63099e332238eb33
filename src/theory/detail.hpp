#pragma once

// Shared by src/theory/*.cpp only: argument checks and sums in the domain of logarithms.

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace tally::theory::detail {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr std::uint32_t max_num_hashes = 1024;
inline constexpr std::uint64_t max_theta = std::uint64_t{1} << 40;

/// For sums of many small positive terms: the exponents of long double keep them from underflowing. WebAssembly computes
/// long double in software, which is slow, and so has double: terms below 1e-308 are then 0.
#ifdef __EMSCRIPTEN__
using Extended = double;
#else
using Extended = long double;
#endif

/// A value as an error message shows it. Of a double, the fewest digits that read back as the same number.
std::string text_of(double value);
inline std::string text_of(std::uint64_t value) { return std::to_string(value); }
inline std::string text_of(std::uint32_t value) { return std::to_string(value); }

/// Throws std::invalid_argument: "function: parameter is value; must be rule".
[[noreturn]] void refuse(std::string_view function, std::string_view parameter, std::string_view value,
                         std::string_view rule);

/// Refuses the value unless `good`. Write `good` so that NaN is false.
template <class Value>
void require(bool good, const char* function, const char* parameter, Value value, const char* rule) {
  if (!good) refuse(function, parameter, text_of(value), rule);
}

inline void require_num_hashes(const char* function, std::uint32_t k) {
  require(k >= 1 && k <= max_num_hashes, function, "k", k, "1 to 1024");
}

inline void require_at_least_1(const char* function, const char* parameter, std::uint64_t value) {
  require(value >= 1, function, parameter, value, "at least 1");
}

inline void require_m_and_k(const char* function, std::uint64_t m, std::uint32_t k) {
  require_at_least_1(function, "m", m);
  require_num_hashes(function, k);
}

/// `num_blocks` lines of B positions, of which a key has k in one line.
inline void require_lines(const char* function, std::uint64_t num_blocks, std::uint32_t B, std::uint32_t k) {
  require_at_least_1(function, "num_blocks", num_blocks);
  require(B >= 1 && B <= 4096, function, "B", B, "1 to 4096");
  require_num_hashes(function, k);
}

inline void require_open_unit(const char* function, const char* parameter, double value) {
  require(value > 0.0 && value < 1.0, function, parameter, value, "above 0 and below 1");
}

/// k n as a double: it may pass 2^64.
inline double product(std::uint32_t k, std::uint64_t n) {
  return static_cast<double>(k) * static_cast<double>(n);
}

/// ln(1 - exp(x)) for x <= 0 without cancellation at either end.
inline double ln_one_minus_exp(double x) {
  if (x >= 0.0) return -infinity;
  return x > -0.6931471805599453 ? std::log(-std::expm1(x)) : std::log1p(-std::exp(x));
}

/// ln(exp(a) + exp(b)).
inline double ln_add(double a, double b) {
  if (a < b) return ln_add(b, a);
  return b == -infinity ? a : a + std::log1p(std::exp(b - a));
}

/// ln of the probability that one position is still 0 after `throws` throws into m positions.
inline double ln_empty(std::uint64_t m, double throws) {
  if (throws == 0.0) return 0.0;
  // 1 - 1/m would lose its digits as m grows; ln(1 - 1/m) does not.
  return m == 1 ? -infinity : throws * std::log1p(-1.0 / static_cast<double>(m));
}

/// ln(Pr(Poisson(kappa) >= theta) / Pr(Poisson(kappa) = theta)), not computed as the difference of the two
/// logarithms: each is of the order of theta, and all of their digits are equal. theta at least 1; kappa
/// above 0.
double ln_poisson_upper_tail_over_point(std::uint64_t theta, double kappa);

}  // namespace tally::theory::detail
