#include "tally/redis_client/hash_slot.hpp"

namespace tally::redis_client {
namespace {

std::string_view hashed_part(std::string_view key) noexcept {
  const std::size_t open = key.find('{');
  if (open == std::string_view::npos) return key;
  const std::size_t close = key.find('}', open);
  if (close == std::string_view::npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

}  // namespace

std::uint32_t hash_slot(std::string_view key) noexcept {
  std::uint32_t crc = 0;
  for (const char byte : hashed_part(key)) {
    crc ^= static_cast<std::uint32_t>(static_cast<unsigned char>(byte)) << 8;
    for (int bit = 0; bit < 8; ++bit) crc = (crc << 1) ^ ((crc & 0x8000) != 0 ? 0x11021 : 0);
  }
  return crc % num_hash_slots;
}

}  // namespace tally::redis_client
