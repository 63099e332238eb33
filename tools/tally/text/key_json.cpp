#include "text/key_json.hpp"

#include <fmt/core.h>

namespace tally::cli {

Json text_json(const std::string& name, std::string_view text) {
  Json json{{name, text}};
  if (is_utf8(text)) return json;
  std::string digits;
  for (const char byte : text) digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  json[name + "_hex"] = digits;
  return json;
}

Json hash_json(const KeyHasher& hasher) {
  return {{"hash", name_of(hasher.id())},
          {hasher.id() == HashId::xxh3_128 ? "seed" : "key_id", hasher.seed_or_key_id()}};
}

std::string json_line(const Json& json) { return json.dump() + "\n"; }

}  // namespace tally::cli
