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

void reply_with_piece(const Call& call, long long next, std::string_view piece) {
  call.array(2);
  call.signed_reply(next);
  call.bytes(piece);
}

/// The header, or nothing while its checksum is computed.
void export_header(const Call& call, FilterValue& value, const DumpChecksums* checksums) {
  if (checksums == nullptr) return reply_with_piece(call, value.dump_position(), "");
  reply_with_piece(call, file_header_bytes, text_of(file_header(value.filter(), checksums->of_file(0))));
}

void export_piece(Call& call) {
  const auto position = call.integer(2);
  if (!position) throw Refusal(not_a_position);
  const OpenKey key(call, KeyAccess::read);
  FilterValue& value = key.get<FilterValue>("ERR the key does not exist; create it with TALLY.CREATE");
  if (*position == 0) return export_header(call, value, value.begin_dump());
  if (*position < 0 && value.has_begun_dump()) return export_header(call, value, value.continue_dump());
  if (*position < 0) throw Refusal(not_a_position);
  const std::uint64_t end = file_header_bytes + value.filter().shape().num_bytes();
  const auto begin = static_cast<std::uint64_t>(*position);
  if (begin < file_header_bytes || begin >= end) {
    throw Refusal("ERR the position is " + std::to_string(begin) + "; must be 0, or " +
                  std::to_string(file_header_bytes) + " to " + std::to_string(end - 1) +
                  "; start again with position 0");
  }
  value.require_unchanged_dump();
  const std::string_view piece =
      text_of(body_piece(value.filter(), begin - file_header_bytes, max_piece_bytes));
  const std::uint64_t next = begin + piece.size();
  reply_with_piece(call, next == end ? 0 : static_cast<long long>(next), piece);
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
