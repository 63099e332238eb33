#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "any_value.hpp"
#include "over_stream.hpp"
#include "redis_module_api.hpp"
#include "tally/streams/state_loader.hpp"
#include "tally/streams/state_pieces.hpp"

namespace tally::redis {

/// An OverStream. Its dump is its state in pieces: the magic bytes, the head, and then the body.
class OverValue final : public AnyValue {
 public:
  static constexpr const char* type_name = "tallyover";
  static constexpr std::string_view first_bytes = "TALLYOV1";  ///< of a dump
  inline static api::Type* type = nullptr;

  /// For a load.
  OverValue() = default;
  explicit OverValue(OverStream stream) : stream_(std::move(stream)) {}

  const OverStream& stream() const noexcept { return *stream_; }
  OverStream& stream_to_change() noexcept {
    pieces_.reset();
    return *stream_;
  }

  void require_complete() const override;
  std::string dump_header() const override;
  std::uint64_t dump_bytes() const override;
  std::string_view dump_piece(std::uint64_t offset) const override;
  void begin_load(std::string_view header, std::uint64_t max_bytes) override;
  /// A state whose parts are undamaged but do not fit together is refused with its last piece, and its load begins anew.
  void load_piece(std::uint64_t end, std::string_view bytes) override;
  void load_empty(std::string_view header, std::uint64_t max_bytes) override;
  std::uint64_t total_bytes() const override { return loader_ ? loader_->body_bytes() : dump_bytes(); }

 private:
  std::uint64_t own_memory_bytes() const override;
  std::unique_ptr<AnyValue> copy_without_journal() const override;
  const StatePieces& pieces() const;

  std::optional<OverStream> stream_;
  mutable std::optional<StatePieces> pieces_;  ///< made when it is dumped, until it changes
  std::optional<StateLoader> loader_;          ///< while it is incomplete
};

}  // namespace tally::redis
