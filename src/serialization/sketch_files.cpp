#include "tally/serialization/sketch_files.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "serialization/fields.hpp"
#include "serialization/sketch_parts.hpp"
#include "tally/detail/parameter_error.hpp"
#include "tally/serialization/sketch_pieces.hpp"

namespace tally {
namespace {

using detail::FileBytes;
using detail::HeaderWriter;
using detail::SketchHeader;

detail::SketchType file_type_of(const AnySketch& sketch) noexcept {
  return std::visit([](const auto& own) { return detail::sketch_type_of(&own); }, sketch);
}

template <class TopOrSaving>
void put_keys_fields(HeaderWriter& header, const TopOrSaving& top) {
  header.put(detail::capacity_at, top.capacity());
  header.put(detail::num_insertions_at, top.total_count());
  header.put(detail::floor_at, top.floor());
  header.put(detail::num_candidates_at, top.candidates().size());
}

/// The next sketch of the body.
template <class Rows>
CountMinSketch<Rows> take_sketch(const SketchHeader& header, const KeyHasher& hasher,
                                 detail::AlignedWords words, std::uint64_t total_count,
                                 std::uint64_t rounding) {
  const CountMinShape& shape = header.shape();
  return {shape, hasher, total_count, rounding,
          CounterArray(shape.num_counters(), shape.counter_bits, std::move(words))};
}

template <class Rows>
AnySketch sketch_with_rows(const SketchHeader& header, const KeyHasher& hasher, detail::SketchBody&& body) {
  if (header.kind == FileKind::count_min_window) {
    return CountMinWindow<Rows>(take_sketch<Rows>(header, hasher, std::move(body.counters[0]),
                                                  header.newer_total, header.newer_rounding),
                                take_sketch<Rows>(header, hasher, std::move(body.counters[1]),
                                                  header.older_total, header.older_rounding));
  }
  CountedKeys keys =
      detail::read_candidates(header, hasher, body.candidates, file_header_bytes + header.sketch_bytes());
  return TopKeys<Rows>(take_sketch<Rows>(header, hasher, std::move(body.counters[0]), header.sketch_total, 0),
                       std::move(keys), header.total_count, header.floor);
}

}  // namespace

FileKind kind_of(const AnySketch& sketch) noexcept { return file_type_of(sketch).kind; }

namespace {

void put_fields(HeaderWriter& header, const SpaceSaving& sketch) { put_keys_fields(header, sketch); }

template <class Rows>
void put_fields(HeaderWriter& header, const TopKeys<Rows>& sketch) {
  if (sketch.sketch().rounding() != 0) {
    detail::throw_parameter_error("TopKeys", "rounding of the sketch", sketch.sketch().rounding(),
                                  "0: bounds that are certain need a sketch that was never halved");
  }
  header.put_shape(sketch.sketch().shape());
  put_keys_fields(header, sketch);
  header.put(detail::sketch_total_at, sketch.sketch().total_count());
}

template <class Rows>
void put_fields(HeaderWriter& header, const CountMinWindow<Rows>& sketch) {
  header.put_shape(sketch.newer().shape());
  header.put(detail::num_insertions_at, sketch.newer().total_count());
  header.put(detail::rounding_at, sketch.newer().rounding());
  header.put(detail::older_total_at, sketch.older().total_count());
  header.put(detail::older_rounding_at, sketch.older().rounding());
}

std::uint16_t rows_id(const SpaceSaving&) { return 0; }
template <class Rows>
std::uint16_t rows_id(const TopKeys<Rows>&) {
  return Rows::file_id;
}
template <class Rows>
std::uint16_t rows_id(const CountMinWindow<Rows>&) {
  return Rows::file_id;
}

}  // namespace

template <SketchInFiles Sketch>
SketchPieces::SketchPieces(const Sketch& sketch) {
  const auto add = [&](const auto& words) { body_.push_back(std::as_bytes(words)); };
  const KeyHasher* hasher = nullptr;
  if constexpr (requires { sketch.newer(); }) {
    hasher = &sketch.newer().hasher();
    add(sketch.newer().storage().words());
    add(sketch.older().storage().words());
  } else {
    hasher = &sketch.hasher();
    if constexpr (requires { sketch.sketch(); }) add(sketch.sketch().storage().words());
  }
  HeaderWriter header(detail::sketch_type_of(&sketch).kind, rows_id(sketch), *hasher);
  put_fields(header, sketch);
  if constexpr (requires { sketch.candidates(); }) {
    detail::append_candidates(candidates_, sketch.candidates());
    body_.emplace_back(candidates_);
  }
  detail::Checksum checksum;
  std::uint64_t body_bytes = 0;
  for (const FileBytes part : body_) {
    checksum.add(part);
    body_bytes += part.size();
  }
  header_ = header.finish(body_bytes, checksum.value());
}

std::uint64_t SketchPieces::num_bytes() const noexcept {
  std::uint64_t bytes = header_.size();
  for (const FileBytes part : body_) bytes += part.size();
  return bytes;
}

FileBytes SketchPieces::piece(std::uint64_t offset, std::uint64_t max_bytes) const noexcept {
  FileBytes part = header_;
  for (std::size_t next = 0; offset >= part.size() && next < body_.size(); ++next) {
    offset -= part.size();
    part = body_[next];
  }
  const FileBytes rest = part.subspan(std::min<std::uint64_t>(offset, part.size()));
  return rest.first(std::min<std::uint64_t>(max_bytes, rest.size()));
}

namespace {

std::vector<FileBytes> parts_of(const SketchPieces& pieces) {
  std::vector<FileBytes> parts;
  for (std::uint64_t offset = 0; offset < pieces.num_bytes(); offset += parts.back().size()) {
    parts.push_back(pieces.piece(offset, pieces.num_bytes()));
  }
  return parts;
}

}  // namespace

std::vector<std::byte> serialize(const AnySketch& sketch) {
  return std::visit([](const auto& own) { return serialize(own); }, sketch);
}

template <SketchInFiles Sketch>
std::vector<std::byte> serialize(const Sketch& sketch) {
  const SketchPieces pieces(sketch);
  return detail::joined(parts_of(pieces));
}

template <SketchInFiles Sketch>
void save(const Sketch& sketch, const std::filesystem::path& path, Overwrite overwrite) {
  const SketchPieces pieces(sketch);
  detail::save_pieces(parts_of(pieces), path, overwrite);
}

void save(const AnySketch& sketch, const std::filesystem::path& path, Overwrite overwrite) {
  std::visit([&](const auto& own) { save(own, path, overwrite); }, sketch);
}

detail::SketchBody::SketchBody(const SketchHeader& header) {
  for (std::uint64_t i = 0; i < header.num_sketches(); ++i) counters.emplace_back(header.sketch_bytes() / 8);
  candidates.resize(header.body_bytes - header.num_sketches() * header.sketch_bytes());
}

AnySketch detail::sketch_of_body(const SketchHeader& header, const KeyHasher& hasher, SketchBody&& body) {
  Checksum checksum;
  body.for_each_part([&](FileBytes part) { checksum.add(part); });
  check_body_checksum(checksum.value(), header.body_checksum);
  std::uint64_t offset = file_header_bytes;
  for (const AlignedWords& words : body.counters) {
    check_unused_bits(header.sketch, std::as_bytes(words.words()), offset);
    offset += header.sketch_bytes();
  }
  if (header.kind == FileKind::space_saving) {
    return SpaceSaving(read_candidates(header, hasher, body.candidates, file_header_bytes), hasher,
                       header.total_count, header.floor);
  }
  std::optional<AnySketch> sketch;
  RowSchemes::with_id(header.sketch.scheme_id, [&]<class Rows>(std::type_identity<Rows>) {
    sketch.emplace(sketch_with_rows<Rows>(header, hasher, std::move(body)));
  });
  return *std::move(sketch);
}

AnySketch deserialize_sketch(std::span<const std::byte> bytes, const std::optional<HashKey>& key) {
  const SketchHeader header = detail::read_sketch_header(bytes);
  detail::check_length(header.body_bytes, bytes.size());
  const KeyHasher hasher = header.hasher(key);
  detail::SketchBody body(header);
  FileBytes rest = bytes.subspan(file_header_bytes);
  body.for_each_part([&](std::span<std::byte> part) {
    std::ranges::copy(rest.first(part.size()), part.begin());
    rest = rest.subspan(part.size());
  });
  return detail::sketch_of_body(header, hasher, std::move(body));
}

void detail::throw_other_sketch(const AnySketch& any, SketchType wanted, const std::string& subject) {
  const SketchType found = file_type_of(any);
  const std::string_view kind = name_of(wanted.kind);
  const std::string rule =
      found.kind == wanted.kind ? rule_of_scheme(kind, wanted.scheme, found.scheme) : std::string(kind);
  throw FileKindError(found.kind, rule, subject);
}

void merge(AnySketch& sketch, const AnySketch& other) {
  detail::require_same("AnySketch", "kind", name_of(kind_of(sketch)), name_of(kind_of(other)));
  detail::require_same("AnySketch", "scheme", file_type_of(sketch).scheme, file_type_of(other).scheme);
  std::visit([&]<class Sketch>(Sketch& own) { own.merge(std::get<Sketch>(other)); }, sketch);
}

// Without their own marks, functions of templates that are not marked would be hidden.
#define TALLY_INSTANTIATE(...)                                                             \
  template SketchPieces::SketchPieces(const __VA_ARGS__&);                                 \
  template TALLY_EXPORT std::vector<std::byte> serialize<__VA_ARGS__>(const __VA_ARGS__&); \
  template TALLY_EXPORT void save<__VA_ARGS__>(const __VA_ARGS__&, const std::filesystem::path&, Overwrite);
TALLY_INSTANTIATE(SpaceSaving)
TALLY_INSTANTIATE(TopKeys<CongruentialRows>)
TALLY_INSTANTIATE(TopKeys<IndependentRows>)
TALLY_INSTANTIATE(TopKeys<PairwiseRows>)
TALLY_INSTANTIATE(TopKeys<TwoHashRows>)
TALLY_INSTANTIATE(CountMinWindow<CongruentialRows>)
TALLY_INSTANTIATE(CountMinWindow<IndependentRows>)
TALLY_INSTANTIATE(CountMinWindow<PairwiseRows>)
TALLY_INSTANTIATE(CountMinWindow<TwoHashRows>)
#undef TALLY_INSTANTIATE

}  // namespace tally
