#pragma once

#include <string>
#include <string_view>

#include "tally/hashing/key_hasher.hpp"
#include "text/output.hpp"

namespace tally::cli {

/// {name: "..."}. JSON cannot hold bytes that are not UTF-8: they become U+FFFD, and {name_hex: "..."} has all bytes.
Json text_json(const std::string& name, std::string_view text);
/// The same with the name "key".
inline Json key_json(std::string_view key) { return text_json("key", key); }

/// The hash in a summary: its name, and the seed or the id of the secret key.
Json hash_json(const KeyHasher& hasher);

/// One object per line, as `--json` prints keys.
std::string json_line(const Json& json);

}  // namespace tally::cli
