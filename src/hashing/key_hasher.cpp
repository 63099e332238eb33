#include "tally/hashing/key_hasher.hpp"

#include <highwayhash/highwayhash_target.h>
#include <highwayhash/instruction_sets.h>

#include "tally/detail/parameter_error.hpp"

namespace tally {
namespace {

Hash128 highwayhash_128(const std::array<std::uint64_t, 4>& key, KeyBytes bytes) noexcept {
  const highwayhash::HHKey words = {key[0], key[1], key[2], key[3]};
  highwayhash::HHResult128 digest = {};
  highwayhash::InstructionSets::Run<highwayhash::HighwayHash>(
      words, reinterpret_cast<const char*>(bytes.data()), bytes.size(), &digest);
  return {digest[0], digest[1]};
}

constexpr std::string_view key_id_message = "tally key id";

}  // namespace

KeyHasher KeyHasher::keyed(const HashKey& key) noexcept {
  KeyHasher hasher(0);
  hasher.is_keyed_ = true;
  for (std::size_t i = 0; i < hasher.key_.size(); ++i) {
    hasher.key_[i] = detail::load_little_endian<std::uint64_t>(key.data() + 8 * i);
  }
  hasher.seed_or_key_id_ = hasher(key_id_message).low;
  return hasher;
}

Hash128 KeyHasher::keyed_hash(KeyBytes key) const noexcept { return highwayhash_128(key_, key); }

std::string_view name_of(HashId id) noexcept {
  return id == HashId::xxh3_128 ? "xxh3-128" : "highwayhash-128";
}

void require_same_hasher(std::string_view structure, const KeyHasher& mine, const KeyHasher& theirs) {
  detail::require_same(structure, "hash", name_of(mine.id()), name_of(theirs.id()));
  detail::require_same(structure, mine.id() == HashId::xxh3_128 ? "seed" : "key id", mine.seed_or_key_id(),
                       theirs.seed_or_key_id());
}

}  // namespace tally
