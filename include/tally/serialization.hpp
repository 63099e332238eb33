#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "tally/any_filter.hpp"
#include "tally/serialization/file_header.hpp"
#include "tally/serialization/format_error.hpp"
#include "tally/serialization/mapped_filter.hpp"

namespace tally {

/// The filter as a file's bytes (docs/format.md): the same on every machine.
std::vector<std::byte> serialize(const AnyFilter& filter);

/// The filter that `serialize` was given. Everything is checked before anything is allocated: the
/// header, the length (which must be exact), both checksums, and that unused bits are 0.
/// Throws FormatError (FileKindError for what no filter is), std::invalid_argument for a missing or wrong key, std::bad_alloc.
AnyFilter deserialize(std::span<const std::byte> bytes, const std::optional<HashKey>& key = {});

/// What becomes of a file that is there already.
enum class Overwrite { refuse, replace };

/// Writes the filter to a file, all or nothing: to a new file in the same directory, synced and then
/// renamed, so that at any moment the path holds what it held before or the whole filter. On failure
/// nothing is left behind, and what a program left behind that was killed while it saved is removed from the
/// directory. A new file that replaces one is readable by its owner alone until it has that one's mode. A symbolic link is followed. What is no regular file (a pipe, a device) is
/// written to directly, whatever `overwrite` says.
/// Throws std::system_error that names the path; std::errc::file_exists where it refuses to overwrite.
void save(const AnyFilter& filter, const std::filesystem::path& path,
          Overwrite overwrite = Overwrite::refuse);

/// Writes any bytes as `save` writes a filter.
void save_bytes(std::span<const std::byte> bytes, const std::filesystem::path& path,
                Overwrite overwrite = Overwrite::refuse);

/// Reads a file as `deserialize` reads bytes; from pipes too.
/// Throws as `deserialize`, but that names the path, and std::system_error that does.
AnyFilter load(const std::filesystem::path& path, const std::optional<HashKey>& key = {});

}  // namespace tally
