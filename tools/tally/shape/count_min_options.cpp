#include "shape/count_min_options.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "cli/options.hpp"
#include "tally/planner/plan_count_min.hpp"
#include "text/output.hpp"

namespace tally::cli {
namespace {

constexpr double default_epsilon = 0.0001;
constexpr double default_failure = 0.01;

[[noreturn]] void refuse(const std::string& message) { throw std::invalid_argument(message); }

}  // namespace

std::string CountMinOptions::given() const {
  if (epsilon) return "--epsilon";
  if (total_count) return "--total-count";
  if (width) return "--width";
  if (depth) return "--depth";
  return num_copies ? "--copies" : "";
}

FilterShape CountMinOptions::shape(std::uint16_t row_scheme_id, const SharedSketchOptions& shared) const {
  FilterShape shape;
  shape.scheme_id = row_scheme_id;
  if (is_exact()) {
    if (!width || !depth) refuse("--width and --depth make a sketch together; give both, or --epsilon");
    if (epsilon || total_count || shared.memory_bytes || shared.failure_probability) {
      refuse(
          "--width: --epsilon, --failure-probability, --total-count and --memory plan a sketch; leave either "
          "out");
    }
    shape.shape = CountMinShape{.width = *width,
                                .depth = *depth,
                                .num_copies = num_copies.value_or(1),
                                .counter_bits = shared.counter_bits.value_or(64),
                                .update = shared.update};
    check_shape(shape);
    return shape;
  }
  if (epsilon && shared.memory_bytes && shared.failure_probability) {
    refuse(
        "--failure-probability: --epsilon and --memory are given, so it follows; leave one of the three out");
  }
  CountMinRequest request{.epsilon = epsilon.value_or(0),
                          .failure_probability = shared.failure_probability.value_or(0),
                          .memory_bytes = shared.memory_bytes.value_or(0),
                          .total_count = total_count.value_or(0),
                          .counter_bits = shared.counter_bits.value_or(0),
                          .update = shared.update};
  if (!epsilon && !shared.memory_bytes) request.epsilon = default_epsilon;
  if (!shared.failure_probability && !(epsilon && shared.memory_bytes)) {
    request.failure_probability = default_failure;
  }
  const bool is_two_hash = row_scheme_id == TwoHashRows::file_id;
  shape.shape = is_two_hash ? plan_count_min_two_hash(request) : plan_count_min(request);
  check_shape(shape);
  return shape;
}

std::vector<Option> add_count_min_options(CommandLine app, CountMinOptions& options,
                                          const std::string& how_often_more) {
  std::vector<Option> added = {
      add_rate(app, "--epsilon", options.epsilon,
               fmt::format("How much too high a count may be, as a share of the sum of all counts; {} "
                           "(default: {})",
                           how_often_more, default_epsilon)),
      add_count(app, "--total-count", options.total_count,
                "Largest sum of all counts there will be: counters are so wide that none saturates (default: "
                "64 bits)"),
      add_count(app, "--width", options.width, "Counters of one row; with --depth in place of --epsilon"),
      add_count(app, "--depth", options.depth, "Rows: 1 to 1024"),
      add_count(
          app, "--copies", options.num_copies,
          "So many times --depth rows, each from hash values of its own (two-hash rows only; default: 1)")};
  for (Option option : added) option.group("Count-Min sketch");
  return added;
}

}  // namespace tally::cli
