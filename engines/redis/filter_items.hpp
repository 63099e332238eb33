#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "call.hpp"
#include "filter_value.hpp"
#include "item_list.hpp"
#include "tally/any_filter.hpp"

// What commands do with the items of a filter, in whatever form the items came.

namespace tally::redis {

inline constexpr const char* missing_filter = "ERR the key does not exist; create it with TALLY.CREATE";

/// "it takes N bytes; must be at most ...".
std::string too_large(std::uint64_t bytes, const Call& call);
/// What growing a filter by one doubling costs as a step, in bytes.
std::uint64_t growth_bytes(const AnyFilter& filter);

/// Throws Refusal that lists the kinds with this trait unless `can`. `operation`: what the kind cannot do.
void require_kind(bool can, const AnyFilter& filter, const char* operation, bool KindTraits::*trait);
void require_removals(const AnyFilter& filter);
void require_counts(const AnyFilter& filter);

/// Room for one bool per item.
class Answers {
 public:
  explicit Answers(std::size_t size) : answers_(std::make_unique<bool[]>(size)), size_(size) {}
  std::size_t size() const noexcept { return size_; }
  std::span<bool> span() noexcept { return {answers_.get(), size_}; }
  std::span<const bool> span() const noexcept { return {answers_.get(), size_}; }

 private:
  std::unique_ptr<bool[]> answers_;
  std::size_t size_;
};

/// Adds items to a filter, which grows for them if it can, and says what became of each. Replicas receive each step as a
/// command of its own, and grow at no other time.
class AddedItems {
 public:
  /// Throws std::bad_alloc, and then changes nothing.
  AddedItems(const Call& call, FilterValue& value, const ItemList& items);

  bool is_new(std::size_t i) const noexcept { return outcomes_[i] == InsertOutcome::new_key; }
  bool is_full(std::size_t i) const noexcept { return outcomes_[i] == InsertOutcome::full; }
  /// Whether it is added, and a counter of it is at its maximum.
  bool is_saturated(std::size_t i) const noexcept {
    return !is_full(i) && !counts_.empty() && counts_[i].saturated;
  }
  /// The reply of TALLY.ADD.
  const char* word(std::size_t i) const noexcept;

 private:
  std::vector<InsertOutcome> outcomes_;
  std::vector<Count> counts_;  // of filters whose counters saturate
  Answers reached_;            // of threshold filters
  bool has_threshold_;
};

/// For a filter that passes require_removals. Throws std::bad_alloc, and then changes nothing.
std::vector<RemoveResult> remove_all(FilterValue& value, const ItemList& items);
/// For a filter that passes require_counts.
std::vector<Count> counts_of(const AnyFilter& filter, const ItemList& items);
/// Whether each item may be in the filter.
Answers answers_of(const AnyFilter& filter, const ItemList& items);

}  // namespace tally::redis
