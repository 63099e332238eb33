#include "text/key_json.hpp"

#include <fmt/core.h>

namespace tally::cli {

Json key_json(std::string_view key) {
  if (is_utf8(key)) return {{"key", key}};
  std::string digits;
  for (const char byte : key) digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return {{"key_hex", digits}};
}

Json hash_json(const KeyHasher& hasher) {
  return {{"hash", name_of(hasher.id())},
          {hasher.id() == HashId::xxh3_128 ? "seed" : "key_id", hasher.seed_or_key_id()}};
}

std::string json_line(const Json& json) { return json.dump() + "\n"; }

}  // namespace tally::cli
