#include "shape/count_min_options.hpp"

#include <fmt/core.h>

#include <stdexcept>

#include "cli/options.hpp"
#include "shape/kinds.hpp"
#include "shape/sketch_plan.hpp"

namespace tally::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw std::invalid_argument(message); }

}  // namespace

std::optional<FilterShape> exact_count_min(const ShapeOptions& options) {
  const ExactCountMin& exact = options.count_min;
  const Requirements& wanted = options.wanted;
  if (!exact.is_given()) return std::nullopt;
  if (!exact.width || !exact.depth)
    refuse("--width and --depth define a sketch together; give both, or --epsilon instead");
  if (wanted.epsilon || wanted.total_count || wanted.memory_bytes || wanted.failure_probability) {
    refuse(
        "--width: it gives the exact shape, but --epsilon, --failure-probability, --total-count and --memory "
        "plan one; leave out --width or those");
  }
  return FilterShape{CountMinShape{.width = *exact.width,
                                   .depth = *exact.depth,
                                   .num_copies = exact.num_copies.value_or(1),
                                   .counter_bits = wanted.counter_bits.value_or(64),
                                   .update = wanted.update.value_or(CounterUpdate::plain)}};
}

Requirements completed_count_min(const ShapeOptions& options) {
  const Requirements& wanted = options.wanted;
  if (wanted.epsilon && wanted.memory_bytes && wanted.failure_probability) {
    refuse("--failure-probability: it follows from --epsilon and --memory; leave one of the three out");
  }
  return with_sketch_defaults(wanted);
}

std::vector<Option> add_count_min_options(CommandLine app, ShapeOptions& options,
                                          const std::string& how_often_more) {
  std::vector<Option> added = {
      add_rate(app, "--epsilon", options.wanted.epsilon,
               fmt::format("Largest error of a count, as a share of the sum of all counts; {} (default: {})",
                           how_often_more, default_sketch_epsilon)),
      add_count(app, "--total-count", options.wanted.total_count,
                "Largest sum of all counts: counters are wide enough that none saturates (default: 64 bits)"),
      add_count(app, "--width", options.count_min.width,
                "Number of counters per row; give it with --depth instead of --epsilon"),
      add_count(app, "--depth", options.count_min.depth, "Number of rows: 1 to 1024"),
      add_count(app, "--copies", options.count_min.num_copies,
                "Number of copies of the --depth rows, each with hash values of its own (only two-hash rows; "
                "default: 1)")};
  for (Option option : added) option.group("Count-Min sketch");
  return added;
}

}  // namespace tally::cli
