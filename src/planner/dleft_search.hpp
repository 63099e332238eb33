#pragma once

// Shared by src/planner_*.cpp only: the one search for d-left shapes.

#include <cstdint>
#include <optional>
#include <string_view>

#include "planner/search.hpp"
#include "tally/planner/dleft_forecast.hpp"
#include "tally/planner/plan_dleft.hpp"

namespace tally::planner_detail {

struct DLeftSolution {
  DLeftShape shape;
  std::uint64_t num_keys = 0;
};

/// The layouts that come into question: those with vector loops (DLeftKernels), or all.
enum class DLeftLoops { vector, any };

/// The best shape, as plan_dleft says, whatever the request prefers. Errors begin with `structure`.
DLeftSolution solve_dleft(std::string_view structure, const DLeftRequest& request, DLeftLoops loops);

/// The same; nothing where no layout meets the request.
std::optional<DLeftSolution> find_dleft(std::string_view structure, const DLeftRequest& request,
                                        DLeftLoops loops);

bool has_vector_loops(const DLeftShape& shape) noexcept;

/// Whether a shape with vector loops costs at most twice the memory of the best one of all, and holds at least half of
/// its keys.
bool is_worth_its_speed(const DLeftSolution& fast, const DLeftSolution& best);

/// A doubling moves every fingerprint by a bit of its remainder, the same one in every subtable: a table that has doubled
/// s times is 2^s tables side by side, and chance decides how many of the keys each gets. So many keys would fill all of
/// them as much as the fullest one is filled, but for the failure probability, in the life of the table.
std::uint64_t keys_as_in_fullest_part(std::uint64_t num_keys, std::uint32_t num_doublings,
                                      std::uint64_t operations, double failure_probability);

/// ln of the false positive rate with so many keys in it.
double ln_dleft_rate(const DLeftShape& shape, std::uint64_t num_keys);

/// What will become of the shape that was found. Its layout is a planned one.
DLeftForecast forecast_of(const DLeftSolution& solution, const DLeftRequest& request);

}  // namespace tally::planner_detail
