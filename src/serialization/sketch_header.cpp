#include <string>

#include "serialization/fields.hpp"
#include "serialization/sketch_parts.hpp"

namespace tally::detail {
namespace {

// The lengths of keys are added to it, so it is small enough not to overflow.
constexpr std::uint64_t most_body_bytes = std::uint64_t{1} << 62;

// The fields that a kind without a sketch, or without keys, does not use.
void require_zero(FileBytes bytes, std::size_t begin, std::size_t end, FileKind kind) {
  for (std::size_t i = begin; i < end; ++i) {
    if (bytes[i] == std::byte{0}) continue;
    throw_field_error("byte", std::to_integer<int>(bytes[i]), "0 for the kind " + std::string(name_of(kind)),
                      i);
  }
}

void read_keys_fields(FileBytes bytes, SketchHeader& header) {
  header.capacity = field<std::uint64_t>(bytes, capacity_at);
  header.total_count = field<std::uint64_t>(bytes, num_insertions_at);
  header.floor = field<std::uint64_t>(bytes, floor_at);
  header.num_candidates = field<std::uint64_t>(bytes, num_candidates_at);
  require_field("capacity", header.capacity, 1, CountedKeys::max_capacity, capacity_at);
  require_field("num_candidates", header.num_candidates, 0, header.capacity, num_candidates_at,
                ", the capacity");
  const bool is_full = header.num_candidates == header.capacity;
  const bool is_known = header.total_count != ~std::uint64_t{0};  // not a sum that did not fit
  const std::uint64_t most_floor = is_known ? header.total_count / header.capacity : header.total_count;
  require_field("floor", header.floor, 0, is_full ? most_floor : 0, floor_at,
                is_full ? ", total_count / capacity" : " with fewer candidates than the capacity");
}

/// The window's body has one length. For the other kinds, keys of any length follow what is counted here.
void check_body_bytes(const SketchHeader& header) {
  constexpr std::uint64_t candidate_bytes = 32;
  const bool is_window = header.kind == FileKind::count_min_window;
  const std::uint64_t least =
      is_window ? 2 * header.sketch_bytes() : header.sketch_bytes() + candidate_bytes * header.num_candidates;
  const bool has_keys = !is_window && header.num_candidates > 0;
  require_field("body length", header.body_bytes, least, has_keys ? most_body_bytes : least, body_bytes_at,
                ", as the parameters imply");
  if (header.body_bytes % 8 != 0)
    throw_field_error("body length", header.body_bytes, "a multiple of 8", body_bytes_at);
}

}  // namespace

SketchHeader read_sketch_header(FileBytes bytes) {
  SketchHeader header;
  header.kind = check_frame(bytes);
  if (is_filter(header.kind)) throw FileKindError(header.kind, "top-keys, space-saving or count-min-window");
  if (header.kind == FileKind::space_saving) {
    require_zero(bytes, scheme_id_at, seed_at, header.kind);
    require_zero(bytes, num_positions_at, capacity_at, header.kind);
  } else {
    header.sketch = read_sketch_shape(bytes, header.kind);
  }
  require_zero(bytes, num_removes_at, own_fields_at, header.kind);
  header.hash_id = static_cast<HashId>(field<std::uint16_t>(bytes, hash_id_at));
  header.seed_or_key_id = field<std::uint64_t>(bytes, seed_at);
  if (header.kind == FileKind::count_min_window) {
    require_zero(bytes, threshold_at, num_insertions_at, header.kind);
    header.newer_total = field<std::uint64_t>(bytes, num_insertions_at);
    header.newer_rounding = field<std::uint64_t>(bytes, rounding_at);
    header.older_total = field<std::uint64_t>(bytes, older_total_at);
    header.older_rounding = field<std::uint64_t>(bytes, older_rounding_at);
  } else {
    read_keys_fields(bytes, header);
    if (header.kind == FileKind::top_keys) header.sketch_total = field<std::uint64_t>(bytes, sketch_total_at);
  }
  header.body_bytes = field<std::uint64_t>(bytes, body_bytes_at);
  header.body_checksum = field<std::uint64_t>(bytes, body_checksum_at);
  check_body_bytes(header);
  return header;
}

}  // namespace tally::detail
