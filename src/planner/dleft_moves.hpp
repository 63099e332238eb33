#pragma once

// Only for src/planner/: what moves do to the planned layouts of d-left filters, from a table, because the system of
// differential equations takes up to seconds for one load.

#include <cstdint>

#include "planner/dleft_loads.hpp"

namespace tally::planner_detail {

/// At most this share of the insertions may be planned to need moves: near the orientable load the table ends.
inline constexpr double most_planned_moves = 0.5;

/// The least probability of a refused insertion that is promised with moves. The law of large tables has no evidence that far
/// out, and does not know of sets of few buckets with more keys than cells.
inline constexpr double least_refusal_probability = 1e-20;

/// The share of insertions that find all their buckets full, and so move a key, with this share of the cells in use: in the
/// steady state of replacements, or of the last insertions if the filter is only filled. 1 for loads above the table. The
/// layout must be a planned one.
/// @source theory::dleft_moves_limit
double moves_per_insertion(std::uint32_t num_subtables, std::uint32_t cells_per_bucket, bool is_replaced,
                           double load);

/// The inverse: the largest share of the cells with at most `moves` per insertion, above 0 and at most most_planned_moves.
double load_with_moves(std::uint32_t num_subtables, std::uint32_t cells_per_bucket, bool is_replaced,
                       double moves);

/// Upper bound on the probability that any insertion of the life is refused by a filter with DLeftMoves::search.
///
/// In a table of at most most_buckets_searched_all buckets, only keys that have no placement are refused
/// (theory::dleft_no_placement_bound). A larger one is taken to refuse an insertion with at most the probability that 256
/// independent buckets are full. The search visits 1024. Near the threshold, where refusals can be counted, it finds room as if
/// 1024 were independent, within a quarter (tests/statistical/dleft_moves_test.cpp).
double refusal_probability_at(std::uint32_t num_subtables, std::uint32_t cells_per_bucket,
                              const Lifetime& lifetime, double load);

/// The loads that a filter of a planned layout can have in its life.
struct CarriedLoads {
  std::uint32_t num_subtables = 0;
  std::uint32_t cells_per_bucket = 0;
  Lifetime lifetime;
  double failure_probability = 0;      ///< that may not be exceeded
  double max_moves_per_insertion = 0;  ///< 0: as if nothing were moved

  bool are_carried(double load) const;
  /// The largest one. Also without moves.
  double largest() const;
  double largest_without_moves() const;
  /// Upper bound on the probability that any insertion of the life returns `full`.
  double failure_probability_at(double load) const;
};

}  // namespace tally::planner_detail
