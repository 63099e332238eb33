#include "tally/hashing/key_hasher.hpp"

#include "tally/detail/parameter_error.hpp"

namespace tally {

std::string_view name_of(HashId id) noexcept {
  return id == HashId::xxh3_128 ? "xxh3-128" : "highwayhash-128";
}

void require_same_hasher(std::string_view structure, const KeyHasher& mine, const KeyHasher& theirs) {
  detail::require_same(structure, "hash", name_of(mine.id()), name_of(theirs.id()));
  detail::require_same(structure, mine.id() == HashId::xxh3_128 ? "seed" : "key id", mine.seed_or_key_id(),
                       theirs.seed_or_key_id());
}

}  // namespace tally
