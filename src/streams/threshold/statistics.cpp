#include <algorithm>
#include <limits>
#include <utility>

#include "streams/threshold/expected_false.hpp"
#include "streams/threshold/impl.hpp"

namespace tally {
namespace {

// Approximate memory of a key in ExactCounts: node, bucket, and the earlier, smaller bucket arrays.
constexpr std::uint64_t exact_bytes_per_key = 56;

}  // namespace

ThresholdStreamStatistics ThresholdStream::Impl::statistics() const {
  return {.num_keys = num_keys_,
          .num_distinct_keys = num_distinct_,
          .num_reported = totals_.num_reported,
          .num_possible_repeats = totals_.num_possible_repeats,
          .counts_exactly = generations_.empty(),
          .num_generations = generations_.size(),
          .memory_bytes = memory_bytes_with(0),
          .false_positive_rate = error_bound(),
          .planned_false_positive_rate = planned_error(),
          .num_expected_false_reports = expected_false_reports()};
}

std::uint64_t ThresholdStream::Impl::memory_bytes_with(std::uint64_t num_keys) const {
  std::uint64_t bytes = reported_.set().num_bytes() + filter_bytes() + bytes_of_new_filters(num_keys);
  if (exact_ && exact_->counts.size() + num_keys <= options_.exact_keys) {
    return bytes + exact_bytes() + exact_bytes_per_key * num_keys;
  }
  if (num_keys == 0) return bytes;
  const std::uint64_t num_counted = exact_ ? exact_->counts.size() : 0;  // they may be in the set then
  return bytes + reported_.set().most_growth_bytes(num_keys + num_counted);
}

std::uint64_t ThresholdStream::Impl::bytes_of_new_filters(std::uint64_t num_keys) const {
  if (options_.memory_bytes || (generations_.empty() && !exact_)) return 0;
  std::uint64_t bytes = 0;
  std::uint64_t planned = 0;
  std::uint64_t num_left = 0;  // new keys before the next filter
  std::uint64_t num_in_next = 0;
  if (exact_) {
    num_in_next = options_.exact_keys;
    num_left = options_.exact_keys - exact_->counts.size() + 1;
    planned = first_plan_factor * options_.exact_keys;
  } else {
    const detail::Generation& last = generations_.back();
    planned = 2 * last.planned_keys;
    num_left = last.most_new + 1 - std::min(last.num_keys, last.most_new);
  }
  for (std::size_t number = generations_.size(); num_keys >= num_left; ++number) {
    const ThresholdShape shape =
        detail::shape_for(options_, planned, detail::rate_of_generation(options_, number), true);
    bytes += num_bytes(shape);
    num_keys -= num_left;
    const std::uint64_t most_new = detail::most_seen_to_be_new(shape, planned);
    num_left = most_new + 1 - std::min(num_in_next, most_new);
    num_in_next = 0;
    planned *= 2;
  }
  return bytes;
}

std::uint64_t ThresholdStream::Impl::most_bytes_to_add(std::uint64_t num_keys) const {
  constexpr std::uint64_t bytes_per_key = 192;  // vectors of reports and of work space, which double
  const std::uint64_t last_runs = last_run_.empty() ? num_last_runs * sizeof(RunNumber) : 0;
  const std::uint64_t new_filters = bytes_of_new_filters(num_keys);
  std::uint64_t bytes = 4096 + last_runs + bytes_per_key * num_keys + new_filters;
  std::uint64_t num_inserted = num_keys;
  if (exact_) {
    const std::uint64_t most = std::min<std::uint64_t>(exact_->counts.size() + num_keys, options_.exact_keys);
    constexpr std::uint64_t bytes_per_count =
        3 * exact_bytes_per_key;  // pieces and bucket arrays that double
    bytes += bytes_per_count * most;
    if (new_filters > 0) bytes += 2 * sizeof(std::pair<Hash128, std::uint32_t>) * most;  // sorted
    num_inserted += most;
  }
  return bytes + reported_.set().most_bytes_to_insert(num_inserted);
}

std::uint64_t ThresholdStream::Impl::exact_bytes() const noexcept {
  return exact_ ? exact_bytes_per_key * exact_->counts.size() : 0;
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
