#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "tally/hashing/hash_scheme.hpp"

namespace tally::detail {

/// The storage indices of a key's positions, computed during a visit. For a single visit, that is faster than storing them
/// first.
template <HashScheme Scheme, class Storage>
class KeyPlaces {
 public:
  KeyPlaces(const Scheme& scheme, const Storage& storage, Hash128 hash) noexcept
      : scheme_(scheme), storage_(storage), hash_(hash) {}

  template <class Visit>
  [[gnu::always_inline]] bool all(Visit visit) const {
    return scheme_.all_positions(hash_,
                                 [&](std::uint64_t position) { return visit(storage_.locate(position)); });
  }

 private:
  const Scheme& scheme_;
  // A copy of a view, which then stays in registers.
  std::conditional_t<std::is_trivially_copyable_v<Storage>, Storage, const Storage&> storage_;
  Hash128 hash_;
};

/// Calls visit(storage index) for each of a key's places, in order, until it returns false; returns whether it never did.
template <HashScheme Scheme, class Storage, class Visit>
[[gnu::always_inline]] inline bool all_places(const KeyPlaces<Scheme, Storage>& places, Visit visit) {
  return places.all(visit);
}
template <class Visit>
[[gnu::always_inline]] inline bool all_places(std::span<const std::uint64_t> offsets, Visit visit) {
  for (const std::uint64_t offset : offsets) {
    if (!visit(offset)) return false;
  }
  return true;
}

/// Writes the storage indices of a key's positions to `offsets`.
template <HashScheme Scheme, class Storage>
void find_offsets(const Scheme& scheme, const Storage& storage, Hash128 hash,
                  std::uint64_t* offsets) noexcept {
  scheme.all_positions(hash, [&](std::uint64_t position) {
    *offsets++ = storage.locate(position);
    return true;
  });
}

}  // namespace tally::detail
