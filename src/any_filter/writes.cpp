#include <algorithm>
#include <array>
#include <type_traits>

#include "any_filter/dispatch.hpp"

namespace tally {
namespace {

void require_same_type(const AnyFilter& mine, const AnyFilter& theirs) {
  detail::require_same("AnyFilter", "kind", name_of(mine.kind()), name_of(theirs.kind()));
  detail::require_same("AnyFilter", "scheme", mine.shape().scheme_name(), theirs.shape().scheme_name());
}

template <class Filter>
InsertResult insert_one(Filter& filter, Hash128 digest) {
  if constexpr (requires { filter.add(digest); }) {
    return filter.add(digest);
  } else if constexpr (std::is_same_v<decltype(filter.insert(digest)), InsertResult>) {
    return filter.insert(digest);
  } else {
    (void)filter.insert(digest);
    return InsertResult::counted;
  }
}

/// Whether no bit or counter of the key is 0. May_contain of a threshold filter asks for its threshold.
template <class Filter>
bool has_been_seen(const Filter& filter, Hash128 digest) {
  if constexpr (requires { filter.may_contain(digest); }) return filter.may_contain(digest);
  else return filter.count(digest).value > 0;
}

/// The same of a window of keys, whose lines are loaded together.
template <class Filter>
void have_been_seen(const Filter& filter, std::span<const Hash128> window, std::span<bool> seen) {
  if constexpr (requires { filter.may_contain_batch(window, seen); }) {
    filter.may_contain_batch(window, seen);
  } else {
    std::array<Count, keys_per_window> memory;
    const std::span counts = std::span(memory).first(window.size());
    filter.count_batch(window, counts);
    std::ranges::transform(counts, seen.begin(), [](const Count& count) { return count.value > 0; });
  }
}

/// Insertions take nothing away, so a key that was there before its window is there when its turn comes. Of the others,
/// keys before them in the window may have set the last bit.
template <class Filter>
void insert_window(Filter& filter, std::span<const Hash128> window, std::span<InsertOutcome> outcomes) {
  std::array<bool, keys_per_window> memory;
  const std::span seen = std::span(memory).first(window.size());
  have_been_seen(filter, window, seen);
  for (std::size_t i = 0; i < window.size(); ++i) {
    const bool is_seen = seen[i] || has_been_seen(filter, window[i]);
    const bool is_full = insert_one(filter, window[i]) == InsertResult::full;
    outcomes[i] = is_full ? InsertOutcome::full : is_seen ? InsertOutcome::seen : InsertOutcome::new_key;
  }
}

}  // namespace

InsertResult AnyFilter::insert_digest(Hash128 own) {
  return detail::visit_with(filter_, own,
                            [](auto& filter, Hash128 digest) { return insert_one(filter, digest); });
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

void AnyFilter::insert_batch(std::span<const Hash128> keys, FilterPart part) {
  std::visit(
      [&](auto& filter) {
        if constexpr (requires { filter.insert_batch(keys, part); }) filter.insert_batch(keys, part);
        else detail::throw_unsupported("insert in parts", kind(), &KindTraits::has_parts);
      },
      filter_);
}

void AnyFilter::insert_batch(std::span<const Hash128> keys, std::span<InsertOutcome> outcomes) {
  detail::require_one_per_key("AnyFilter", "outcomes", keys.size(), outcomes.size());
  std::visit(
      [&](auto& filter) {
        for (std::size_t first = 0; first < keys.size(); first += keys_per_window) {
          const std::size_t size = std::min(keys_per_window, keys.size() - first);
          insert_window(filter, keys.subspan(first, size), outcomes.subspan(first, size));
        }
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
