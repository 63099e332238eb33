#include "tally/serialization/sketch_files.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "serialization/fields.hpp"
#include "serialization/sketch_parts.hpp"
#include "tally/detail/parameter_error.hpp"

namespace tally {
namespace {

using detail::FileBytes;
using detail::HeaderWriter;
using detail::SketchHeader;

template <class Rows>
constexpr FileKind kind_of_type(const TopKeys<Rows>*) {
  return FileKind::top_keys;
}
template <class Rows>
constexpr FileKind kind_of_type(const CountMinWindow<Rows>*) {
  return FileKind::count_min_window;
}
constexpr FileKind kind_of_type(const SpaceSaving*) { return FileKind::space_saving; }

/// The properties of a sketch type as text, for the error when two differ.
template <class Rows>
std::string_view scheme_of_type(const TopKeys<Rows>*) {
  return Rows::name;
}
template <class Rows>
std::string_view scheme_of_type(const CountMinWindow<Rows>*) {
  return Rows::name;
}
std::string_view scheme_of_type(const SpaceSaving*) { return "none"; }

/// The file is assembled from its body; the header is filled in later.
std::vector<std::byte> begun_file(std::uint64_t body_bytes) {
  std::vector<std::byte> bytes;
  bytes.reserve(file_header_bytes + body_bytes);
  bytes.resize(file_header_bytes);
  return bytes;
}
std::vector<std::byte> finished(std::vector<std::byte> bytes, HeaderWriter& header) {
  const FileBytes body = FileBytes(bytes).subspan(file_header_bytes);
  const auto first = header.finish(body.size(), detail::checksum(body));
  std::ranges::copy(first, bytes.begin());
  return bytes;
}

std::uint64_t bytes_of(const CountedKeys& keys) {
  std::uint64_t sum = 8;
  for (std::uint32_t i = 0; i < keys.size(); ++i) sum += 32 + keys.key_bytes(i).size();
  return sum;
}

template <class Sketch>
void append_counters(std::vector<std::byte>& bytes, const Sketch& sketch) {
  const FileBytes words = std::as_bytes(sketch.storage().words());
  bytes.insert(bytes.end(), words.begin(), words.end());
}

template <class TopOrSaving>
void put_keys_fields(HeaderWriter& header, const TopOrSaving& top) {
  header.put(detail::capacity_at, top.capacity());
  header.put(detail::num_insertions_at, top.total_count());
  header.put(detail::floor_at, top.floor());
  header.put(detail::num_candidates_at, top.candidates().size());
}

/// The sketch whose counters begin at byte `at` of the body.
template <class Rows>
CountMinSketch<Rows> read_sketch(const SketchHeader& header, const KeyHasher& hasher, FileBytes body,
                                 std::uint64_t at, std::uint64_t total_count, std::uint64_t rounding) {
  const FileBytes part = body.subspan(at, header.sketch_bytes());
  detail::check_unused_bits(header.sketch, part, file_header_bytes + at);
  detail::AlignedWords words(part.size() / 8);
  std::memcpy(words.data(), part.data(), part.size());
  const CountMinShape& shape = header.shape();
  return {shape, hasher, total_count, rounding,
          CounterArray(shape.num_counters(), shape.counter_bits, std::move(words))};
}

template <class Rows>
AnySketch read_with_rows(const SketchHeader& header, const KeyHasher& hasher, FileBytes body) {
  const std::uint64_t sketch_bytes = header.sketch_bytes();
  if (header.kind == FileKind::count_min_window) {
    return CountMinWindow<Rows>(
        read_sketch<Rows>(header, hasher, body, 0, header.newer_total, header.newer_rounding),
        read_sketch<Rows>(header, hasher, body, sketch_bytes, header.older_total, header.older_rounding));
  }
  CountedKeys keys =
      detail::read_candidates(header, hasher, body.subspan(sketch_bytes), file_header_bytes + sketch_bytes);
  return TopKeys<Rows>(read_sketch<Rows>(header, hasher, body, 0, header.sketch_total, 0), std::move(keys),
                       header.total_count, header.floor);
}

}  // namespace

FileKind kind_of(const AnySketch& sketch) noexcept {
  return std::visit([](const auto& own) { return kind_of_type(&own); }, sketch);
}

std::vector<std::byte> serialize(const SpaceSaving& sketch) {
  std::vector<std::byte> bytes = begun_file(bytes_of(sketch.candidates()));
  detail::append_candidates(bytes, sketch.candidates());
  HeaderWriter header(FileKind::space_saving, 0, sketch.hasher());
  put_keys_fields(header, sketch);
  return finished(std::move(bytes), header);
}

template <RowScheme Rows>
std::vector<std::byte> serialize(const TopKeys<Rows>& sketch) {
  if (sketch.sketch().rounding() != 0) {
    detail::throw_parameter_error("TopKeys", "rounding of the sketch",
                                  std::to_string(sketch.sketch().rounding()),
                                  "0: bounds that are certain need a sketch that was never halved");
  }
  std::vector<std::byte> bytes =
      begun_file(num_bytes(sketch.sketch().shape()) + bytes_of(sketch.candidates()));
  append_counters(bytes, sketch.sketch());
  detail::append_candidates(bytes, sketch.candidates());
  HeaderWriter header(FileKind::top_keys, Rows::file_id, sketch.hasher());
  header.put_shape(sketch.sketch().shape());
  put_keys_fields(header, sketch);
  header.put(detail::sketch_total_at, sketch.sketch().total_count());
  return finished(std::move(bytes), header);
}

template <RowScheme Rows>
std::vector<std::byte> serialize(const CountMinWindow<Rows>& sketch) {
  std::vector<std::byte> bytes = begun_file(2 * num_bytes(sketch.newer().shape()));
  append_counters(bytes, sketch.newer());
  append_counters(bytes, sketch.older());
  HeaderWriter header(FileKind::count_min_window, Rows::file_id, sketch.newer().hasher());
  header.put_shape(sketch.newer().shape());
  header.put(detail::num_insertions_at, sketch.newer().total_count());
  header.put(detail::rounding_at, sketch.newer().rounding());
  header.put(detail::older_total_at, sketch.older().total_count());
  header.put(detail::older_rounding_at, sketch.older().rounding());
  return finished(std::move(bytes), header);
}

std::vector<std::byte> serialize(const AnySketch& sketch) {
  return std::visit([](const auto& own) { return serialize(own); }, sketch);
}

AnySketch deserialize_sketch(std::span<const std::byte> bytes, const std::optional<HashKey>& key) {
  const SketchHeader header = detail::read_sketch_header(bytes);
  detail::check_length(header.body_bytes, bytes.size());
  const FileBytes body = bytes.subspan(file_header_bytes);
  detail::check_body_checksum(body, header.body_checksum);
  const KeyHasher hasher = header.hasher(key);
  if (header.kind == FileKind::space_saving) {
    return SpaceSaving(detail::read_candidates(header, hasher, body, file_header_bytes), hasher,
                       header.total_count, header.floor);
  }
  std::optional<AnySketch> sketch;
  RowSchemes::with_id(header.sketch.scheme_id, [&]<class Rows>(std::type_identity<Rows>) {
    sketch.emplace(read_with_rows<Rows>(header, hasher, body));
  });
  return *std::move(sketch);
}

void merge(AnySketch& sketch, const AnySketch& other) {
  detail::require_same("AnySketch", "kind", name_of(kind_of(sketch)), name_of(kind_of(other)));
  const auto scheme = [](const auto& own) { return scheme_of_type(&own); };
  detail::require_same("AnySketch", "scheme", std::visit(scheme, sketch), std::visit(scheme, other));
  std::visit([&]<class Sketch>(Sketch& own) { own.merge(std::get<Sketch>(other)); }, sketch);
}

#define TALLY_INSTANTIATE(Rows)                                          \
  template std::vector<std::byte> serialize<Rows>(const TopKeys<Rows>&); \
  template std::vector<std::byte> serialize<Rows>(const CountMinWindow<Rows>&);
TALLY_INSTANTIATE(CongruentialRows)
TALLY_INSTANTIATE(IndependentRows)
TALLY_INSTANTIATE(PairwiseRows)
TALLY_INSTANTIATE(TwoHashRows)
#undef TALLY_INSTANTIATE

}  // namespace tally
