#pragma once

#include <cstdint>

#include "tally/any_filter.hpp"
#include "tally/any_filter/filter_view.hpp"
#include "tally/export.hpp"
#include "tally/theory/similarity.hpp"

namespace tally {

/// An estimated number, and the limits between which the true one is with the confidence that was asked for.
struct LimitedEstimate {
  double value = 0;
  double low = 0;
  double high = 0;
};

/// Sizes of the sets of keys of two filters or sketches, and how similar they are.
struct SetSimilarity {
  LimitedEstimate num_keys_a;
  LimitedEstimate num_keys_b;
  LimitedEstimate union_size;         ///< keys in a or b
  LimitedEstimate intersection_size;  ///< keys in a and b
  LimitedEstimate jaccard;            ///< intersection_size / union_size
  LimitedEstimate
      containment_a;  ///< intersection_size / num_keys_a: the share of the keys of a that are in b
  LimitedEstimate containment_b;  ///< intersection_size / num_keys_b
};

namespace detail {

TALLY_EXPORT theory::OccupiedPositions occupied_positions(const FilterView& a, const FilterView& b);

/// A fingerprint is a position, of which each key has one.
template <class DLeft>
theory::OccupiedPositions occupied_fingerprints(const DLeft& a, const DLeft& b) {
  theory::OccupiedPositions occupied{a.table().num_fingerprints(), b.table().num_fingerprints(), 0};
  occupied.either = occupied.a;
  b.for_each_fingerprint([&](std::uint64_t fingerprint, std::uint64_t) {
    occupied.either += a.count_fingerprint(fingerprint) == 0;
  });
  return occupied;
}

TALLY_EXPORT void require_comparable(const FilterView& a, const FilterView& b);
TALLY_EXPORT SetSimilarity similarity_of(const FilterView& filter, const theory::OccupiedPositions& occupied,
                                         double confidence);

}  // namespace detail

/// How similar the sets of keys of two filters or sketches are, however often keys were inserted, and whatever was
/// inserted into one but not the other. Both have the same shape, scheme and hasher; d-left filters may differ in the
/// number of doublings. All limits of one result are for one number each: `confidence` is not that of all together.
///
/// Filters that hold many more keys than planned have no estimate: then all numbers are infinite, and the limits 0 and
/// infinity. Throws std::invalid_argument that names the first difference, or for a confidence outside (0, 1).
/// @source theory::estimate_similarity
template <FilterInFiles F>
[[nodiscard]] SetSimilarity estimate_similarity(const F& a, const F& b, double confidence = 0.99) {
  detail::require_comparable(a, b);
  if constexpr (detail::has_side_table<F>) {
    return detail::similarity_of(a, detail::occupied_fingerprints(a, b), confidence);
  } else {
    return detail::similarity_of(a, detail::occupied_positions(a, b), confidence);
  }
}

/// The same for filters whose kind is known at run time.
[[nodiscard]] TALLY_EXPORT SetSimilarity estimate_similarity(const AnyFilter& a, const AnyFilter& b,
                                                             double confidence = 0.99);

}  // namespace tally
