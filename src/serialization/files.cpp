#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "serialization/file_descriptor.hpp"
#include "serialization/sketch_parts.hpp"
#include "tally/serialization.hpp"
#include "tally/serialization/sketch_files.hpp"

namespace tally {
namespace {

using detail::FileDescriptor;

constexpr std::size_t pipe_chunk_bytes = std::size_t{1} << 20;

/// A file and its first bytes, which determine everything else.
struct OpenFile {
  explicit OpenFile(const std::filesystem::path& path) : file(FileDescriptor::open_for_reading(path)) {
    header.resize(file.read_fully(header));
  }

  bool is_regular() const { return S_ISREG(file.status().st_mode); }
  std::uint64_t size() const { return static_cast<std::uint64_t>(file.status().st_size); }

  FileDescriptor file;
  std::vector<std::byte> header = std::vector<std::byte>(file_header_bytes);
};

// From a stream without a length: read to its end, then checked. The memory grows with what has arrived.
std::vector<std::byte> read_stream(OpenFile& open, std::uint64_t body_bytes) {
  std::vector<std::byte> bytes = std::move(open.header);
  const std::uint64_t expected = file_header_bytes + body_bytes;
  std::size_t num_read = bytes.size();
  // One byte more than expected reveals bytes after the end.
  while (num_read == bytes.size() && num_read <= expected) {
    const std::uint64_t chunk =
        std::min<std::uint64_t>(std::max(num_read, pipe_chunk_bytes), expected + 1 - num_read);
    bytes.resize(num_read + chunk);
    num_read += open.file.read_fully(std::span(bytes).subspan(num_read));
  }
  bytes.resize(num_read);
  return bytes;
}

/// Errors in the bytes, or in the key for them, name the file.
template <class Read>
auto naming(const std::filesystem::path& path, Read read) {
  try {
    return read();
  } catch (const FileKindError& error) {
    throw error.said_of(path.string());
  } catch (const FormatError& error) {
    throw FormatError(error.reason(), error.offset(), path.string());
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(path.string() + ": " + error.what());
  }
}

/// The header of a filter: of this type, if one is given.
FileHeader header_of_type(const OpenFile& open, const std::optional<FilterType>& type) {
  if (!type) return read_header(open.header);
  const FileKind kind = file_kind(open.header);
  const std::string wanted(name_of(type->kind));
  if (kind != static_cast<FileKind>(type->kind)) throw FileKindError(kind, wanted);
  FileHeader header = read_header(open.header);
  if (header.shape.scheme_id != type->scheme_id) {
    const FilterShape same_kind{header.shape.shape, type->scheme_id};
    throw FileKindError(kind,
                        detail::rule_of_scheme(wanted, same_kind.scheme_name(), header.shape.scheme_name()));
  }
  return header;
}

AnyFilter load_filter(OpenFile& open, const std::optional<HashKey>& key,
                      const std::optional<FilterType>& type = std::nullopt) {
  const FileHeader header = header_of_type(open, type);
  if (!open.is_regular()) return deserialize(read_stream(open, header.body_bytes()), key);
  detail::check_length(header.body_bytes(), open.size());
  const KeyHasher hasher = header.hasher(key);
  const std::uint64_t side_bytes = header.shape.side_bytes();
  detail::AlignedWords words((header.body_bytes() - side_bytes) / 8);
  detail::AlignedWords side_words(side_bytes / 8);
  std::uint64_t num_read = open.file.read_fully(std::as_writable_bytes(words.words()));
  num_read += open.file.read_fully(std::as_writable_bytes(side_words.words()));
  if (num_read != header.body_bytes())
    detail::check_length(header.body_bytes(), file_header_bytes + num_read);
  detail::check_body(header, {std::as_bytes(words.words()), std::as_bytes(side_words.words())});
  return {header.shape, hasher, header.totals, std::move(words), std::move(side_words)};
}

AnySketch load_sketch(OpenFile& open, const std::optional<HashKey>& key) {
  const detail::SketchHeader header = detail::read_sketch_header(open.header);
  if (!open.is_regular()) return deserialize_sketch(read_stream(open, header.body_bytes), key);
  detail::check_length(header.body_bytes, open.size());
  const KeyHasher hasher = header.hasher(key);
  detail::SketchBody body(header);
  std::uint64_t num_read = 0;
  body.for_each_part([&](std::span<std::byte> part) { num_read += open.file.read_fully(part); });
  if (num_read != header.body_bytes) detail::check_length(header.body_bytes, file_header_bytes + num_read);
  return detail::sketch_of_body(header, hasher, std::move(body));
}

/// The filter in a mapped file, which stays mapped as long as the filter or a move of it.
AnyFilter map_unnamed(const std::filesystem::path& path, const std::optional<HashKey>& key, VerifyBody verify,
                      const std::optional<FilterType>& type) {
  const OpenFile open(path);
  const FileHeader header = header_of_type(open, type);
  detail::check_length(header.body_bytes(), open.size());
  const KeyHasher hasher = header.hasher(key);
  const std::uint64_t num_bytes = file_header_bytes + header.body_bytes();
  void* memory = ::mmap(nullptr, num_bytes, PROT_READ, MAP_SHARED, open.file.get(), 0);
  if (memory == MAP_FAILED) open.file.throw_error("cannot map");
  const auto unmap = [](void* mapped, std::uint64_t size) noexcept { ::munmap(mapped, size); };
  const std::byte* body = static_cast<const std::byte*>(memory) + file_header_bytes;
  detail::AlignedWords words(reinterpret_cast<const std::uint64_t*>(body), header.body_bytes() / 8,
                             {memory, num_bytes, unmap});
  if (verify == VerifyBody::yes)
    detail::check_body(header, detail::divided(header.shape, {body, header.body_bytes()}));
  return {header.shape, hasher, header.totals, std::move(words)};
}

}  // namespace

AnyFilter load(const std::filesystem::path& path, const std::optional<HashKey>& key) {
  return naming(path, [&] {
    OpenFile open(path);
    return load_filter(open, key);
  });
}

AnyFilter detail::load_type(const std::filesystem::path& path, const std::optional<HashKey>& key,
                            FilterType type) {
  return naming(path, [&] {
    OpenFile open(path);
    return load_filter(open, key, type);
  });
}

AnySketch load_sketch(const std::filesystem::path& path, const std::optional<HashKey>& key) {
  return naming(path, [&] {
    OpenFile open(path);
    return load_sketch(open, key);
  });
}

AnyFile load_any(const std::filesystem::path& path, const std::optional<HashKey>& key) {
  return naming(path, [&]() -> AnyFile {
    OpenFile open(path);
    if (is_filter(file_kind(open.header))) return load_filter(open, key);
    return load_sketch(open, key);
  });
}

FileKind file_kind(const std::filesystem::path& path) {
  return naming(path, [&] { return file_kind(OpenFile(path).header); });
}

MappedFilter MappedFilter::open(const std::filesystem::path& path, const std::optional<HashKey>& key,
                                VerifyBody verify) {
  return MappedFilter(naming(path, [&] { return map_unnamed(path, key, verify, std::nullopt); }));
}

AnyFilter detail::map_type(const std::filesystem::path& path, const std::optional<HashKey>& key,
                           VerifyBody verify, FilterType type) {
  return naming(path, [&] { return map_unnamed(path, key, verify, type); });
}

}  // namespace tally
