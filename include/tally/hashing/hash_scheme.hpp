#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

#include "tally/export.hpp"
#include "tally/hashing/hash128.hpp"

namespace tally {

inline constexpr std::uint32_t max_num_hashes = 1024;
inline constexpr std::uint64_t max_num_positions = std::uint64_t{1} << 56;

/// The space from which a scheme draws positions: `num_positions` (m) bits or counters of a structure,
/// `num_hashes` (k) per key, `positions_per_line` of them in one 64-byte line.
struct PositionSpace {
  std::uint64_t num_positions = 0;
  std::uint32_t num_hashes = 0;
  std::uint32_t positions_per_line = 0;
};

/// Where a key's positions may be: anywhere; position i in the i-th of k equal parts; all in one 64-byte
/// line; all in one line, position i in its word i mod 8.
enum class PositionLayout { whole, parts, lines, words };

/// Whether all positions of a key share a line.
constexpr bool is_in_one_line(PositionLayout layout) noexcept {
  return layout == PositionLayout::lines || layout == PositionLayout::words;
}

enum class Rounding { down, up };

/// Which formula gives the false positive rate of a Bloom filter under a scheme.
enum class PositionLaw : std::uint8_t {
  independent,   ///< positions drawn independently (theory/bloom.hpp); limit of the double schemes
  parts,         ///< one in each of k parts, independently (theory/bloom.hpp)
  lines,         ///< independently in one line (theory/blocked_bloom.hpp)
  words,         ///< as many in each word of one line (theory/register_bloom.hpp)
  plain_double,  ///< the double schemes are counted pair by pair (theory/double_hashing.hpp)
  quadratic_double,
  cubic_double,
  triple,
  partition_double  ///< also with a formula of its own (theory/partition_double.hpp)
};

/// A HashScheme derives the k positions of a key from its Hash128.
///
/// `all_positions(hash, visit)` calls `visit(position)` for k positions in [0, num_positions), in order,
/// stops when `visit` returns false, and returns whether every call returned true. Positions may repeat.
/// `round_positions` returns the nearest num_positions, not above or not below the given one, that the scheme
/// can use (0 if there is none); a scheme is constructed only with such a number. Files store `file_id`,
/// which is never reused. Plans and simulations use the formula that `law` names. A scheme that takes only multiples of a
/// number as k names it `num_hashes_step`.
template <class S>
concept HashScheme = std::constructible_from<S, PositionSpace> &&
    requires(const S scheme, Hash128 hash, PositionSpace space, bool (*visit)(std::uint64_t)) {
  { S::name } -> std::convertible_to<std::string_view>;
  { S::file_id } -> std::convertible_to<std::uint16_t>;
  { S::layout } -> std::convertible_to<PositionLayout>;
  { S::law } -> std::convertible_to<PositionLaw>;
  { S::round_positions(space, Rounding::up) } -> std::same_as<std::uint64_t>;
  { scheme.all_positions(hash, visit) } -> std::same_as<bool>;
};

/// The number of hashes must be a multiple of this.
template <class Scheme>
inline constexpr std::uint32_t num_hashes_step = 1;
template <class Scheme>
requires requires { Scheme::num_hashes_step; }
inline constexpr std::uint32_t num_hashes_step<Scheme> = Scheme::num_hashes_step;

namespace detail {
TALLY_EXPORT void check_position_space(std::string_view structure, std::string_view positions_field,
                                       std::string_view scheme, PositionSpace space,
                                       std::uint32_t hashes_step, std::uint64_t usable_below,
                                       std::uint64_t usable_above);
}

/// Throws std::invalid_argument unless `space` is within the limits above and the scheme can use its num_hashes and
/// num_positions. The message names `structure` and, as the field, `positions_field`, which is what that
/// structure calls its number of positions.
template <HashScheme Scheme>
void check_position_space(std::string_view structure, std::string_view positions_field, PositionSpace space) {
  const auto usable = [&](Rounding rounding) {
    const bool in_range = space.num_hashes != 0 && space.num_hashes <= max_num_hashes &&
                          space.num_positions != 0 && space.num_positions <= max_num_positions;
    return in_range ? Scheme::round_positions(space, rounding) : 0;
  };
  detail::check_position_space(structure, positions_field, Scheme::name, space, num_hashes_step<Scheme>,
                               usable(Rounding::down), usable(Rounding::up));
}

}  // namespace tally
