#include "shape/memory_warning.hpp"

#include <fmt/core.h>

#include <cmath>

#include "shape/shape.hpp"
#include "tally/planner/scheme_law.hpp"
#include "text/output.hpp"

namespace tally::cli {

namespace {

double rate_with(const FilterShape& shape, std::uint64_t num_keys) {
  return std::exp(false_positive_law(shape.scheme_id, shape.num_positions(), shape.num_hashes(), num_keys, 0)
                      .ln_false_positive_rate);
}

}  // namespace

void warn_of_little_memory(const ShapeOptions& options, const FilterShape& planned) {
  const Requirements& wanted = options.wanted;
  if (!wanted.num_keys || !wanted.memory_bytes) return;
  if (traits_of(planned.kind()).can_fill_up || planned.kind() == FilterKind::count_min) return;
  warn_of_little_memory(*wanted.memory_bytes, *wanted.num_keys, rate_with(planned, *wanted.num_keys), [&] {
    ShapeOptions roomy = options;
    roomy.wanted.memory_bytes.reset();
    roomy.wanted.false_positive_rate = usual_rate;
    return shape_of(roomy).shape.num_bytes();
  });
}

void warn_of_little_memory(std::uint64_t memory_bytes, std::uint64_t num_keys, double rate,
                           const std::function<std::uint64_t()>& bytes_for_usual_rate) {
  if (!(rate > rate_worth_a_warning)) return;
  remark(
      false,
      fmt::format(
          "warning: {} is too little for {} keys: the false positive rate will be {}; a rate of {} takes {}",
          human_bytes(static_cast<double>(memory_bytes)), human_count(static_cast<double>(num_keys)),
          human_rate(rate), human_rate(usual_rate),
          human_bytes(static_cast<double>(bytes_for_usual_rate()))));
}

}  // namespace tally::cli
