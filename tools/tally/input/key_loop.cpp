#include "input/key_loop.hpp"

namespace tally::cli {

void hash_all(const KeyHasher& hasher, std::span<const std::string_view> keys, Batch<Hash128>& digests) {
  for (std::size_t i = 0; i < keys.size(); ++i) digests[i] = hasher(keys[i]);
}

}  // namespace tally::cli
