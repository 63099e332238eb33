#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

#include "serialization/fields.hpp"
#include "tally/detail/little_endian.hpp"
#include "tally/storage/counter_array.hpp"

namespace tally {
namespace {

using namespace detail;  // the positions of the fields

// Like PNG's: a byte with its high bit set, and an end of line that a transfer as text would change.
constexpr std::string_view magic = "\x89TALLY\r\n";

/// Whether the byte, between own_fields_at and body_bytes_at, belongs to a field of the kind.
bool is_used(FileKind kind, std::size_t at) {
  const auto is_in = [&](std::size_t begin, std::size_t end) { return at >= begin && at < end; };
  switch (kind) {
    case FileKind::dleft:
      return is_in(own_fields_at, grows_at + 1) || is_in(num_full_at, body_bytes_at);
    case FileKind::compact_dleft:
      return at == remainder_bits_at || is_in(num_full_at, body_bytes_at);
    case FileKind::count_min:
      return is_in(num_copies_at, num_copies_at + 4) || is_in(rounding_at, rounding_at + 8);
    case FileKind::top_keys:
    case FileKind::count_min_window:
      return is_in(num_copies_at, num_copies_at + 4) || is_in(rounding_at, body_bytes_at);
    case FileKind::space_saving:
      return is_in(floor_at, body_bytes_at);
    default:
      return false;
  }
}

void check_bytes_of_header(FileBytes bytes) {
  if (bytes.empty()) throw FormatError("it is empty", 0);
  for (std::size_t i = 0; i < std::min(magic.size(), bytes.size()); ++i) {
    if (bytes[magic_at + i] == static_cast<std::byte>(magic[i])) continue;
    throw FormatError("this is not a tally file: it does not start with the bytes 89 54 41 4c 4c 59 0d 0a",
                      magic_at + i);
  }
  if (bytes.size() < file_header_bytes) {
    throw FormatError("length is " + std::to_string(bytes.size()) + " bytes; must be at least " +
                          std::to_string(file_header_bytes) + ", the header",
                      bytes.size());
  }
  const auto version = field<std::uint16_t>(bytes, version_at);
  if (version != file_format_version) {
    throw_field_error("format version", version,
                      std::to_string(file_format_version) + ", the version that this library reads",
                      version_at);
  }
  if (field<std::uint64_t>(bytes, header_checksum_at) != detail::checksum(bytes.first(header_checksum_at))) {
    throw FormatError("the checksum of the header does not match; the file is damaged", header_checksum_at);
  }
}

/// The fields that every kind has, although with different meanings.
struct CommonFields {
  explicit CommonFields(FileBytes bytes)
      : scheme_id(field<std::uint16_t>(bytes, scheme_id_at)),
        num_positions(field<std::uint64_t>(bytes, num_positions_at)),
        num_hashes(field<std::uint32_t>(bytes, num_hashes_at)),
        counter_bits(field<std::uint16_t>(bytes, counter_bits_at)),
        update(field<std::uint16_t>(bytes, update_at)),
        threshold(field<std::uint64_t>(bytes, threshold_at)) {}

  std::uint16_t scheme_id;
  std::uint64_t num_positions;
  std::uint32_t num_hashes;
  std::uint16_t counter_bits;
  std::uint16_t update;
  std::uint64_t threshold;
};

FilterShape read_dleft_shape(FileBytes bytes, const CommonFields& fields) {
  const auto cells_per_bucket = field<std::uint16_t>(bytes, cells_per_bucket_at);
  const auto remainder_bits = field<std::uint8_t>(bytes, remainder_bits_at);
  const auto least_remainder_bits = field<std::uint8_t>(bytes, least_remainder_bits_at);
  const auto num_doublings = field<std::uint8_t>(bytes, num_doublings_at);
  const auto grows = field<std::uint8_t>(bytes, grows_at);

  require_field("scheme id", fields.scheme_id, BucketSchemes::least_id, BucketSchemes::most_id, scheme_id_at,
                " for the kind dleft");
  require_field("num_positions", fields.num_positions, 1, max_num_buckets, num_positions_at,
                " for the kind dleft");
  require_field("num_hashes", fields.num_hashes, 1, max_num_subtables, num_hashes_at, " for the kind dleft");
  require_field("counter_bits", fields.counter_bits, 0, max_dleft_counter_bits, counter_bits_at,
                " for the kind dleft");
  require_field("moves", fields.update, 0, static_cast<std::uint16_t>(DLeftMoves::search), update_at);
  require_field("spill_capacity", fields.threshold, 0, max_spill_capacity, threshold_at);
  require_field("cells_per_bucket", cells_per_bucket, 1, CellTable::max_cells_per_bucket,
                cells_per_bucket_at);
  require_field("remainder_bits", remainder_bits, 1, max_remainder_bits, remainder_bits_at);
  require_field("least_remainder_bits", least_remainder_bits, 1, remainder_bits, least_remainder_bits_at);
  require_field("num_doublings", num_doublings, 0, remainder_bits - least_remainder_bits, num_doublings_at);
  require_field("grows", grows, 0, 1, grows_at);
  const DLeftShape shape{.buckets_per_subtable = fields.num_positions,
                         .num_subtables = fields.num_hashes,
                         .cells_per_bucket = cells_per_bucket,
                         .remainder_bits = remainder_bits,
                         .counter_bits = fields.counter_bits,
                         .least_remainder_bits = least_remainder_bits,
                         .num_doublings = num_doublings,
                         .spill_capacity = fields.threshold,
                         .moves = static_cast<DLeftMoves>(fields.update),
                         .grows = grows != 0};
  if (!CellTable::is_width(shape.cell_bits())) {
    throw_field_error("remainder_bits", remainder_bits, "8, 12, 16, 24 or 32 less counter_bits",
                      remainder_bits_at);
  }
  return {shape, fields.scheme_id};
}

FilterShape read_compact_shape(FileBytes bytes, const CommonFields& fields) {
  constexpr std::string_view for_kind = " for the kind compact-dleft";
  const auto remainder_bits = field<std::uint8_t>(bytes, remainder_bits_at);
  require_field("scheme id", fields.scheme_id, RotationBuckets::file_id, RotationBuckets::file_id,
                scheme_id_at, for_kind);
  require_field("num_positions", fields.num_positions, 1, max_num_buckets, num_positions_at, for_kind);
  require_field("num_hashes", fields.num_hashes, 2, 2, num_hashes_at, for_kind);
  require_field("counter_bits", fields.counter_bits, 0, 0, counter_bits_at, for_kind);
  if (fields.update != static_cast<std::uint16_t>(DLeftMoves::none) &&
      fields.update != static_cast<std::uint16_t>(DLeftMoves::search)) {
    throw_field_error("moves", fields.update, "0 (none) or 2 (search)" + std::string(for_kind), update_at);
  }
  require_field("spill_capacity", fields.threshold, 0, max_spill_capacity, threshold_at);
  require_field("remainder_bits", remainder_bits, least_compact_remainder_bits, max_compact_remainder_bits,
                remainder_bits_at, for_kind);
  return {CompactDLeftShape{.num_lines_per_subtable = fields.num_positions,
                            .remainder_bits = remainder_bits,
                            .spill_capacity = fields.threshold,
                            .moves = static_cast<DLeftMoves>(fields.update)},
          fields.scheme_id};
}

// A filter can be constructed from what passes. If each field is in range, the number of positions is the
// wrong one.
FilterShape checked(FilterShape shape) {
  try {
    check_shape(shape);
  } catch (const std::invalid_argument& error) {
    throw FormatError(std::string("num_positions: ") + error.what(), num_positions_at);
  }
  return shape;
}

FilterShape read_count_min_shape(FileBytes bytes, const CommonFields& fields) {
  require_field("threshold", fields.threshold, 0, 0, threshold_at, " for the kind count-min");
  return read_sketch_shape(bytes, FileKind::count_min);
}

FilterShape read_bloom_shape(const CommonFields& fields) {
  require_field("counter_bits", fields.counter_bits, 1, 1, counter_bits_at, " for Bloom filters");
  require_field("threshold", fields.threshold, 0, 0, threshold_at, " for Bloom filters");
  require_field("update policy", fields.update, 0, 0, update_at, " for this kind");
  return bloom_filter_shape(fields.num_positions, fields.num_hashes, fields.scheme_id);
}

FilterShape read_counting_bloom_shape(const CommonFields& fields) {
  if (!CounterArray::is_width(fields.counter_bits)) {
    throw_field_error("counter_bits", fields.counter_bits, "1 to 8, 16, 32 or 64", counter_bits_at);
  }
  if (fields.threshold < 1 || fields.threshold > ~std::uint64_t{0} >> (64 - fields.counter_bits)) {
    throw_field_error("threshold", fields.threshold, "1 to 2^counter_bits - 1", threshold_at);
  }
  require_field("update policy", fields.update, 0, 0, update_at, " for this kind");
  if (fields.scheme_id == BlockedScheme::file_id) {
    return {BlockedCountingBloomShape{fields.num_positions, fields.num_hashes, fields.counter_bits,
                                      fields.threshold},
            fields.scheme_id};
  }
  return {CountingBloomShape{fields.num_positions, fields.num_hashes, fields.counter_bits, fields.threshold},
          fields.scheme_id};
}

FilterShape read_threshold_shape(const CommonFields& fields) {
  require_field("threshold", fields.threshold, 1, max_threshold_limit, threshold_at);
  const std::uint32_t width = CounterArray::width_for(fields.threshold);
  require_field("counter_bits", std::uint32_t{fields.counter_bits}, width, width, counter_bits_at,
                " for this threshold");
  require_field("update policy", fields.update, 0, 1, update_at);
  return {ThresholdShape{fields.num_positions, fields.num_hashes, fields.threshold,
                         static_cast<CounterUpdate>(fields.update)},
          fields.scheme_id};
}

// What all kinds with one of AllSchemes have in common.
void check_positions(FilterKind kind, const CommonFields& fields) {
  require_field("scheme id", fields.scheme_id, AllSchemes::least_id, AllSchemes::most_id, scheme_id_at);
  if (!uses_scheme(kind, fields.scheme_id)) {
    throw_field_error(
        "scheme id", fields.scheme_id,
        "2 (blocked) or 10 (register-blocked) for the kind blocked-bloom, 2 for blocked-counting-bloom, "
        "and another one for other kinds",
        scheme_id_at);
  }
  require_field("num_positions", fields.num_positions, 1, max_num_positions, num_positions_at);
  require_field("num_hashes", fields.num_hashes, 1, max_num_hashes, num_hashes_at);
}

FilterShape read_shape(FileBytes bytes, FilterKind kind) {
  const CommonFields fields(bytes);
  switch (kind) {
    case FilterKind::bloom:
    case FilterKind::blocked_bloom:
      check_positions(kind, fields);
      return checked(read_bloom_shape(fields));
    case FilterKind::counting_bloom:
    case FilterKind::blocked_counting_bloom:
      check_positions(kind, fields);
      return checked(read_counting_bloom_shape(fields));
    case FilterKind::threshold:
      check_positions(kind, fields);
      return checked(read_threshold_shape(fields));
    case FilterKind::dleft:
      return checked(read_dleft_shape(bytes, fields));
    case FilterKind::compact_dleft:
      return checked(read_compact_shape(bytes, fields));
    case FilterKind::count_min:
      break;
  }
  return read_count_min_shape(bytes, fields);
}

FilterTotals read_totals(FileBytes bytes, const FilterShape& shape) {
  FilterTotals totals = {field<std::uint64_t>(bytes, num_insertions_at),
                         field<std::uint64_t>(bytes, num_removes_at),
                         field<std::uint64_t>(bytes, num_refused_removes_at)};
  if (is_counting_bloom(shape.kind())) return totals;
  if (traits_of(shape.kind()).can_fill_up) {
    totals.num_full = field<std::uint64_t>(bytes, num_full_at);
    totals.num_rescues = field<std::uint64_t>(bytes, num_rescues_at);
    totals.num_fingerprints = field<std::uint64_t>(bytes, num_fingerprints_at);
    require_field("num_fingerprints", totals.num_fingerprints, 0, shape.num_positions(), num_fingerprints_at,
                  ", the number of cells");
    return totals;
  }
  if (shape.kind() == FilterKind::count_min) totals.rounding = field<std::uint64_t>(bytes, rounding_at);
  require_field("num_removes", totals.num_removes, 0, 0, num_removes_at, " for this kind");
  require_field("num_refused_removes", totals.num_refused_removes, 0, 0, num_refused_removes_at,
                " for this kind");
  return totals;
}

}  // namespace

FileHeader read_header(std::span<const std::byte> bytes) {
  const FileKind kind = check_frame(bytes);
  if (!is_filter(kind)) throw FileKindError(kind, "a filter");
  FileHeader header;
  header.shape = read_shape(bytes, static_cast<FilterKind>(kind));
  header.hash_id = static_cast<HashId>(field<std::uint16_t>(bytes, hash_id_at));
  header.seed_or_key_id = field<std::uint64_t>(bytes, seed_at);
  header.totals = read_totals(bytes, header.shape);
  header.body_checksum = field<std::uint64_t>(bytes, body_checksum_at);
  const auto body_bytes = field<std::uint64_t>(bytes, body_bytes_at);
  require_field("body length", body_bytes, header.body_bytes(), header.body_bytes(), body_bytes_at,
                ", as the parameters imply");
  return header;
}

KeyHasher FileHeader::hasher(const std::optional<HashKey>& key) const {
  return hasher_of_file(hash_id, seed_or_key_id, key);
}

FileKind file_kind(std::span<const std::byte> bytes) {
  check_bytes_of_header(bytes);
  const auto number = field<std::uint16_t>(bytes, kind_at);
  if (number >= 1 && number <= num_file_kinds) return static_cast<FileKind>(number);
  std::string kinds;
  for (std::uint16_t i = 1; i <= num_file_kinds; ++i) {
    kinds += std::string(i == 1                ? ""
                         : i == num_file_kinds ? " or "
                                               : ", ") +
             std::to_string(i) + " (" + std::string(name_of(static_cast<FileKind>(i))) + ")";
  }
  throw_field_error("kind", number, kinds, kind_at);
}

namespace detail {

FileKind check_frame(FileBytes bytes) {
  const FileKind kind = file_kind(bytes);
  for (std::size_t i = own_fields_at; i < body_bytes_at; ++i) {
    if (bytes[i] == std::byte{0} || is_used(kind, i)) continue;
    throw_field_error("reserved byte", std::to_integer<int>(bytes[i]), "0", i);
  }
  const auto hash_id = field<std::uint16_t>(bytes, hash_id_at);
  if (hash_id < 1 || hash_id > 2)
    throw_field_error("hash id", hash_id, "1 (xxh3-128) or 2 (highwayhash-128)", hash_id_at);
  return kind;
}

FilterShape read_sketch_shape(FileBytes bytes, FileKind kind) {
  const CommonFields fields(bytes);
  const std::string for_kind = " for the kind " + std::string(name_of(kind));
  const auto num_copies = field<std::uint32_t>(bytes, num_copies_at);
  require_field("scheme id", fields.scheme_id, CongruentialRows::file_id, TwoHashRows::file_id, scheme_id_at,
                for_kind);
  require_field("num_positions", fields.num_positions, 1, max_num_positions, num_positions_at);
  require_field("num_hashes", fields.num_hashes, 1, max_num_hashes, num_hashes_at);
  if (fields.counter_bits < 8 || !CounterArray::is_width(fields.counter_bits)) {
    throw_field_error("counter_bits", fields.counter_bits, "8, 16, 32 or 64" + for_kind, counter_bits_at);
  }
  require_field("update policy", fields.update, 0, 1, update_at);
  const std::uint32_t most_copies =
      fields.scheme_id == TwoHashRows::file_id ? max_num_hashes / fields.num_hashes : 1;
  require_field("num_copies", num_copies, 1, most_copies, num_copies_at, " for this scheme and num_hashes");
  return checked({CountMinShape{.width = fields.num_positions,
                                .depth = fields.num_hashes,
                                .num_copies = num_copies,
                                .counter_bits = fields.counter_bits,
                                .update = static_cast<CounterUpdate>(fields.update)},
                  fields.scheme_id});
}

KeyHasher hasher_of_file(HashId id, std::uint64_t seed_or_key_id, const std::optional<HashKey>& key) {
  if (id == HashId::xxh3_128) return KeyHasher(seed_or_key_id);
  const std::string made_with = "tally file: made with the keyed hash " + std::string(name_of(id)) +
                                " and the key with the id " + std::to_string(seed_or_key_id);
  if (!key.has_value()) throw std::invalid_argument(made_with + "; give that key");
  const KeyHasher hasher = KeyHasher::keyed(*key);
  if (hasher.seed_or_key_id() == seed_or_key_id) return hasher;
  throw std::invalid_argument(made_with + "; the given key has the id " +
                              std::to_string(hasher.seed_or_key_id()));
}

HeaderWriter::HeaderWriter(FileKind kind, std::uint16_t scheme_id, const KeyHasher& hasher) {
  std::memcpy(bytes_.data() + magic_at, magic.data(), magic.size());
  put(version_at, file_format_version);
  put(kind_at, static_cast<std::uint16_t>(kind));
  put(hash_id_at, static_cast<std::uint16_t>(hasher.id()));
  put(scheme_id_at, scheme_id);
  put(seed_at, hasher.seed_or_key_id());
}

void HeaderWriter::put_shape(const CountMinShape& shape) {
  put(num_positions_at, shape.width);
  put(num_hashes_at, shape.depth);
  put(counter_bits_at, static_cast<std::uint16_t>(shape.counter_bits));
  put(update_at, static_cast<std::uint16_t>(shape.update));
  put(num_copies_at, shape.num_copies);
}

std::array<std::byte, file_header_bytes> HeaderWriter::finish(std::uint64_t body_bytes,
                                                              std::uint64_t body_checksum) {
  put(body_bytes_at, body_bytes);
  put(body_checksum_at, body_checksum);
  put(header_checksum_at, checksum(FileBytes(bytes_).first(header_checksum_at)));
  return bytes_;
}

std::array<std::byte, file_header_bytes> header_of(const FilterView& filter) {
  return header_of(filter, body_checksum({std::as_bytes(filter.words), std::as_bytes(filter.side_words)}));
}

std::array<std::byte, file_header_bytes> header_of(const FilterView& filter, std::uint64_t checksum_of_body) {
  const auto narrow = [](auto value) { return static_cast<std::uint16_t>(value); };
  const auto byte = [](auto value) { return static_cast<std::uint8_t>(value); };
  const FilterShape& shape = filter.shape;
  const FilterTotals& totals = filter.totals;

  HeaderWriter header(static_cast<FileKind>(shape.kind()), shape.scheme_id, filter.hasher);
  const auto put = [&](std::size_t at, auto value) { header.put(at, value); };
  put(num_positions_at, shape.num_positions());
  put(num_hashes_at, shape.num_hashes());
  put(counter_bits_at, narrow(shape.counter_bits()));
  put(threshold_at, shape.made_for_theta().value_or(0));
  if (const auto* threshold = std::get_if<ThresholdShape>(&shape.shape)) {
    put(update_at, narrow(threshold->update));
  } else if (const auto* count_min = std::get_if<CountMinShape>(&shape.shape)) {
    header.put_shape(*count_min);
    put(rounding_at, totals.rounding);
  } else if (const auto* dleft = std::get_if<DLeftShape>(&shape.shape)) {
    put(num_positions_at, dleft->buckets_per_subtable);
    put(threshold_at, dleft->spill_capacity);
    put(update_at, narrow(dleft->moves));
    put(cells_per_bucket_at, narrow(dleft->cells_per_bucket));
    put(remainder_bits_at, byte(dleft->remainder_bits));
    put(least_remainder_bits_at, byte(dleft->least_remainder_bits));
    put(num_doublings_at, byte(dleft->num_doublings));
    put(grows_at, byte(dleft->grows));
  } else if (const auto* compact = std::get_if<CompactDLeftShape>(&shape.shape)) {
    put(num_positions_at, compact->num_lines_per_subtable);
    put(threshold_at, compact->spill_capacity);
    put(update_at, narrow(compact->moves));
    put(remainder_bits_at, byte(compact->remainder_bits));
  }
  if (traits_of(shape.kind()).can_fill_up) {
    put(num_full_at, totals.num_full);
    put(num_rescues_at, totals.num_rescues);
    put(num_fingerprints_at, totals.num_fingerprints);
  }
  put(num_insertions_at, totals.num_insertions);
  put(num_removes_at, totals.num_removes);
  put(num_refused_removes_at, totals.num_refused_removes);
  return header.finish(shape.num_bytes(), checksum_of_body);
}

}  // namespace detail
}  // namespace tally
