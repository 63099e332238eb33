#include <array>
#include <memory>
#include <string_view>

#include "chunk_commands.hpp"
#include "command.hpp"
#include "open_key.hpp"
#include "value_types.hpp"

// TALLY.*: what replicas and append-only files receive.

namespace tally::redis {
namespace {

/// TALLY.LOADCHUNK key position data: what BF.LOADCHUNK does, for every type.
void load_chunk(Call& call) {
  const auto position = call.integer(2);
  if (!position) throw Refusal("ERR position is not an integer");
  OpenKey key(call, KeyAccess::write);
  const bool is_new = key.is_empty();
  const bool is_known = ValueTypes::any_of([&]<class Value>() {
    if (!(is_new ? call.text(3).starts_with(Value::first_bytes) : key.has<Value>())) return false;
    load_chunk_of<Value>(call, key, *position);
    return true;
  });
  if (is_known) return;
  if (!is_new) throw Refusal(wrong_type);
  throw Refusal(*position == 1 ? "ERR received bad data" : "ERR not found");
}

/// TALLY.LOADEMPTY key header: a new value, of the type, sizes and seed that the header of its dump states.
void load_empty(Call& call) {
  OpenKey key(call, KeyAccess::write);
  if (!key.is_empty()) throw Refusal("ERR item exists");
  const bool is_known = ValueTypes::any_of([&]<class Value>() {
    if (!call.text(2).starts_with(Value::first_bytes)) return false;
    auto value = std::make_unique<Value>();
    try {
      value->begin_load(call.text(2), call.max_key_bytes());  // allocates nothing for the body
      call.require_memory_for(value->total_bytes());
      value->load_empty(call.text(2), call.max_key_bytes());
    } catch (const FormatError& error) {
      throw Refusal(std::string("ERR received bad data: ") + error.what());
    }
    key.set(std::move(value));
    return true;
  });
  if (!is_known) throw Refusal("ERR received bad data");
  call.replicate_as("TALLY.LOADEMPTY");
  call.ok();
}

constexpr std::array commands{
    Command{"TALLY.LOADCHUNK", entry<load_chunk, 4>, "write deny-oom", KeyUse::update, "key position chunk",
            "For append-only files: load a chunk of a key", time_of_structure},
    Command{"TALLY.LOADEMPTY", entry<load_empty, 3>, "write deny-oom", KeyUse::insert, "key header",
            "For replicas and append-only files: make an empty key", time_of_structure}};

}  // namespace

std::span<const Command> own_commands() noexcept { return commands; }

}  // namespace tally::redis
