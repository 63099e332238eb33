#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "over_stream.hpp"
#include "redis_module_api.hpp"

namespace tally::redis {

/// The value of a key: an OverStream, or the part of its state that an append-only file has loaded so far.
class OverValue {
 public:
  static constexpr const char* type_name = "tallyover";
  inline static api::Type* type = nullptr;

  explicit OverValue(OverStream stream) : stream_(std::move(stream)) {}
  /// For a load of a state of `total_bytes`.
  explicit OverValue(std::uint64_t total_bytes) : total_bytes_(total_bytes) {}

  /// Throws Refusal for a value that is incomplete, or that ran out of memory.
  void require_complete() const;
  OverStream& stream() noexcept { return *stream_; }
  const OverStream& stream() const noexcept { return *stream_; }
  /// After std::bad_alloc of the stream.
  void lose_stream() noexcept { stream_.reset(); }

  bool is_complete() const noexcept { return stream_.has_value(); }
  std::uint64_t total_bytes() const noexcept { return total_bytes_; }
  /// The next bytes of a state, of which the last is number `end`, counted from 1. Throws Refusal for a piece that is out of
  /// order or too long, or completes a damaged state; then nothing has changed.
  void load_piece(std::uint64_t end, std::string_view bytes);

  /// The state, or what is loaded of it.
  std::vector<std::byte> bytes() const { return stream_ ? stream_->state() : loaded_; }
  std::uint64_t memory_bytes() const {
    return sizeof *this + (stream_ ? stream_->memory_bytes() : loaded_.capacity());
  }

 private:
  std::optional<OverStream> stream_;
  std::uint64_t total_bytes_ = 0;
  std::vector<std::byte> loaded_;
};

/// Registers the data type. Returns false if the name is taken.
bool create_over_type(api::Context* context);

}  // namespace tally::redis
