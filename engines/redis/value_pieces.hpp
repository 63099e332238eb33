#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "any_value.hpp"
#include "refusal.hpp"

// What the types of values do alike with the pieces of a dump.

namespace tally::redis {

/// Calls use(end of the piece, piece) for all that a dump has after its header.
template <class Use>
void for_each_piece(const AnyValue& value, Use use) {
  for (std::uint64_t offset = 0; offset < value.dump_bytes();) {
    const std::string_view piece = value.dump_piece(offset);
    offset += piece.size();
    use(offset, piece);
  }
}

/// A copy that is loaded from the dump.
template <class Value>
std::unique_ptr<AnyValue> copied_in_pieces(const Value& value) {
  auto copied = std::make_unique<Value>();
  copied->begin_load(value.dump_header(), std::numeric_limits<std::uint64_t>::max());
  for_each_piece(value, [&](std::uint64_t end, std::string_view piece) { copied->load_piece(end, piece); });
  return copied;
}

[[noreturn]] inline void refuse_incomplete(std::uint64_t loaded_bytes, std::uint64_t total_bytes) {
  throw Refusal("ERR the value is incomplete: " + std::to_string(loaded_bytes) + " of " +
                std::to_string(total_bytes) +
                " bytes are loaded; load the remaining chunks, or delete the key");
}

}  // namespace tally::redis
