#include <algorithm>
#include <array>

#include "any_filter/dispatch.hpp"

namespace tally {
namespace {

// A saturated count may be any number from its maximum on, so it is reported: there must be no false negatives.
template <class Filter>
void at_least_by_count(const Filter& filter, std::span<const Hash128> keys, std::uint64_t theta,
                       std::span<bool> results) {
  std::array<Count, 256> counts;
  for (std::size_t first = 0; first < keys.size(); first += counts.size()) {
    const auto window = keys.subspan(first, std::min(counts.size(), keys.size() - first));
    filter.count_batch(window, std::span(counts).first(window.size()));
    std::transform(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(window.size()),
                   results.begin() + static_cast<std::ptrdiff_t>(first),
                   [&](const Count& count) { return count.saturated || count.value >= theta; });
  }
}

}  // namespace

bool AnyFilter::equals(const AnyFilter& other) const { return filter_ == other.filter_; }

bool AnyFilter::may_contain_digest(Hash128 own) const {
  return detail::visit_with(filter_, own, [](const auto& filter, Hash128 digest) {
    if constexpr (requires { filter.may_contain(digest); }) return filter.may_contain(digest);
    else if constexpr (requires { filter.at_least(digest); }) return filter.at_least(digest);
    else return filter.count(digest).value > 0;
  });
}

Count AnyFilter::count_digest(Hash128 own) const {
  return detail::visit_with(filter_, own, [this](const auto& filter, Hash128 digest) -> Count {
    if constexpr (requires { filter.count(digest); }) return filter.count(digest);
    else detail::throw_unsupported("count", kind(), &KindTraits::can_count);
  });
}

void AnyFilter::may_contain_batch(std::span<const Hash128> keys, std::span<bool> results) const {
  detail::require_one_per_key("AnyFilter", "results", keys.size(), results.size());
  visit([&](const auto& filter) {
    if constexpr (requires { filter.may_contain_batch(keys, results); }) {
      filter.may_contain_batch(keys, results);
    } else if constexpr (requires { filter.estimate_batch(keys, std::span<CountEstimate>()); }) {
      at_least_by_count(filter, keys, 1, results);
    } else {
      filter.at_least_batch(keys, results);
    }
  });
}

void AnyFilter::at_least_batch(std::span<const Hash128> keys, std::uint64_t theta,
                               std::span<bool> results) const {
  detail::require_one_per_key("AnyFilter", "results", keys.size(), results.size());
  visit([&](const auto& filter) {
    if constexpr (requires { filter.at_least_batch(keys, theta, results); }) {
      filter.at_least_batch(keys, theta, results);
    } else if constexpr (requires { filter.at_least_batch(keys, results); }) {
      const std::uint64_t threshold = filter.shape().threshold;
      if (theta != threshold) {
        detail::throw_parameter_error("ThresholdFilter", "theta", theta,
                                      std::to_string(threshold) + ", the threshold of this filter");
      }
      filter.at_least_batch(keys, results);
    } else if constexpr (requires { filter.count_batch(keys, std::span<Count>()); }) {
      const FilterShape own = shape();
      if (theta == 0 || theta > own.largest_theta()) {
        detail::throw_parameter_error(name_of(own.kind()), "theta", theta,
                                      "1 to " + std::to_string(own.largest_theta()));
      }
      at_least_by_count(filter, keys, theta, results);
    } else {
      detail::throw_unsupported("at_least", kind(), &KindTraits::can_count);
    }
  });
}

void AnyFilter::count_batch(std::span<const Hash128> keys, std::span<Count> results) const {
  detail::require_one_per_key("AnyFilter", "results", keys.size(), results.size());
  visit([&](const auto& filter) {
    if constexpr (requires { filter.count_batch(keys, results); }) {
      filter.count_batch(keys, results);
    } else {
      detail::throw_unsupported("count", kind(), &KindTraits::can_count);
    }
  });
}

void AnyFilter::estimate_batch(std::span<const Hash128> keys, std::span<CountEstimate> results) const {
  detail::require_one_per_key("AnyFilter", "results", keys.size(), results.size());
  visit([&](const auto& filter) {
    if constexpr (requires { filter.estimate_batch(keys, results); }) {
      filter.estimate_batch(keys, results);
    } else {
      detail::throw_unsupported("estimate", kind(), &KindTraits::takes_weights);
    }
  });
}

FilterStatistics AnyFilter::statistics() const {
  return visit([](const auto& filter) {
    if constexpr (detail::has_cells<decltype(filter)>)
      return filter_statistics(filter.shape(), filter.statistics());
    else return filter.statistics();
  });
}

std::optional<DLeftStatistics> AnyFilter::dleft_statistics() const {
  return visit([](const auto& filter) -> std::optional<DLeftStatistics> {
    if constexpr (std::is_same_v<ShapeOf<decltype(filter)>, DLeftShape>) return filter.statistics();
    else return std::nullopt;
  });
}

std::optional<CompactDLeftStatistics> AnyFilter::compact_statistics() const {
  const auto* const filter = get_if<CompactDLeftFilter>();
  return filter == nullptr ? std::nullopt : std::optional(filter->statistics());
}

std::optional<CountMinBound> AnyFilter::count_min_bound() const {
  return visit([](const auto& filter) -> std::optional<CountMinBound> {
    if constexpr (requires { filter.bound(); }) return filter.bound();
    else return std::nullopt;
  });
}

}  // namespace tally
