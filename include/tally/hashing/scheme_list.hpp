#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "tally/hashing/blocked_scheme.hpp"
#include "tally/hashing/congruential_scheme.hpp"
#include "tally/hashing/double_schemes.hpp"
#include "tally/hashing/independent_schemes.hpp"
#include "tally/hashing/multiplier_buckets.hpp"
#include "tally/hashing/rotation_buckets.hpp"
#include "tally/hashing/row_schemes.hpp"

namespace tally {

/// A closed list of schemes, of positions or of buckets: what a scheme chosen at run time is chosen from.
template <class... Schemes>
struct SchemeList {
  /// Calls use(std::type_identity<Scheme>{}) for the scheme of that id; false if there is none.
  template <class Use>
  static bool with_id(std::uint16_t file_id, Use use) {
    return ((Schemes::file_id == file_id ? (use(std::type_identity<Schemes>{}), true) : false) || ...);
  }

  /// Calls use(std::type_identity<Scheme>{}) for every scheme, by ascending id.
  template <class Use>
  static void for_each(Use use) {
    (use(std::type_identity<Schemes>{}), ...);
  }
};

/// Every scheme of the library.
using AllSchemes =
    SchemeList<CongruentialScheme, BlockedScheme, StandardScheme, PartitionedScheme, DoubleScheme,
               EnhancedDoubleQuadraticScheme, EnhancedDoubleCubicScheme, TripleScheme, PartitionDoubleScheme>;

/// Those that filters of counters are built with.
using CounterSchemes =
    SchemeList<CongruentialScheme, StandardScheme, PartitionedScheme, DoubleScheme,
               EnhancedDoubleQuadraticScheme, EnhancedDoubleCubicScheme, TripleScheme, PartitionDoubleScheme>;

/// Those of d-left filters.
using BucketSchemes = SchemeList<RotationBuckets, MultiplierBuckets>;

/// Those of sketches.
using RowSchemes = SchemeList<CongruentialRows, IndependentRows, PairwiseRows, TwoHashRows>;

/// The id of the scheme so called. Throws std::invalid_argument that lists the names.
std::uint16_t scheme_id(std::string_view name);

/// The name of the scheme with this id. Throws std::invalid_argument that lists the ids.
std::string_view scheme_name(std::uint16_t id);

/// The same for the bucket schemes, and for the row schemes.
std::uint16_t bucket_scheme_id(std::string_view name);
std::string_view bucket_scheme_name(std::uint16_t id);
std::uint16_t row_scheme_id(std::string_view name);
std::string_view row_scheme_name(std::uint16_t id);

}  // namespace tally
