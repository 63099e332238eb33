#include <algorithm>
#include <limits>

#include "streams/threshold/expected_false.hpp"
#include "streams/threshold/impl.hpp"

namespace tally {
namespace {

// Approximate memory of a key in ExactCounts: node, bucket, and the earlier, smaller bucket arrays.
constexpr std::uint64_t exact_bytes_per_key = 56;

}  // namespace

ThresholdStreamStatistics ThresholdStream::Impl::statistics() const {
  const std::uint64_t exact_bytes = exact_ ? exact_bytes_per_key * exact_->counts.size() : 0;
  return {.num_keys = num_keys_,
          .num_distinct_keys = num_distinct_,
          .num_reported = totals_.num_reported,
          .num_possible_repeats = totals_.num_possible_repeats,
          .counts_exactly = generations_.empty(),
          .num_generations = generations_.size(),
          .memory_bytes = reported_.set().num_bytes() + exact_bytes + filter_bytes(),
          .false_positive_rate = error_bound(),
          .planned_false_positive_rate = planned_error(),
          .num_expected_false_reports = expected_false_reports()};
}

std::uint64_t ThresholdStream::Impl::filter_bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const detail::Generation& generation : generations_) sum += num_bytes(generation.filter.shape());
  return sum;
}

// A key that shares every counter with other keys is a false positive of a generation; the sum is a bound for all.
double ThresholdStream::Impl::error_bound() const {
  double sum = 0;
  for (const detail::Generation& generation : generations_) sum += generation.error();
  return std::min(1.0, sum);
}

double ThresholdStream::Impl::planned_error() const {
  const double wanted = detail::wanted_rate(options_);
  const bool follows_from_memory =
      options_.num_keys && options_.memory_bytes && !options_.false_positive_rate;
  return follows_from_memory && !generations_.empty()
             ? std::max(wanted, generations_.front().false_positive_rate)
             : wanted;
}

std::optional<double> ThresholdStream::Impl::expected_false_reports() const {
  if (!knows_visits_) return std::nullopt;
  std::vector<detail::GenerationVisits> visits;
  for (const detail::Generation& generation : generations_)
    visits.push_back({generation.filter.shape(), &generation.counts, &generation.own});
  return detail::expected_false_reports(options_.threshold, visits);
}

std::uint64_t ThresholdStream::Impl::planned_keys() const noexcept {
  return generations_.empty() ? options_.num_keys.value_or(0) : generations_.front().planned_keys;
}

std::uint64_t ThresholdStream::Impl::reported_keys_capacity() const noexcept {
  if (!options_.memory_bytes) return std::numeric_limits<std::uint64_t>::max();
  return HashSet::capacity(detail::set_bytes_beside(filter_bytes(), *options_.memory_bytes));
}

double ThresholdStream::Impl::memory_bytes_to_report_all() const noexcept {
  if (!options_.memory_bytes) return 0;
  constexpr double to_spare = 1.01;
  return static_cast<double>(filter_bytes()) +
         to_spare * static_cast<double>(planned_keys()) * HashSet::least_bytes_a_digest;
}

}  // namespace tally
