#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "tally/export.hpp"
#include "tally/hashing/scheme_list.hpp"
#include "tally/serialization.hpp"
#include "tally/serialization/file_kind.hpp"
#include "tally/sketches/count_min_window.hpp"
#include "tally/sketches/space_saving.hpp"
#include "tally/sketches/top_keys.hpp"

// Files of the structures that AnyFilter does not hold: those that store the bytes of keys, and the window.

namespace tally {
namespace detail {

template <class Schemes>
struct SketchVariantOver;
template <class... Rows>
struct SketchVariantOver<SchemeList<Rows...>> {
  using type = std::variant<SpaceSaving, TopKeys<Rows>..., CountMinWindow<Rows>...>;
};

template <class Sketch, class... Alternatives>
constexpr bool is_sketch_in(const std::variant<Alternatives...>*) {
  return (std::is_same_v<Sketch, Alternatives> || ...);
}

}  // namespace detail

/// Everything that load_sketch can read.
using AnySketch = detail::SketchVariantOver<RowSchemes>::type;

template <class Sketch>
concept SketchInFiles = detail::is_sketch_in<Sketch>(static_cast<const AnySketch*>(nullptr));

/// A file of any kind.
using AnyFile = std::variant<AnyFilter, AnySketch>;

TALLY_EXPORT FileKind kind_of(const AnySketch& sketch) noexcept;

/// The sketch as a file's bytes (docs/format.md): the same on every machine. Throws std::invalid_argument for
/// TopKeys over a sketch that was halved, and std::bad_alloc.
template <SketchInFiles Sketch>
TALLY_EXPORT std::vector<std::byte> serialize(const Sketch& sketch);
TALLY_EXPORT std::vector<std::byte> serialize(const AnySketch& sketch);

/// Writes the sketch to a file as `save` writes a filter: from its own memory, only the candidates are copied.
template <SketchInFiles Sketch>
TALLY_EXPORT void save(const Sketch& sketch, const std::filesystem::path& path,
                       Overwrite overwrite = Overwrite::refuse);
TALLY_EXPORT void save(const AnySketch& sketch, const std::filesystem::path& path,
                       Overwrite overwrite = Overwrite::refuse);

/// The sketch from the bytes that `serialize` returned; it behaves exactly as the original. Everything is
/// checked before it is used, and the memory taken is proportional to the bytes. Throws FileKindError for a
/// filter, FormatError, std::invalid_argument for a missing or wrong key, std::bad_alloc.
TALLY_EXPORT AnySketch deserialize_sketch(std::span<const std::byte> bytes,
                                          const std::optional<HashKey>& key = {});

/// Reads a file as `deserialize_sketch` reads bytes, also from a pipe. Errors name the path, like those of
/// `load`.
TALLY_EXPORT AnySketch load_sketch(const std::filesystem::path& path, const std::optional<HashKey>& key = {});

/// A filter or a sketch, as `load` and `load_sketch` read it.
TALLY_EXPORT AnyFile load_any(const std::filesystem::path& path, const std::optional<HashKey>& key = {});

/// The kind of a file; reads only its header. Throws what `load` throws.
TALLY_EXPORT FileKind file_kind(const std::filesystem::path& path);

/// Merges the other sketch into this one, as its type does. Throws std::invalid_argument that names the first
/// of kind, scheme, hasher and shape that differs, and std::bad_alloc, and then changes nothing.
TALLY_EXPORT void merge(AnySketch& sketch, const AnySketch& other);

namespace detail {

/// What a file says of the type of a sketch; `scheme` is empty for SpaceSaving.
struct SketchType {
  FileKind kind;
  std::string_view scheme;
};

template <class Rows>
constexpr SketchType sketch_type_of(const TopKeys<Rows>*) noexcept {
  return {FileKind::top_keys, Rows::name};
}
template <class Rows>
constexpr SketchType sketch_type_of(const CountMinWindow<Rows>*) noexcept {
  return {FileKind::count_min_window, Rows::name};
}
constexpr SketchType sketch_type_of(const SpaceSaving*) noexcept { return {FileKind::space_saving, ""}; }

[[noreturn]] TALLY_EXPORT void throw_other_sketch(const AnySketch& any, SketchType wanted,
                                                  const std::string& subject);

template <SketchInFiles Sketch>
Sketch sketch_of(AnySketch any, const std::string& subject) {
  if (auto* own = std::get_if<Sketch>(&any)) return std::move(*own);
  throw_other_sketch(any, sketch_type_of(static_cast<const Sketch*>(nullptr)), subject);
}

}  // namespace detail

/// The same if the type of the sketch is known. Also throws FileKindError, which names both, for another kind or scheme of
/// rows.
template <SketchInFiles Sketch>
Sketch deserialize_sketch(std::span<const std::byte> bytes, const std::optional<HashKey>& key = {}) {
  return detail::sketch_of<Sketch>(deserialize_sketch(bytes, key), "tally file");
}
template <SketchInFiles Sketch>
Sketch load_sketch(const std::filesystem::path& path, const std::optional<HashKey>& key = {}) {
  return detail::sketch_of<Sketch>(load_sketch(path, key), path.string());
}
template <SketchInFiles Sketch>
Sketch load_as(const std::filesystem::path& path, const std::optional<HashKey>& key = {}) {
  return load_sketch<Sketch>(path, key);
}

}  // namespace tally
