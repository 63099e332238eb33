#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tally/any_filter.hpp"
#include "tally/export.hpp"
#include "tally/serialization/file_header.hpp"
#include "tally/serialization/file_pieces.hpp"
#include "tally/serialization/filter_loader.hpp"
#include "tally/serialization/format_error.hpp"
#include "tally/serialization/mapped_filter.hpp"

namespace tally {

namespace detail {

/// The file's filter, which has this type. Throws what `load` throws, and FileKindError.
TALLY_EXPORT AnyFilter load_type(const std::filesystem::path& path, const std::optional<HashKey>& key,
                                 FilterType type);

}  // namespace detail

/// The filter as a file's bytes (docs/format.md): the same on every machine.
TALLY_EXPORT std::vector<std::byte> serialize(const FilterView& filter);

/// The filter from the bytes that `serialize` returned. Everything is checked before anything is allocated:
/// the header, the length (which must be exact), both checksums, and that unused bits are 0. Throws
/// FormatError (FileKindError for a file that is not a filter), std::invalid_argument for a missing or wrong
/// key, std::bad_alloc.
TALLY_EXPORT AnyFilter deserialize(std::span<const std::byte> bytes, const std::optional<HashKey>& key = {});

/// What to do with an existing file.
enum class Overwrite { refuse, replace };

/// Writes the filter to a file, all or nothing: to a new file in the same directory, which is synced and then
/// renamed. So at any moment the path holds either its old contents or the whole filter. On failure, no file
/// is left behind; files that killed programs left behind while saving are removed from the directory. A new
/// file that replaces another is readable only by its owner until it has the mode of the old one. A symbolic
/// link is followed. If the path is not a regular file (a pipe, a device), it is written to directly,
/// whatever `overwrite` is. Throws std::system_error that names the path; std::errc::file_exists if it
/// refuses to overwrite.
///
/// Every filter converts to a FilterView, which has no copy of its memory.
TALLY_EXPORT void save(const FilterView& filter, const std::filesystem::path& path,
                       Overwrite overwrite = Overwrite::refuse);

/// Writes arbitrary bytes in the way that `save` writes a filter.
TALLY_EXPORT void save_bytes(std::span<const std::byte> bytes, const std::filesystem::path& path,
                             Overwrite overwrite = Overwrite::refuse);

/// Reads a file as `deserialize` reads bytes, also from a pipe. Throws what `deserialize` throws, with the
/// path, and std::system_error with the path.
TALLY_EXPORT AnyFilter load(const std::filesystem::path& path, const std::optional<HashKey>& key = {});

/// The same for a filter whose type is known: load_as<BloomFilter<>>("seen.tally"). Throws FileKindError, before it reads the
/// body, for a file of another kind or scheme; it names both. (sketch_files.hpp has the same for other sketches.)
template <FilterInFiles F>
F load_as(const std::filesystem::path& path, const std::optional<HashKey>& key = {}) {
  AnyFilter filter = detail::load_type(path, key, filter_type<F>);
  return std::move(*filter.get_if<F>());
}

}  // namespace tally
