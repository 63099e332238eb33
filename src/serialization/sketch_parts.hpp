#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "serialization/parts.hpp"
#include "tally/serialization/file_kind.hpp"
#include "tally/serialization/sketch_files.hpp"
#include "tally/sketches/counted_keys.hpp"

namespace tally::detail {

/// The header of a file of kind top_keys, space_saving or count_min_window. Fields that a kind does not have
/// stay 0.
struct SketchHeader {
  FileKind kind = FileKind::top_keys;
  FilterShape sketch;  ///< a CountMinShape and its row scheme; not of space_saving
  HashId hash_id = HashId::xxh3_128;
  std::uint64_t seed_or_key_id = 0;

  std::uint64_t capacity = 0;
  std::uint64_t num_candidates = 0;
  std::uint64_t total_count = 0;
  std::uint64_t floor = 0;
  std::uint64_t sketch_total = 0;  ///< top_keys: the total of its sketch

  std::uint64_t newer_total = 0;
  std::uint64_t newer_rounding = 0;
  std::uint64_t older_total = 0;
  std::uint64_t older_rounding = 0;

  std::uint64_t body_bytes = 0;
  std::uint64_t body_checksum = 0;

  const CountMinShape& shape() const { return std::get<CountMinShape>(sketch.shape); }
  /// Bytes of the counters of one sketch; 0 for space_saving.
  std::uint64_t sketch_bytes() const { return kind == FileKind::space_saving ? 0 : sketch.num_bytes(); }
  /// How many sketches the body begins with.
  std::uint64_t num_sketches() const {
    return kind == FileKind::space_saving ? 0 : kind == FileKind::count_min_window ? 2 : 1;
  }
  KeyHasher hasher(const std::optional<HashKey>& key) const {
    return hasher_of_file(hash_id, seed_or_key_id, key);
  }
};

/// Reads and checks a header. Throws FileKindError for a filter, FormatError.
SketchHeader read_sketch_header(FileBytes bytes);

/// The body of a file, read but not checked: the counters of its sketches, and its candidates.
struct SketchBody {
  /// Of the header's sizes, all 0. Throws std::bad_alloc.
  explicit SketchBody(const SketchHeader& header);

  /// Calls use(bytes) for each part, in the order of the file.
  template <class Use>
  void for_each_part(Use use) {
    for (AlignedWords& words : counters) use(std::as_writable_bytes(words.words()));
    use(std::span(candidates));
  }

  std::vector<AlignedWords> counters;
  std::vector<std::byte> candidates;
};

/// Checks the body, and makes the sketch of it. Throws FormatError, and then has not taken the body; std::bad_alloc.
AnySketch sketch_of_body(const SketchHeader& header, const KeyHasher& hasher, SketchBody&& body);

/// Appends the candidates in their file format.
void append_candidates(std::vector<std::byte>& bytes, const CountedKeys& keys);

/// The candidates of a file, from the part of its body that begins at byte `offset` of the file. Throws
/// FormatError unless SpaceSaving and TopKeys can hold them with this floor and total.
CountedKeys read_candidates(const SketchHeader& header, const KeyHasher& hasher, FileBytes part,
                            std::uint64_t offset);

}  // namespace tally::detail
