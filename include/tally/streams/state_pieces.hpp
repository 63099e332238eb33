#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tally/export.hpp"
#include "tally/streams/state_kind.hpp"
#include "tally/streams/state_part.hpp"
#include "tally/streams/state_writer.hpp"

namespace tally {

/// The state of a stream in pieces, without a copy of its filters and sets, for programs that send or store it themselves:
/// a small head, and then a body. StateLoader reads them. Valid until the stream changes.
class TALLY_EXPORT StatePieces {
 public:
  /// Reads all filters and sets once, for their checksums. Throws std::bad_alloc.
  template <class Stream>
  StatePieces(const Stream& stream, StateKind kind, const StateOptions& options) {
    StateWriter writer(kind, options, parts_);
    stream.save(writer);
    finish(writer);
  }

  std::span<const std::byte> head() const noexcept { return head_; }
  std::uint64_t body_bytes() const noexcept { return body_bytes_; }
  /// The bytes of the body from `offset` on, where they are in memory: at most `max_bytes`, and fewer where a part of the
  /// memory ends; none from the end of the body on.
  std::span<const std::byte> body_piece(std::uint64_t offset, std::uint64_t max_bytes) const noexcept;

  /// What this has allocated itself.
  std::uint64_t memory_bytes() const noexcept;

 private:
  void finish(StateWriter& writer);

  std::vector<StatePart> parts_;
  std::vector<std::byte> head_;
  std::uint64_t body_bytes_ = 0;
};

}  // namespace tally
