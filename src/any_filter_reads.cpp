#include "any_filter_dispatch.hpp"

namespace tally {

void AnyFilter::may_contain_batch(std::span<const Hash128> keys, std::span<bool> results) const {
  detail::require_equally_long(keys.size(), results.size());
  visit([&](const auto& filter) {
    if constexpr (requires { filter.may_contain_batch(keys, results); }) {
      filter.may_contain_batch(keys, results);
    } else {
      filter.at_least_batch(keys, results);
    }
  });
}

void AnyFilter::at_least_batch(std::span<const Hash128> keys, std::uint64_t theta,
                               std::span<bool> results) const {
  detail::require_equally_long(keys.size(), results.size());
  visit([&](const auto& filter) {
    if constexpr (requires { filter.at_least_batch(keys, theta, results); }) {
      filter.at_least_batch(keys, theta, results);
    } else if constexpr (requires { filter.at_least_batch(keys, results); }) {
      const std::uint64_t threshold = filter.shape().threshold;
      if (theta != threshold) {
        detail::throw_parameter_error("ThresholdFilter", "theta", std::to_string(theta),
                                      std::to_string(threshold) + ", the threshold it was made for");
      }
      filter.at_least_batch(keys, results);
    } else {
      detail::throw_unsupported("at_least", kind(), "counting-bloom or threshold");
    }
  });
}

void AnyFilter::count_batch(std::span<const Hash128> keys, std::span<Count> results) const {
  detail::require_equally_long(keys.size(), results.size());
  visit([&](const auto& filter) {
    if constexpr (requires { filter.count_batch(keys, results); }) {
      filter.count_batch(keys, results);
    } else {
      detail::throw_unsupported("count", kind(), "counting-bloom or threshold");
    }
  });
}

FilterStatistics AnyFilter::statistics() const {
  return visit([](const auto& filter) { return filter.statistics(); });
}

}  // namespace tally
