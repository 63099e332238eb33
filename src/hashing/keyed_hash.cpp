#include <highwayhash/highwayhash_target.h>
#include <highwayhash/instruction_sets.h>

#include "tally/hashing/key_hasher.hpp"

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
  hasher.keyed_hash_ = highwayhash_128;
  for (std::size_t i = 0; i < hasher.key_.size(); ++i) {
    hasher.key_[i] = detail::load_little_endian<std::uint64_t>(key.data() + 8 * i);
  }
  hasher.seed_or_key_id_ = hasher(key_id_message).low;
  return hasher;
}

}  // namespace tally
