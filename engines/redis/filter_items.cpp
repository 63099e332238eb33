#include "filter_items.hpp"

#include <algorithm>
#include <iterator>
#include <new>
#include <optional>
#include <utility>

#include "refusal.hpp"
#include "replicated_command.hpp"
#include "step_costs.hpp"

namespace tally::redis {
namespace {

/// Doubles a filter that has refused an item for which it has no cell. Returns false, and changes nothing, where it cannot
/// grow, would be larger than a key may be or than the server has memory for, or would keep all clients waiting.
bool grow(const Call& call, AnyFilter& filter) {
  const std::optional<std::uint64_t> bytes = filter.bytes_after_growth();
  return bytes && *bytes <= call.max_key_bytes() && call.allows_step(growth_bytes(filter)) &&
         call.has_memory_for(*bytes) && filter.try_grow();
}

/// Grows, and inserts the items with these numbers again, as long as that makes room.
void grow_and_insert(const Call& call, AnyFilter& filter, const ItemList& items,
                     std::span<InsertOutcome> outcomes, std::vector<std::size_t> refused) {
  const std::span<const Hash128> digests = items.digests();
  while (!refused.empty()) {
    // An item that is in the filter lacks an entry of the side table, which does not grow.
    std::vector<std::size_t> lacking;
    std::ranges::copy_if(refused, std::back_inserter(lacking),
                         [&](std::size_t i) { return !filter.may_contain(digests[i]); });
    ReplicatedCommand growth(call);
    ItemList::Part again(items, add_items, lacking);
    std::vector<Hash128> again_digests;
    for (const std::size_t i : lacking) again_digests.push_back(digests[i]);
    std::vector<InsertOutcome> again_outcomes(lacking.size());
    if (lacking.empty() || !grow(call, filter)) return;
    growth.send("TALLY.GROW");
    filter.insert_batch(again_digests, again_outcomes);
    again.send();
    refused.clear();
    for (std::size_t j = 0; j < lacking.size(); ++j) {
      outcomes[lacking[j]] = again_outcomes[j];
      if (again_outcomes[j] == InsertOutcome::full) refused.push_back(lacking[j]);
    }
  }
}

/// Inserts the items. If some do not fit, the filter grows and gets them again. Replicas receive each step as a command of
/// its own, and grow at no other time.
void insert_all(const Call& call, AnyFilter& filter, const ItemList& items,
                std::span<InsertOutcome> outcomes) {
  std::vector<std::size_t> refused;
  if (filter.can_fill_up()) refused.reserve(items.size());
  filter.insert_batch(items.digests(), outcomes);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i] == InsertOutcome::full) refused.push_back(i);
  }
  items.replicate(add_items);
  if (call.is_replayed()) return;
  try {
    grow_and_insert(call, filter, items, outcomes, std::move(refused));
  } catch (const std::bad_alloc&) {  // there is no memory to grow
  }
}

}  // namespace

std::string too_large(std::uint64_t bytes, const Call& call) {
  return "it takes " + std::to_string(bytes) + " bytes; must be at most " +
         std::to_string(call.max_key_bytes()) + ", the module's option MAX-KEY-BYTES";
}

std::uint64_t growth_bytes(const AnyFilter& filter) {
  return step_cost::growth * (filter.shape().num_bytes() + filter.bytes_after_growth().value_or(0));
}

void require_kind(bool can, const AnyFilter& filter, const char* operation, bool KindTraits::*trait) {
  if (can) return;
  std::string kinds;
  for (const KindTraits& traits : all_kinds()) {
    if (traits.*trait) kinds.append(kinds.empty() ? "" : ", ").append(traits.name);
  }
  throw Refusal("ERR a " + std::string(name_of(filter.kind())) + " structure cannot " + operation +
                "; create the key with --kind and one of " + kinds);
}

void require_removals(const AnyFilter& filter) {
  require_kind(filter.can_remove(), filter, "remove items", &KindTraits::can_remove);
}

void require_counts(const AnyFilter& filter) {
  require_kind(filter.can_count(), filter, "count items", &KindTraits::can_count);
}

AddedItems::AddedItems(const Call& call, FilterValue& value, const ItemList& items)
    : outcomes_(items.size()),
      reached_(value.filter().has_threshold() ? items.size() : 0),
      has_threshold_(value.filter().has_threshold()) {
  const AnyFilter& present = value.filter();
  const bool has_limit = !has_threshold_ && present.can_count() && !present.can_fill_up();
  if (has_limit) counts_.resize(items.size());
  AnyFilter& filter = value.filter_to_change(items.digests());
  insert_all(call, filter, items, outcomes_);
  if (has_limit) filter.count_batch(items.digests(), counts_);
  if (has_threshold_) filter.may_contain_batch(items.digests(), reached_.span());
}

const char* AddedItems::word(std::size_t i) const noexcept {
  if (is_full(i)) return "full";
  if (is_saturated(i)) return "saturated";
  if (has_threshold_ && reached_.span()[i]) return "reached";
  return is_new(i) ? "new" : "seen";
}

std::vector<RemoveResult> remove_all(FilterValue& value, const ItemList& items) {
  std::vector<RemoveResult> results(items.size());
  value.filter_to_change(items.digests()).remove_batch(items.digests(), results);
  items.replicate(remove_items);
  return results;
}

std::vector<Count> counts_of(const AnyFilter& filter, const ItemList& items) {
  std::vector<Count> counts(items.size());
  filter.count_batch(items.digests(), counts);
  return counts;
}

Answers answers_of(const AnyFilter& filter, const ItemList& items) {
  Answers answers(items.size());
  filter.may_contain_batch(items.digests(), answers.span());
  return answers;
}

}  // namespace tally::redis
