#pragma once

#include <memory>
#include <utility>

#include "call.hpp"
#include "open_key.hpp"
#include "refusal.hpp"
#include "stored_value.hpp"

namespace tally::redis {

/// The chunk of a dump at a position, with the next position: 0 asks for the header, 1 + n for the bytes from n on. After
/// the last byte, the reply is 0 and an empty string.
inline void reply_with_chunk(const Call& call, const StoredValue& value, long long position) {
  const bool is_end = position < 0 || static_cast<std::uint64_t>(position) > value.dump_bytes();
  const std::string header = position == 0 ? value.dump_header() : "";
  call.array(2);
  if (position == 0) {
    call.integer_reply(1);
    call.bytes(header);
  } else if (is_end) {
    call.integer_reply(0);
    call.bytes("");
  } else {
    const std::string_view piece = value.dump_piece(static_cast<std::uint64_t>(position) - 1);
    call.integer_reply(static_cast<std::uint64_t>(position) + piece.size());
    call.bytes(piece);
  }
}

/// Loads argument 3: the header into an empty key at position 1, later chunks at the position that came with them.
template <class Value>
void load_chunk_of(const Call& call, OpenKey& key, long long position) {
  Value* value = key.find<Value>();
  if (position == 1) {
    if (value != nullptr) throw Refusal("ERR received bad data");
    auto created = std::make_unique<Value>();
    try {
      created->begin_load(call.text(3), call.max_key_bytes());
    } catch (const FormatError&) {
      throw Refusal("ERR received bad data");
    }
    call.require_memory_for(created->total_bytes());
    key.set(std::move(created));
  } else {
    if (value == nullptr) throw Refusal("ERR not found");
    if (position < 1) throw Refusal("ERR invalid offset - no link found");
    try {
      value->load_piece(static_cast<std::uint64_t>(position) - 1, call.text(3));
    } catch (const FormatError&) {
      throw Refusal("ERR received bad data");
    }
  }
  call.replicate_verbatim();
  call.ok();
}

}  // namespace tally::redis
