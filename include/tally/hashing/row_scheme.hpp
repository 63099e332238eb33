#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

#include "tally/hashing/hash128.hpp"
#include "tally/hashing/hash_scheme.hpp"

namespace tally {

/// The space from which a row scheme draws columns: num_copies times `depth` rows of `width` columns. `seed`
/// is for schemes that draw their hash functions once, and not only from the key's digest.
struct RowSpace {
  std::uint64_t width = 0;
  std::uint32_t depth = 0;
  std::uint32_t num_copies = 1;
  std::uint64_t seed = 0;

  constexpr std::uint32_t num_rows() const noexcept { return depth * num_copies; }
};

/// How the rows of one key depend on each other, which determines the error bound. Either they are
/// independent, or they come from two hash values, so that keys that agree in both agree in every row of a
/// copy.
enum class RowLaw : std::uint8_t { independent, two_hash };

/// A RowScheme derives a key's column in every row from its Hash128.
///
/// `for_each_row(hash, visit)` calls `visit(row, column)` for rows 0, 1, .. in order, column in [0, width).
/// `round_width` returns the nearest width, not above or not below the given one, that the scheme can use (0
/// if there is none). Files store `file_id`, which is never reused.
template <class S>
concept RowScheme = std::constructible_from<S, RowSpace> &&
    requires(const S scheme, Hash128 hash, void (*visit)(std::uint32_t, std::uint64_t)) {
  { S::name } -> std::convertible_to<std::string_view>;
  { S::file_id } -> std::convertible_to<std::uint16_t>;
  { S::law } -> std::convertible_to<RowLaw>;
  { S::round_width(std::uint64_t{}, Rounding::up) } -> std::same_as<std::uint64_t>;
  scheme.for_each_row(hash, visit);
};

}  // namespace tally
