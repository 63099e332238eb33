#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "tally/export.hpp"
#include "tally/hashing/blocked_scheme.hpp"
#include "tally/hashing/congruential_scheme.hpp"
#include "tally/hashing/double_schemes.hpp"
#include "tally/hashing/independent_schemes.hpp"
#include "tally/hashing/multiplier_buckets.hpp"
#include "tally/hashing/register_blocked_scheme.hpp"
#include "tally/hashing/rotation_buckets.hpp"
#include "tally/hashing/row_schemes.hpp"

namespace tally {

/// A scheme at run time: its number in files and its name.
struct NamedScheme {
  std::uint16_t file_id = 0;
  std::string_view name;
};

/// A closed list of schemes, for positions or for buckets, from which a scheme is chosen at run time.
template <class... Schemes>
struct SchemeList {
  static constexpr std::array<NamedScheme, sizeof...(Schemes)> names{
      NamedScheme{Schemes::file_id, Schemes::name}...};
  static constexpr std::uint16_t least_id = std::min({Schemes::file_id...});
  static constexpr std::uint16_t most_id = std::max({Schemes::file_id...});

  /// Calls use(std::type_identity<Scheme>{}) for the scheme with that id; returns false if there is none.
  template <class Use>
  static bool with_id(std::uint16_t file_id, Use use) {
    return ((Schemes::file_id == file_id ? (use(std::type_identity<Schemes>{}), true) : false) || ...);
  }

  /// Calls use(std::type_identity<Scheme>{}) for every scheme, in order of ids.
  template <class Use>
  static void for_each(Use use) {
    (use(std::type_identity<Schemes>{}), ...);
  }
};

namespace detail {

template <class... Types>
struct TypeList {};

template <class... Lists>
struct Joined;
template <class... Schemes>
struct Joined<TypeList<Schemes...>> {
  using type = SchemeList<Schemes...>;
};
template <class... First, class... Second, class... Rest>
struct Joined<TypeList<First...>, TypeList<Second...>, Rest...>
    : Joined<TypeList<First..., Second...>, Rest...> {};

/// The schemes whose keys have all positions in one line, or the others.
template <bool in_one_line, class Schemes>
struct SchemesIn;
template <bool in_one_line, class... Schemes>
struct SchemesIn<in_one_line, SchemeList<Schemes...>>
    : Joined<std::conditional_t<is_in_one_line(Schemes::layout) == in_one_line, TypeList<Schemes>,
                                TypeList<>>...> {};

}  // namespace detail

// The tables of schemes. A scheme that is added is one row here, and its header: kinds, files, the planner and the command
// take it from here.

/// Every scheme of positions.
using AllSchemes = SchemeList<CongruentialScheme, BlockedScheme, StandardScheme, PartitionedScheme,
                              DoubleScheme, EnhancedDoubleQuadraticScheme, EnhancedDoubleCubicScheme,
                              TripleScheme, PartitionDoubleScheme, RegisterBlockedScheme>;

/// The schemes of blocked filters: those with all positions of a key in one line.
using LineSchemes = detail::SchemesIn<true, AllSchemes>::type;

/// The schemes of filters with counters: all others.
using CounterSchemes = detail::SchemesIn<false, AllSchemes>::type;

/// The schemes of d-left filters.
using BucketSchemes = SchemeList<RotationBuckets, MultiplierBuckets>;

/// The schemes of sketches.
using RowSchemes = SchemeList<CongruentialRows, IndependentRows, PairwiseRows, TwoHashRows>;

/// The id of the scheme with this name. Throws std::invalid_argument that lists the names.
TALLY_EXPORT std::uint16_t scheme_id(std::string_view name);

/// The name of the scheme with this id. Throws std::invalid_argument that lists the ids.
TALLY_EXPORT std::string_view scheme_name(std::uint16_t id);

/// The same for the bucket schemes, and for the row schemes.
TALLY_EXPORT std::uint16_t bucket_scheme_id(std::string_view name);
TALLY_EXPORT std::string_view bucket_scheme_name(std::uint16_t id);
TALLY_EXPORT std::uint16_t row_scheme_id(std::string_view name);
TALLY_EXPORT std::string_view row_scheme_name(std::uint16_t id);

/// Whether the scheme with this id is one of LineSchemes.
TALLY_EXPORT bool is_line_scheme(std::uint16_t id) noexcept;

/// The law of the scheme with this id, of AllSchemes. Throws as scheme_name.
TALLY_EXPORT PositionLaw position_law(std::uint16_t id);

}  // namespace tally
