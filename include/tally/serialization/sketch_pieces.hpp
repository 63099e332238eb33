#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tally/export.hpp"
#include "tally/serialization/file_header.hpp"
#include "tally/serialization/sketch_files.hpp"

namespace tally {

/// The file of a sketch in pieces, without a copy of its counters: only the candidates are copied. `serialize` returns the
/// same bytes. SketchLoader reads them. Valid until the sketch changes.
class TALLY_EXPORT SketchPieces {
 public:
  /// Reads the whole sketch once, for the checksum. Throws what `serialize` throws.
  template <SketchInFiles Sketch>
  explicit SketchPieces(const Sketch& sketch);

  /// Of the file.
  std::uint64_t num_bytes() const noexcept;
  /// The bytes of the file from `offset` on, where they are in memory: at most `max_bytes`, and fewer where a part of the
  /// memory ends; none from the end on.
  std::span<const std::byte> piece(std::uint64_t offset, std::uint64_t max_bytes) const noexcept;

  /// What this has allocated itself.
  std::uint64_t memory_bytes() const noexcept { return candidates_.capacity(); }

 private:
  std::array<std::byte, file_header_bytes> header_{};
  std::vector<std::byte> candidates_;
  std::vector<std::span<const std::byte>> body_;
};

}  // namespace tally
