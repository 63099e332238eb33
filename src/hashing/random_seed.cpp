#include "tally/hashing/random_seed.hpp"

#include <random>

#include "tally/detail/little_endian.hpp"

namespace tally {
namespace {

std::uint64_t drawn(std::random_device& device) { return std::uint64_t{device()} << 32 | device(); }

}  // namespace

std::uint64_t random_seed() {
  std::random_device device;
  return drawn(device);
}

HashKey random_hash_key() {
  std::random_device device;
  HashKey key;
  for (std::size_t at = 0; at < key.size(); at += 8)
    detail::store_little_endian(key.data() + at, drawn(device));
  return key;
}

}  // namespace tally
