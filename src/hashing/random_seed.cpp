#include "tally/hashing/random_seed.hpp"

#include "detail/random_word.hpp"
#include "tally/detail/little_endian.hpp"

namespace tally {

std::uint64_t random_seed() {
  std::random_device device;
  return detail::random_word(device);
}

HashKey random_hash_key() {
  std::random_device device;
  HashKey key;
  for (std::size_t at = 0; at < key.size(); at += 8)
    detail::store_little_endian(key.data() + at, detail::random_word(device));
  return key;
}

}  // namespace tally
