#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "chunk_commands.hpp"
#include "command.hpp"
#include "filter_value.hpp"
#include "open_key.hpp"
#include "partial_load.hpp"
#include "tally/serialization/file_pieces.hpp"

// TALLY.EXPORT and TALLY.IMPORT: keys of TALLY.CREATE as plain Tally files, in pieces. A position is a byte of the file.

namespace tally::redis {
namespace {

constexpr const char* not_a_position = "ERR the position is not a byte of the file; give 0 or more";

/// The piece of the file from a position on: the header, or some of the body.
std::string_view file_piece(const AnyFilter& filter, std::uint64_t position, std::string& header) {
  if (position >= file_header_bytes)
    return text_of(body_piece(filter, position - file_header_bytes, max_piece_bytes));
  header = text_of(file_header(filter));
  return std::string_view(header).substr(position);
}

void export_piece(Call& call) {
  const auto position = call.integer(2);
  if (!position || *position < 0) throw Refusal(not_a_position);
  const OpenKey key(call, KeyAccess::read);
  const AnyFilter& filter =
      key.get<FilterValue>("ERR the key does not exist; create it with TALLY.CREATE").filter();
  const std::uint64_t end = file_header_bytes + filter.shape().num_bytes();
  const auto begin = static_cast<std::uint64_t>(*position);
  if (begin >= end) {
    throw Refusal("ERR the position is " + std::to_string(begin) + "; must be below " + std::to_string(end) +
                  ", the length of the file; start again with position 0");
  }
  std::string header;
  const std::string_view piece = file_piece(filter, begin, header);
  const std::uint64_t next = begin + piece.size();
  call.array(2);
  call.integer_reply(next == end ? 0 : next);
  call.bytes(piece);
}

void load_piece(const Call& call, FilterValue& value, std::uint64_t position) {
  try {
    value.load_file_piece(position, call.text(3), call);
  } catch (const FormatError& error) {
    throw Refusal("ERR the file cannot be a key: " + std::string(error.what()));
  }
}

void import_piece(Call& call) {
  const auto position = call.integer(2);
  if (!position || *position < 0) throw Refusal(not_a_position);
  const std::size_t num_bytes = call.text(3).size();
  if (num_bytes == 0) throw Refusal("ERR the piece is empty; give 1 to 1048576 bytes");
  if (num_bytes > max_piece_bytes) {
    throw Refusal("ERR the piece has " + std::to_string(num_bytes) + " bytes; must have at most " +
                  std::to_string(max_piece_bytes));
  }
  const auto begin = static_cast<std::uint64_t>(*position);
  OpenKey key(call, KeyAccess::write);
  if (FilterValue* const value = key.find<FilterValue>()) {
    if (value->is_complete()) throw Refusal("ERR the key exists; delete it first, or give another name");
    load_or_delete(call, key, *value, [&] { load_piece(call, *value, begin); });
  } else {
    auto created = std::make_unique<FilterValue>();
    load_piece(call, *created, begin);
    key.set(std::move(created));
  }
  call.replicate_as("TALLY.IMPORT");
  call.ok();
}

constexpr std::array commands{
    Command{"TALLY.EXPORT", entry<export_piece, 3>, "readonly", KeyUse::read, "key position",
            "Copy a key to a Tally file in pieces: the next position, and a piece of the file",
            time_of_structure},
    Command{"TALLY.IMPORT", entry<import_piece, 4>, "write deny-oom", KeyUse::update, "key position piece",
            "Load a piece of a Tally file: OK", time_of_structure}};

}  // namespace

std::span<const Command> file_commands() noexcept { return commands; }

}  // namespace tally::redis
