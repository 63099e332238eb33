#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "tally/export.hpp"

namespace tally {

struct NamedScheme;

/// The kinds of structures; files store these numbers, which are never reused.
enum class FilterKind : std::uint16_t {
  bloom = 1,
  blocked_bloom = 2,
  counting_bloom = 3,
  threshold = 4,
  dleft = 5,
  count_min = 6,
  // 7 to 9 are sketches that are no filters; see FileKind.
  compact_dleft = 10,
  blocked_counting_bloom = 11
};

/// Whether all positions of a key are in one line.
constexpr bool is_blocked(FilterKind kind) noexcept {
  return kind == FilterKind::blocked_bloom || kind == FilterKind::blocked_counting_bloom;
}

constexpr bool is_counting_bloom(FilterKind kind) noexcept {
  return kind == FilterKind::counting_bloom || kind == FilterKind::blocked_counting_bloom;
}

/// The number of rows in tables with one row per kind.
inline constexpr std::size_t num_kinds = 8;

/// The properties of every structure of a kind: a row of the table in src/shapes/filter_kind.cpp.
struct KindTraits {
  FilterKind kind = FilterKind::bloom;
  std::string_view name;                 ///< of files and flags: "blocked-bloom"
  std::string_view structure;            ///< its C++ type: "BlockedBloomFilter"
  std::string_view size_field;           ///< the field of its shape that is rounded to the scheme: "num_bits"
  std::span<const NamedScheme> schemes;  ///< the schemes that the kind supports, by ascending id
  std::uint16_t default_scheme_id = 0;

  bool can_remove = false;     ///< has remove
  bool can_count = false;      ///< has count and at_least
  bool can_intersect = false;  ///< has intersect
  bool can_fill_up = false;    ///< an insertion may return `full`
  bool can_grow = false;       ///< has try_grow
  bool tells_states = false;   ///< insert returns whether the key has reached the threshold
  bool takes_weights = false;  ///< has add with weights, estimate and halve
  bool has_parts = false;      ///< has insert_batch with a FilterPart
};

/// Every kind, by ascending number.
TALLY_EXPORT std::span<const KindTraits> all_kinds() noexcept;

TALLY_EXPORT const KindTraits& traits_of(FilterKind kind) noexcept;

/// "bloom", "blocked-bloom", "counting-bloom", "threshold", "dleft", "count-min", "compact-dleft" or
/// "blocked-counting-bloom".
TALLY_EXPORT std::string_view name_of(FilterKind kind) noexcept;

/// The kind with this name. Throws std::invalid_argument that lists the names.
TALLY_EXPORT FilterKind filter_kind(std::string_view name);

/// The id of the kind's scheme with this name. Throws std::invalid_argument that lists the kind's schemes.
TALLY_EXPORT std::uint16_t scheme_id_of(FilterKind kind, std::string_view scheme);

/// Whether the kind has a scheme with this id.
TALLY_EXPORT bool uses_scheme(FilterKind kind, std::uint16_t scheme_id) noexcept;

}  // namespace tally
