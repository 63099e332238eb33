#include "shape/dleft_options.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "cli/options.hpp"
#include "files/shape_json.hpp"

namespace tally::cli {

std::string DLeftPlanOptions::given() const {
  if (num_frequent_keys) return "--frequent-keys";
  if (unique_keys) return "--unique-keys";
  if (lifetime_operations) return "--lifetime-operations";
  if (failure_probability) return "--failure-probability";
  if (max_doublings) return "--max-doublings";
  if (slow_cells) return "--slow-cells";
  return "";
}

std::vector<Option> add_dleft_plan_options(CommandLine app, DLeftPlanOptions& options) {
  std::vector<Option> added;
  Option frequent = add_count(app, "--frequent-keys", options.num_frequent_keys,
                              "Keys that will be in it more than 4 times at once; all others may be in it "
                              "up to 4 times (dleft; default: 0; build makes room for more as they come, "
                              "without --memory)",
                              {0, std::uint64_t{1} << 31});
  added.push_back(frequent);
  added.push_back(app.add_flag("--unique-keys", options.unique_keys,
                               "No key is ever in it twice at once: narrower counters will do (dleft)")
                      .excludes(frequent));
  added.push_back(
      add_count(app, "--lifetime-operations", options.lifetime_operations,
                fmt::format("Insertions after it is filled, each after a remove (dleft; default: {} a key "
                            "where keys are removed, else 0)",
                            default_replacements_per_key),
                {0}));
  added.push_back(add_rate(app, "--failure-probability", options.failure_probability,
                           fmt::format("Chance that it is ever full in that time, were keys never moved "
                                       "(dleft; default: {}), or that a count is off by more than --epsilon "
                                       "(count-min; default: 1%)",
                                       default_failure_probability)));
  added.push_back(add_count(app, "--max-doublings", options.max_doublings,
                            "How often it may double when it is full, each time for as many keys and as much "
                            "error again (dleft; default: 0)",
                            {0, 26}));
  added.push_back(
      app.add_flag("--slow-cells", options.slow_cells,
                   "Cells of any width, not only those of 16 bits, which alone have vector loops: "
                   "less memory or error, for batches that take many times as long (dleft)"));
  for (Option option : added) option.group("Planned dleft filter");
  return added;
}

std::string DLeftShapeOptions::given() const {
  if (buckets_per_subtable) return "--buckets-per-subtable";
  if (cells_per_bucket) return "--cells-per-bucket";
  if (remainder_bits) return "--remainder-bits";
  if (spill_capacity) return "--spill-capacity";
  if (!moves.empty()) return "--moves";
  return "";
}

DLeftShape DLeftShapeOptions::shape(std::optional<std::uint32_t> counter_bits,
                                    std::uint32_t max_doublings) const {
  if (!num_subtables || !buckets_per_subtable || !cells_per_bucket || !remainder_bits) {
    throw std::invalid_argument(given() +
                                ": --num-subtables, --buckets-per-subtable, --cells-per-bucket and "
                                "--remainder-bits make a shape together; "
                                "give all four, or --keys, or --memory");
  }
  if (max_doublings >= *remainder_bits) {
    throw std::invalid_argument(
        fmt::format("--max-doublings: {} of {} bits of a remainder are too many; at least one must be left",
                    max_doublings, *remainder_bits));
  }
  DLeftShape shape{.buckets_per_subtable = *buckets_per_subtable,
                   .num_subtables = *num_subtables,
                   .cells_per_bucket = *cells_per_bucket,
                   .remainder_bits = *remainder_bits,
                   .counter_bits = counter_bits.value_or(2),
                   .least_remainder_bits = *remainder_bits - max_doublings,
                   .spill_capacity = spill_capacity.value_or(64),
                   .grows = max_doublings > 0};
  if (!moves.empty()) shape.moves = moves_of(moves);
  check_shape(shape);
  return shape;
}

std::vector<Option> add_dleft_shape_options(CommandLine app, DLeftShapeOptions& options) {
  std::vector<Option> added = {
      add_count(app, "--num-subtables", options.num_subtables,
                "Buckets a key may be in: 1 to 8; with --keys or --memory 2 to 4 (dleft)",
                {1, max_num_subtables}),
      add_count(app, "--buckets-per-subtable", options.buckets_per_subtable,
                "Buckets of one subtable (dleft)"),
      add_count(app, "--cells-per-bucket", options.cells_per_bucket,
                "Keys that a bucket has room for: 1 to 64 (dleft)"),
      add_count(
          app, "--remainder-bits", options.remainder_bits,
          "Bits of a key kept in its cell; with --counter-bits (default: 2) 8, 12, 16, 24 or 32 (dleft)"),
      add_count(app, "--spill-capacity", options.spill_capacity,
                "Entries of the side table, for counts that no cell holds (dleft; default: 64)", {0}),
      add_choice(app, "--moves", options.moves,
                 "What is tried for room when all buckets are full (dleft; default: search)",
                 {"none", "first-subtable", "search"})};
  for (Option option : added) option.group("Exact dleft shape");
  return added;
}

}  // namespace tally::cli
