#include "data_type.hpp"

#include <exception>
#include <string>
#include <string_view>

#include "call.hpp"
#include "loaded_bytes.hpp"
#include "refusal.hpp"
#include "value_pieces.hpp"

namespace tally::redis {
namespace {

constexpr int version_with_journal = 2;

const AnyValue& value_of(const void* value) { return *static_cast<const AnyValue*>(value); }

// Redis calls save, rewrite and digest in a child process or while it blocks; they have no way to report an error.
// If there is not enough memory for a header, the process ends, and so Redis sees that the save failed.

void save(api::Io* io, void* stored) noexcept {
  const AnyValue& value = value_of(stored);
  const std::string header = value.dump_header();
  api::save_bytes(io, header.data(), header.size());
  api::save_unsigned(io, value.dump_bytes());
  for_each_piece(
      value, [&](std::uint64_t, std::string_view piece) { api::save_bytes(io, piece.data(), piece.size()); });
  const std::string writers = value.journal().blob();
  api::save_bytes(io, writers.data(), writers.size());
}

void rewrite(api::Io* io, api::String* key, void* stored) noexcept {
  const AnyValue& value = value_of(stored);
  const std::string header = value.dump_header();
  api::emit_aof(io, "TALLY.LOADCHUNK", "slb", key, 1LL, header.data(), header.size());
  for_each_piece(value, [&](std::uint64_t end, std::string_view piece) {
    api::emit_aof(io, "TALLY.LOADCHUNK", "slb", key, static_cast<long long>(end) + 1, piece.data(),
                  piece.size());
  });
  const std::string writers = value.journal().blob();
  if (!writers.empty()) api::emit_aof(io, "TALLY.LOADWRITERS", "sb", key, writers.data(), writers.size());
}

void digest(api::Digest* digest, void* stored) noexcept {
  const AnyValue& value = value_of(stored);
  const std::string header = value.dump_header();
  api::digest_add_bytes(digest, header.data(), header.size());
  for_each_piece(value, [&](std::uint64_t, std::string_view piece) {
    api::digest_add_bytes(digest, piece.data(), piece.size());
  });
  const std::string writers = value.journal().blob();
  if (!writers.empty()) api::digest_add_bytes(digest, writers.data(), writers.size());
  api::digest_end_sequence(digest);
}

std::size_t mem_usage(const void* stored) noexcept { return value_of(stored).memory_bytes(); }

void free_value(void* stored) noexcept { delete static_cast<AnyValue*>(stored); }

/// Redis frees a value in the background from an effort of 64 on: here from 64 pages of memory on.
std::size_t free_effort(api::String*, const void* stored) noexcept {
  constexpr std::size_t page_bytes = 4096;
  return value_of(stored).memory_bytes() / page_bytes + 1;
}

void* copy(api::String*, api::String*, const void* stored) noexcept {
  try {
    const AnyValue& value = value_of(stored);
    const Call call(nullptr, {});
    if (!call.allows_step(value.memory_bytes())) {
      api::log(
          nullptr, "warning",
          "tally: COPY of a key of %llu bytes is refused: it is more than the module's option MAX-STEP-BYTES",
          static_cast<unsigned long long>(value.memory_bytes()));
      return nullptr;
    }
    return value.copy().release();
  } catch (...) {
    return nullptr;  // COPY then replies with an error
  }
}

}  // namespace

api::TypeMethods type_methods() noexcept {
  api::TypeMethods methods;
  methods.rdb_save = save;
  methods.aof_rewrite = rewrite;
  methods.mem_usage = mem_usage;
  methods.digest = digest;
  methods.free = free_value;
  methods.free_effort = free_effort;
  methods.copy = copy;
  return methods;
}

void* load_snapshot(api::Io* io, int version, std::unique_ptr<AnyValue> empty) noexcept {
  try {
    if (version < 1 || version > encoding_version) {
      throw FormatError("the snapshot has version " + std::to_string(version) +
                            " of the format; must be 1 to " + std::to_string(encoding_version) +
                            "; use a newer module",
                        0);
    }
    // RESTORE by a client has the limits of commands.
    const Call call(api::context_of(io), {});
    empty->begin_load(LoadedBytes(io).view(), call.max_key_bytes());
    call.require_memory_for(empty->total_bytes());
    const std::uint64_t num_bytes = api::load_unsigned(io);
    if (api::is_io_error(io) != 0) throw FormatError("the snapshot ends too early", 0);
    for (std::uint64_t end = 0; end < num_bytes;) {
      const LoadedBytes piece(io);
      end += piece.view().size();
      empty->load_piece(end, piece.view());
    }
    if (version >= version_with_journal) {
      const LoadedBytes writers(io);
      if (writers.view().size() > call.max_key_bytes()) {
        throw FormatError("the writers take more than the module's option MAX-KEY-BYTES", 0);
      }
      empty->journal() = WriterJournal::from_blob(writers.view());
    }
    return empty.release();
  } catch (const std::exception& error) {
    api::log_io_error(io, "warning", "%s", error.what());
    return nullptr;
  }
}

}  // namespace tally::redis
