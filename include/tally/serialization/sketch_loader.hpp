#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "tally/export.hpp"
#include "tally/serialization/sketch_files.hpp"
#include "tally/serialization/sketch_pieces.hpp"

namespace tally {

/// Loads a sketch's file whose bytes arrive in pieces of any size, as FilterLoader loads that of a filter. The counters go
/// straight to where the sketch will have them; the candidates are copied once.
class TALLY_EXPORT SketchLoader {
 public:
  explicit SketchLoader(std::uint64_t max_body_bytes, const std::optional<HashKey>& key = {});
  SketchLoader(SketchLoader&&) noexcept;
  SketchLoader& operator=(SketchLoader&&) noexcept;
  ~SketchLoader();

  /// The next bytes of the file, with the errors of FilterLoader::add and `deserialize_sketch`. If it throws, nothing has
  /// changed, except if there is no memory to make the sketch of a complete file: then num_bytes() is 0, and the load begins
  /// anew.
  void add(std::span<const std::byte> bytes);

  /// Bytes of the file that have been added.
  std::uint64_t num_bytes() const noexcept;
  /// Whether the file has been added to its end, and is undamaged.
  bool is_complete() const noexcept;
  /// The bytes of the file that have been added, from `offset` on, until it is complete.
  std::span<const std::byte> piece(std::uint64_t offset, std::uint64_t max_bytes) const noexcept;
  std::uint64_t memory_bytes() const noexcept;

  /// The sketch. Throws FormatError if the end is missing.
  AnySketch take() &&;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tally
