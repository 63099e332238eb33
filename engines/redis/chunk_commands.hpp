#pragma once

#include <memory>
#include <utility>

#include "any_value.hpp"
#include "call.hpp"
#include "open_key.hpp"
#include "refusal.hpp"
#include "stored_value.hpp"

namespace tally::redis {

/// What a family of commands replies about chunks.
struct ChunkReplies {
  bool ends_with_null = false;  ///< else with an empty string
  const char* bad_position = "ERR invalid offset - no link found";
  const char* exists = "ERR received bad data";
  const char* bad_header = "ERR received bad data";
  const char* bad_chunk = nullptr;  ///< for every chunk that is refused; nullptr: what the load says
};

/// The chunk of a dump at a position, with the next position: 0 asks for the header, 1 + n for the bytes from n on. After
/// the last byte, the next position is 0. While the checksum of a large value is computed for the header, chunks are
/// empty and the next position is negative.
inline void reply_with_chunk(const Call& call, StoredValue& value, long long position,
                             const ChunkReplies& replies = {}) {
  // After a restart, for example. An end of the dump would look like a copy.
  if (position < 0 && !value.has_begun_dump())
    throw Refusal("ERR no dump of the key has begun here; begin again with position 0");
  std::string header;
  std::string_view chunk;
  long long next = 0;
  if (position <= 0) {
    const DumpChecksums* const checksums = position == 0 ? value.begin_dump() : value.continue_dump();
    if (checksums != nullptr) header = value.dump_header_with(*checksums);
    chunk = header;
    next = checksums != nullptr ? 1 : value.dump_position();
  } else if (position > 0 && static_cast<std::uint64_t>(position) <= value.dump_bytes()) {
    value.require_unchanged_dump();
    chunk = value.dump_piece(static_cast<std::uint64_t>(position) - 1);
    next = position + static_cast<long long>(chunk.size());
  }
  call.array(2);
  call.signed_reply(next);
  next == 0 && replies.ends_with_null ? call.null() : call.bytes(chunk);
}

/// Calls load(). Where it fails and so begins anew, the key is deleted, also on replicas: they have the pieces so far, and
/// would refuse those that come next.
template <class Load>
void load_or_delete(const Call& call, OpenKey& key, const AnyValue& value, Load load) {
  const std::uint64_t old_bytes = value.dump_bytes();
  try {
    load();
  } catch (...) {
    if (value.dump_bytes() < old_bytes) {
      key.remove();
      api::replicate(call.context(), "DEL", "s", call.argument(1));
    }
    throw;
  }
}

/// Loads argument 3: the header into an empty key at position 1, later chunks at the position that came with them.
/// An empty chunk with a negative position changes nothing.
template <class Value>
void load_chunk_of(const Call& call, OpenKey& key, long long position, const ChunkReplies& replies = {}) {
  if (position < 0 && call.text(3).empty()) return call.ok();  // of a dump whose header was not ready
  Value* value = key.find<Value>();
  if (position == 1) {
    if (value != nullptr) throw Refusal(replies.exists);
    auto created = std::make_unique<Value>();
    try {
      created->begin_load(call.text(3), call.max_key_bytes());
    } catch (const FormatError&) {
      throw Refusal(replies.bad_header);
    }
    call.require_memory_for(created->total_bytes());
    key.set(std::move(created));
  } else {
    if (value == nullptr) throw Refusal("ERR not found");
    if (position < 1) throw Refusal(replies.bad_position);
    try {
      load_or_delete(call, key, *value,
                     [&] { value->load_piece(static_cast<std::uint64_t>(position) - 1, call.text(3)); });
    } catch (const Refusal&) {
      if (replies.bad_chunk == nullptr) throw;
      throw Refusal(replies.bad_chunk);
    }
  }
  call.replicate_as("TALLY.LOADCHUNK");
  call.ok();
}

}  // namespace tally::redis
