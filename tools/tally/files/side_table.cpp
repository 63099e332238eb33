#include "files/side_table.hpp"

#include <algorithm>
#include <variant>

namespace tally::cli {
namespace {

// A table with fewer free entries is doubled, so that at least this many keys are inserted at a time; one that was planned
// smaller, only when half of it is in use.
constexpr std::uint64_t least_free = 16;

bool has_little_room(const SideTableUse& use) {
  const std::uint64_t num_free = use.capacity - use.num_used;
  return num_free < least_free && 2 * use.num_used >= use.capacity;
}

/// Returns false if a larger filter has no room for the keys.
bool double_side_table(AnyFilter& filter) {
  FilterShape shape = filter.shape();
  std::visit(
      [](auto& own) {
        if constexpr (requires { own.spill_capacity; })
          own.spill_capacity = std::min(max_spill_capacity, 2 * std::max(own.spill_capacity, least_free));
      },
      shape.shape);
  AnyFilter larger(shape, filter.hasher());
  if (!larger.merge(filter)) return false;
  filter = std::move(larger);
  return true;
}

}  // namespace

SideTableUse side_table_use(const AnyFilter& filter) {
  return filter.visit([](const auto& own) -> SideTableUse {
    if constexpr (requires { own.table().spills(); }) {
      const SpillTable& spills = own.table().spills();
      return {spills.size(), spills.capacity()};
    } else {
      return {};
    }
  });
}

std::uint64_t insert_with_growing_side_table(AnyFilter& filter, std::span<const Hash128> digests) {
  std::uint64_t num_full = 0;
  while (!digests.empty()) {
    // No key takes more than one entry, so as many keys as there are free entries find room.
    SideTableUse use = side_table_use(filter);
    if (has_little_room(use) && use.capacity < max_spill_capacity && double_side_table(filter))
      use = side_table_use(filter);
    const std::uint64_t num_free = use.capacity - use.num_used;
    const std::uint64_t most = num_free == 0 ? least_free : num_free;
    const auto piece = digests.first(std::min<std::uint64_t>(most, digests.size()));
    num_full += filter.insert_batch(piece);
    digests = digests.subspan(piece.size());
  }
  return num_full;
}

}  // namespace tally::cli
