#pragma once

// Only for src/planner/: the search for d-left shapes.

#include <cstdint>
#include <optional>
#include <string_view>

#include "planner/search.hpp"
#include "tally/planner/dleft_forecast.hpp"
#include "tally/planner/plan_dleft.hpp"

namespace tally::planner_detail {

/// The most keys of a d-left filter, also of a compact one.
inline constexpr std::uint64_t max_dleft_keys = std::uint64_t{1} << 40;

/// Up to this size a structure was in the cache of the machine of docs/benchmarks.md.
inline constexpr double in_cache_bytes = 6.0 * (1 << 20);

/// The first good number in [low, high], if all numbers after a good one are good too; nothing if there is none.
template <class Good>
std::optional<std::uint64_t> first_good(std::uint64_t low, std::uint64_t high, Good good) {
  if (low > high || !good(high)) return std::nullopt;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (good(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

struct DLeftSolution {
  DLeftShape shape;
  std::uint64_t num_keys = 0;
};

/// The layouts to search: those with vector loops (DLeftKernels), or all.
enum class DLeftLoops { vector, any };

/// The best shape by the rules of plan_dleft among these layouts. Error messages begin with `structure`.
DLeftSolution solve_dleft(std::string_view structure, const Requirements& requirements, DLeftLoops loops);

/// The same; nothing if no layout meets the requirements.
std::optional<DLeftSolution> find_dleft(std::string_view structure, const Requirements& requirements,
                                        DLeftLoops loops);

bool has_vector_loops(const DLeftShape& shape) noexcept;

/// Whether a shape with vector loops takes at most twice the memory of the best shape of all, and holds at least half
/// as many keys.
bool is_worth_its_speed(const DLeftSolution& fast, const DLeftSolution& best);

/// A doubling moves every fingerprint by one bit of its remainder, the same bit in every subtable. So a filter that
/// has doubled s times consists of 2^s filters side by side, and keys are divided between them at random. Returns the
/// number of keys that would fill all of them as much as the fullest one is filled at any time in the life of the
/// filter, except with the failure probability.
std::uint64_t keys_as_in_fullest_part(std::uint64_t num_keys, std::uint32_t num_doublings,
                                      std::uint64_t operations, double failure_probability);

/// ln of the false positive rate with this number of keys.
double ln_dleft_rate(const DLeftShape& shape, std::uint64_t num_keys);

/// The predictions for a shape that was found. Its layout must be a planned one.
DLeftForecast forecast_of(const DLeftSolution& solution, const Requirements& requirements);

}  // namespace tally::planner_detail
