#include <algorithm>
#include <array>

#include "any_filter/dispatch.hpp"

namespace tally {
namespace {

/// Inserts the keys in windows, and passes the results of each window, one per key, to `use`.
template <class Result, class Filter, class Use>
void in_windows(Filter& filter, std::span<const Hash128> keys, Use use) {
  std::array<Result, 2048> results;
  for (std::size_t first = 0; first < keys.size(); first += results.size()) {
    const auto window = keys.subspan(first, std::min(results.size(), keys.size() - first));
    const auto own = std::span(results).first(window.size());
    filter.insert_batch(window, own);
    use(std::span<const Result>(own));
  }
}

}  // namespace

InsertResult AnyFilter::insert_digest(Hash128 digest) {
  return std::visit(
      [&](auto& filter) {
        if constexpr (requires { filter.add(digest); }) {
          return filter.add(digest);
        } else if constexpr (std::is_same_v<decltype(filter.insert(digest)), InsertResult>) {
          return filter.insert(digest);
        } else {
          (void)filter.insert(digest);
          return InsertResult::counted;
        }
      },
      filter_);
}

RemoveResult AnyFilter::remove_digest(Hash128 digest) {
  return std::visit(
      [&](auto& filter) -> RemoveResult {
        if constexpr (requires { filter.remove(digest); }) return filter.remove(digest);
        else detail::throw_unsupported("remove", kind(), &KindTraits::can_remove);
      },
      filter_);
}

std::uint64_t AnyFilter::insert_batch(std::span<const Hash128> keys) {
  std::uint64_t num_full = 0;
  std::visit(
      [&](auto& filter) {
        if constexpr (detail::has_cells<decltype(filter)>) {
          in_windows<InsertResult>(filter, keys, [&](std::span<const InsertResult> results) {
            num_full += static_cast<std::uint64_t>(std::ranges::count(results, InsertResult::full));
          });
        } else if constexpr (requires { filter.add_batch(keys); }) {
          filter.add_batch(keys);
        } else if constexpr (requires { filter.insert_batch(keys); }) {
          filter.insert_batch(keys);
        } else {
          in_windows<ThresholdState>(filter, keys, [](std::span<const ThresholdState>) {});
        }
      },
      filter_);
  return num_full;
}

std::uint64_t AnyFilter::add_batch(std::span<const Hash128> keys, std::span<const std::uint64_t> weights) {
  detail::require_equally_long(keys.size(), weights.size());
  return std::visit(
      [&](auto& filter) -> std::uint64_t {
        if constexpr (requires { filter.add_batch(keys, weights); }) {
          return filter.add_batch(keys, weights);
        } else {
          detail::throw_unsupported("add with weights", kind(), &KindTraits::takes_weights);
        }
      },
      filter_);
}

void AnyFilter::insert_batch(std::span<const Hash128> keys, std::span<ThresholdState> states) {
  detail::require_equally_long(keys.size(), states.size());
  std::visit(
      [&](auto& filter) {
        if constexpr (requires { filter.insert_batch(keys, states); }) {
          filter.insert_batch(keys, states);
        } else {
          detail::throw_unsupported("insert with a state", kind(), &KindTraits::tells_states);
        }
      },
      filter_);
}

void AnyFilter::remove_batch(std::span<const Hash128> keys, std::span<RemoveResult> results) {
  detail::require_equally_long(keys.size(), results.size());
  std::visit(
      [&](auto& filter) {
        if constexpr (requires { filter.remove_batch(keys, results); }) {
          filter.remove_batch(keys, results);
        } else {
          detail::throw_unsupported("remove", kind(), &KindTraits::can_remove);
        }
      },
      filter_);
}

bool AnyFilter::try_grow() {
  return std::visit(
      [&](auto& filter) -> bool {
        if constexpr (requires { filter.try_grow(); }) {
          return filter.try_grow();
        } else {
          detail::throw_unsupported("growth", kind(), &KindTraits::can_grow);
        }
      },
      filter_);
}

void AnyFilter::halve() {
  std::visit(
      [&](auto& filter) {
        if constexpr (requires { filter.halve(); }) {
          filter.halve();
        } else {
          detail::throw_unsupported("halve", kind(), &KindTraits::takes_weights);
        }
      },
      filter_);
}

void AnyFilter::clear() noexcept {
  std::visit([](auto& filter) { filter.clear(); }, filter_);
}

void AnyFilter::intersect(const AnyFilter& other) {
  detail::require_same("AnyFilter", "kind", name_of(kind()), name_of(other.kind()));
  detail::require_same("AnyFilter", "scheme", shape().scheme_name(), other.shape().scheme_name());
  std::visit(
      [&]<class F>(F& filter) {
        if constexpr (requires { filter.intersect(filter); }) {
          filter.intersect(*other.get_if<F>());
        } else {
          throw std::invalid_argument("intersect: a " + std::string(name_of(kind())) +
                                      " filter does not support this; use a bloom or blocked-bloom filter");
        }
      },
      filter_);
}

bool AnyFilter::merge(const AnyFilter& other) {
  detail::require_same("AnyFilter", "kind", name_of(kind()), name_of(other.kind()));
  detail::require_same("AnyFilter", "scheme", shape().scheme_name(), other.shape().scheme_name());
  return std::visit(
      [&](auto& filter) {
        // Kind and scheme agree, so the alternative does.
        const auto& same = std::get<std::remove_reference_t<decltype(filter)>>(other.filter_);
        if constexpr (detail::has_cells<decltype(filter)>) {
          return filter.merge(same);
        } else {
          filter.merge(same);
          return true;
        }
      },
      filter_);
}

}  // namespace tally
