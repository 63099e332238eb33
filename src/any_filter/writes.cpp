#include <type_traits>

#include "any_filter/dispatch.hpp"

namespace tally {
namespace {

void require_same_type(const AnyFilter& mine, const AnyFilter& theirs) {
  detail::require_same("AnyFilter", "kind", name_of(mine.kind()), name_of(theirs.kind()));
  detail::require_same("AnyFilter", "scheme", mine.shape().scheme_name(), theirs.shape().scheme_name());
}

}  // namespace

InsertResult AnyFilter::insert_digest(Hash128 own) {
  return detail::visit_with(filter_, own, [](auto& filter, Hash128 digest) {
    if constexpr (requires { filter.add(digest); }) {
      return filter.add(digest);
    } else if constexpr (std::is_same_v<decltype(filter.insert(digest)), InsertResult>) {
      return filter.insert(digest);
    } else {
      (void)filter.insert(digest);
      return InsertResult::counted;
    }
  });
}

RemoveResult AnyFilter::remove_digest(Hash128 own) {
  return detail::visit_with(filter_, own, [this](auto& filter, Hash128 digest) -> RemoveResult {
    if constexpr (requires { filter.remove(digest); }) return filter.remove(digest);
    else detail::throw_unsupported("remove", kind(), &KindTraits::can_remove);
  });
}

std::uint64_t AnyFilter::insert_batch(std::span<const Hash128> keys) {
  return std::visit(
      [&](auto& filter) -> std::uint64_t {
        if constexpr (detail::has_cells<decltype(filter)>) return filter.insert_range(keys);
        else if constexpr (requires { filter.add_range(keys); }) (void)filter.add_range(keys);
        else filter.insert_range(keys);
        return 0;
      },
      filter_);
}

std::uint64_t AnyFilter::add_batch(std::span<const Hash128> keys, std::span<const std::uint64_t> weights) {
  detail::require_one_per_key("AnyFilter", "weights", keys.size(), weights.size());
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
  detail::require_one_per_key("AnyFilter", "results", keys.size(), states.size());
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
  detail::require_one_per_key("AnyFilter", "results", keys.size(), results.size());
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
  require_same_type(*this, other);
  std::visit(
      [&]<class F>(F& filter) {
        if constexpr (requires { filter.intersect(filter); }) {
          filter.intersect(*other.get_if<F>());
        } else {
          detail::throw_unsupported("intersect", kind(), &KindTraits::can_intersect);
        }
      },
      filter_);
}

bool AnyFilter::merge(const AnyFilter& other) {
  require_same_type(*this, other);
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
