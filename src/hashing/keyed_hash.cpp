#include "hashing/highway_hash.hpp"
#include "tally/hashing/key_hasher.hpp"

namespace tally {
namespace {

Hash128 highwayhash_128(const std::array<std::uint64_t, 4>& key, KeyBytes bytes) noexcept {
  highwayhash::HHResult128 digest = {};
  detail::highway_hash(key, bytes, digest);
  return {digest[0], digest[1]};
}

constexpr std::string_view key_id_message = "tally key id";

}  // namespace

KeyHasher KeyHasher::keyed(const HashKey& key) noexcept {
  KeyHasher hasher(0);
  hasher.keyed_hash_ = highwayhash_128;
  hasher.key_ = detail::highway_key(key);
  hasher.seed_or_key_id_ = hasher(key_id_message).low;
  return hasher;
}

}  // namespace tally
