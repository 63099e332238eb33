#include "shape/memory_warning.hpp"

#include <fmt/format.h>

#include <cmath>

#include "tally/planner/scheme_law.hpp"
#include "text/output.hpp"

namespace tally::cli {

double rate_with(const FilterShape& shape, std::uint64_t num_keys) {
  if (shape.kind() == FilterKind::dleft || shape.kind() == FilterKind::count_min) return 0;
  return std::exp(false_positive_law(shape.scheme_id, shape.num_positions(), shape.num_hashes(), num_keys, 0)
                      .ln_false_positive_rate);
}

void warn_of_little_memory(std::uint64_t memory_bytes, std::uint64_t num_keys, double rate,
                           const std::function<std::uint64_t()>& bytes_for_usual_rate) {
  if (!(rate > rate_worth_a_warning)) return;
  remark(false,
         fmt::format("warning: {} is too little for {} keys: the false positive rate will be {}; {} takes {}",
                     human_bytes(static_cast<double>(memory_bytes)),
                     human_count(static_cast<double>(num_keys)), human_rate(rate), human_rate(usual_rate),
                     human_bytes(static_cast<double>(bytes_for_usual_rate()))));
}

}  // namespace tally::cli
