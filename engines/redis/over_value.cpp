#include "over_value.hpp"

#include <algorithm>
#include <exception>
#include <span>
#include <string>
#include <utility>

#include "call.hpp"
#include "data_type.hpp"
#include "loaded_bytes.hpp"
#include "partial_load.hpp"
#include "refusal.hpp"
#include "tally/serialization/format_error.hpp"

namespace tally::redis {
namespace {

/// Calls use(end of the piece, piece).
template <class Use>
void for_each_piece(const std::vector<std::byte>& bytes, Use use) {
  const std::string_view all = text_of(bytes);
  for (std::size_t offset = 0; offset < all.size();) {
    const std::string_view piece = all.substr(offset, max_piece_bytes);
    offset += piece.size();
    use(offset, piece);
  }
}

const OverValue& value_of(const void* value) { return *static_cast<const OverValue*>(value); }

// As in data_type.cpp: if there is not enough memory for the bytes, the process ends, and Redis sees that the save failed.

std::uint64_t total_of(const OverValue& value, const std::vector<std::byte>& bytes) {
  return value.is_complete() ? bytes.size() : value.total_bytes();
}

void save(api::Io* io, void* stored) noexcept {
  const OverValue& value = value_of(stored);
  const std::vector<std::byte> bytes = value.bytes();
  api::save_unsigned(io, total_of(value, bytes));
  api::save_unsigned(io, bytes.size());
  for_each_piece(
      bytes, [&](std::uint64_t, std::string_view piece) { api::save_bytes(io, piece.data(), piece.size()); });
}

void rewrite(api::Io* io, api::String* key, void* stored) noexcept {
  const OverValue& value = value_of(stored);
  const std::vector<std::byte> bytes = value.bytes();
  const auto total = static_cast<long long>(total_of(value, bytes));
  if (bytes.empty()) api::emit_aof(io, "TALLY.OVERLOAD", "sllb", key, 0LL, total, "", std::size_t{0});
  for_each_piece(bytes, [&](std::uint64_t end, std::string_view piece) {
    api::emit_aof(io, "TALLY.OVERLOAD", "sllb", key, static_cast<long long>(end), total, piece.data(),
                  piece.size());
  });
}

void digest(api::Digest* digest, void* stored) noexcept {
  for_each_piece(value_of(stored).bytes(), [&](std::uint64_t, std::string_view piece) {
    api::digest_add_bytes(digest, piece.data(), piece.size());
  });
  api::digest_end_sequence(digest);
}

std::size_t mem_usage(const void* stored) noexcept { return value_of(stored).memory_bytes(); }

void free_value(void* stored) noexcept { delete static_cast<OverValue*>(stored); }

/// Redis frees a value in the background from an effort of 64 on.
std::size_t free_effort(api::String*, const void*) noexcept { return 1000; }

void* copy(api::String*, api::String*, const void* stored) noexcept {
  try {
    const OverValue& value = value_of(stored);
    if (value.is_complete()) return std::make_unique<OverValue>(OverStream(value.bytes())).release();
    auto part = std::make_unique<OverValue>(value.total_bytes());
    const std::vector<std::byte> bytes = value.bytes();
    if (!bytes.empty()) part->load_piece(bytes.size(), text_of(bytes));
    return part.release();
  } catch (...) {
    return nullptr;  // COPY then replies with an error
  }
}

void* load(api::Io* io, int version) noexcept {
  try {
    if (version != encoding_version) throw FormatError("the snapshot has another version of the format", 0);
    auto value = std::make_unique<OverValue>(api::load_unsigned(io));
    // RESTORE by a client has the limits of commands.
    const Call call(api::context_of(io), {});
    if (value->total_bytes() > call.max_key_bytes()) {
      throw Refusal("ERR the state takes more than the module's option MAX-KEY-BYTES");
    }
    call.require_memory_for(value->total_bytes());
    const std::uint64_t num_bytes = api::load_unsigned(io);
    for (std::uint64_t end = 0; end < num_bytes;) {
      if (api::is_io_error(io) != 0) throw FormatError("the snapshot ends too early", end);
      const LoadedBytes piece(io);
      if (piece.view().empty()) throw FormatError("the snapshot has an empty piece", end);
      end += piece.view().size();
      value->load_piece(end, piece.view());
    }
    if (api::is_io_error(io) != 0) throw FormatError("the snapshot ends too early", num_bytes);
    return value.release();
  } catch (const std::exception& error) {
    api::log_io_error(io, "warning", "%s", error.what());
    return nullptr;
  }
}

}  // namespace

void OverValue::require_complete() const {
  if (stream_) return;
  if (total_bytes_ == 0)
    throw Refusal("ERR the key has lost its counts, because there was no memory left; delete it");
  throw Refusal("ERR the value is incomplete: " + std::to_string(loaded_.size()) + " of " +
                std::to_string(total_bytes_) +
                " bytes are loaded; load the remaining pieces, or delete the key");
}

void OverValue::load_piece(std::uint64_t end, std::string_view bytes) {
  if (stream_ || end < bytes.size() || end - bytes.size() != loaded_.size()) {
    throw Refusal("ERR the piece does not begin where the last one ended");
  }
  if (end > total_bytes_) throw Refusal("ERR the piece goes beyond the end of the state");
  const auto added = bytes_of(bytes);
  if (end < total_bytes_) {
    loaded_.insert(loaded_.end(), added.begin(), added.end());
    return;
  }
  std::vector<std::byte> all;
  all.reserve(end);
  all.insert(all.end(), loaded_.begin(), loaded_.end());
  all.insert(all.end(), added.begin(), added.end());
  try {
    stream_.emplace(std::move(all));
  } catch (const std::runtime_error& error) {
    throw Refusal("ERR the state is damaged: " + std::string(error.what()));
  }
  loaded_ = {};
}

bool create_over_type(api::Context* context) {
  api::TypeMethods methods;
  methods.rdb_load = load;
  methods.rdb_save = save;
  methods.aof_rewrite = rewrite;
  methods.mem_usage = mem_usage;
  methods.digest = digest;
  methods.free = free_value;
  methods.free_effort = free_effort;
  methods.copy = copy;
  OverValue::type = api::create_data_type(context, OverValue::type_name, encoding_version, &methods);
  return OverValue::type != nullptr;
}

}  // namespace tally::redis
