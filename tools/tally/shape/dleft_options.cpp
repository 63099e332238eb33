#include "shape/dleft_options.hpp"

#include <fmt/core.h>

#include <stdexcept>

#include "cli/options.hpp"
#include "files/shape_json.hpp"
#include "shape/flags.hpp"
#include "shape/kinds.hpp"
#include "tally/planner/plan_dleft.hpp"

namespace tally::cli {

std::vector<Option> add_dleft_plan_options(CommandLine app, Requirements& wanted) {
  std::vector<Option> added;
  Option frequent = add_count(app, "--frequent-keys", wanted.num_frequent_keys,
                              "Number of keys that will be in the filter more than 4 times at once (dleft; "
                              "default: 0; build without --memory makes room for more)",
                              {0, std::uint64_t{1} << 31});
  added.push_back(frequent);
  added.push_back(
      app.add_flag(
             "--unique-keys", [&wanted] { wanted.keys_repeat = false; },
             "No key is ever in the filter twice at once: narrower counters are enough (dleft; planned "
             "compact-dleft filters need it)")
          .excludes(frequent));
  added.push_back(add_count(
      app, "--lifetime-operations", wanted.lifetime_operations,
      fmt::format(
          "Number of replacements (a removal and an insertion) after the filter is filled (dleft, and "
          "in plans the counters of all filters that remove; default: {} per key if keys are removed, "
          "else 0)",
          default_replacements_per_key),
      {0}));
  added.push_back(add_rate(
      app, "--failure-probability", wanted.failure_probability,
      fmt::format("Largest probability that the filter fills up in its lifetime (dleft; default: {}), or "
                  "that the error of a count is larger than --epsilon (count-min; default: 1%)",
                  default_failure_probability)));
  added.push_back(add_real(
      app, "--max-moves", wanted.max_moves_per_insertion,
      fmt::format(
          "Largest share of the insertions into a full filter that move another key; a fuller filter takes "
          "less memory, and each move as long as tens of lines; 0: plan without moves (dleft; default: {})",
          default_moves_per_insertion),
      {0, 0.5}));
  added.push_back(add_count(app, "--max-doublings", wanted.max_doublings,
                            "Number of times that the filter may double when it is full; each doubling also "
                            "doubles the false positive rate (dleft; default: 0)",
                            {0, 26}));
  added.push_back(app.add_flag(
      "--slow-cells", [&wanted] { wanted.prefers_speed = false; },
      "Allow cells of any width, not only those of 16 bits, which alone have vector loops: less memory or "
      "fewer false positives, but insertions take 5 to 20 times as long (dleft)"));
  for (Option option : added) option.group("Planned dleft filter");
  return added;
}

std::optional<FilterShape> exact_dleft(const ShapeOptions& options) {
  const Requirements& wanted = options.wanted;
  const ExactDLeft& exact = options.dleft;
  if (options.num_positions || options.num_hashes) {
    throw std::invalid_argument(
        fmt::format("--num-positions, --num-hashes: a dleft filter has subtables with cells instead; give {}",
                    options.ways.than_positions));
  }
  const std::string flag = dleft_shape_flag(options);
  if (flag.empty()) {
    if (!wanted.counter_bits) return std::nullopt;
    throw std::invalid_argument(
        "--counter-bits: for a dleft filter it is part of the exact shape; also give --remainder-bits and "
        "the other options of the shape, or leave it out");
  }
  if (wanted.num_keys || wanted.false_positive_rate || wanted.memory_bytes) {
    throw std::invalid_argument(fmt::format(
        "{}: it gives the exact shape, but --keys, --false-positive-rate and --memory plan one; leave out "
        "{} or those",
        flag, flag));
  }
  if (const std::string plan_flag = dleft_plan_flag(options); !plan_flag.empty()) {
    throw std::invalid_argument(fmt::format(
        "{}: it is for planning, but {} gives the exact shape; leave one of them out", plan_flag, flag));
  }
  if (!wanted.num_subtables || !exact.buckets_per_subtable || !exact.cells_per_bucket ||
      !exact.remainder_bits) {
    throw std::invalid_argument(
        flag +
        ": --num-subtables, --buckets-per-subtable, --cells-per-bucket and --remainder-bits define a shape "
        "together; give all four, or --keys or --memory instead");
  }
  const std::uint32_t max_doublings = wanted.max_doublings.value_or(0);
  if (max_doublings >= *exact.remainder_bits) {
    throw std::invalid_argument(
        fmt::format("--max-doublings: '{}' is too large; must be less than --remainder-bits, which is {}",
                    max_doublings, *exact.remainder_bits));
  }
  DLeftShape shape{.buckets_per_subtable = *exact.buckets_per_subtable,
                   .num_subtables = *wanted.num_subtables,
                   .cells_per_bucket = *exact.cells_per_bucket,
                   .remainder_bits = *exact.remainder_bits,
                   .counter_bits = wanted.counter_bits.value_or(2),
                   .least_remainder_bits = *exact.remainder_bits - max_doublings,
                   .spill_capacity = exact.spill_capacity.value_or(64),
                   .grows = max_doublings > 0};
  if (!exact.moves.empty()) shape.moves = moves_of(exact.moves);
  return FilterShape{shape};
}

std::vector<Option> add_dleft_shape_options(CommandLine app, ShapeOptions& options) {
  std::vector<Option> added = {
      add_count(app, "--num-subtables", options.wanted.num_subtables,
                "Number of subtables, and of buckets per key: 1 to 8; with --keys or --memory 2 to 4 (dleft)",
                {1, max_num_subtables}),
      add_count(app, "--buckets-per-subtable", options.dleft.buckets_per_subtable,
                "Number of buckets per subtable (dleft)"),
      add_count(app, "--cells-per-bucket", options.dleft.cells_per_bucket,
                "Number of cells per bucket: 1 to 64 (dleft)"),
      add_count(app, "--lines-per-subtable", options.dleft.lines_per_subtable,
                "Number of 64-byte lines in each of the two subtables (compact-dleft)"),
      add_count(app, "--remainder-bits", options.dleft.remainder_bits,
                "Bits of a key's remainder in its cell; together with --counter-bits (default: 2) 8, 12, 16, "
                "24 or 32 (dleft); 8 to 14 (compact-dleft)"),
      add_count(app, "--spill-capacity", options.dleft.spill_capacity,
                "Number of entries in the side table, for counts that exceed a cell (dleft) or three cells "
                "(compact-dleft; default: 64)",
                {0}),
      add_choice(
          app, "--moves", options.dleft.moves,
          "How an insertion makes room when all its buckets are full (dleft; compact-dleft: none or search; "
          "default: search)",
          {"none", "first-subtable", "search"})};
  for (Option option : added) option.group("Exact dleft shape");
  return added;
}

}  // namespace tally::cli
