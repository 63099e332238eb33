#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "serialization_file_descriptor.hpp"
#include "serialization_parts.hpp"
#include "tally/serialization.hpp"

namespace tally {
namespace {

using detail::FileDescriptor;

constexpr std::size_t pipe_chunk_bytes = std::size_t{1} << 20;

// A stream without a length: read to its end, then judged. Memory follows what has arrived.
AnyFilter load_stream(FileDescriptor& file, const std::optional<HashKey>& key) {
  std::vector<std::byte> bytes(file_header_bytes);
  bytes.resize(file.read_fully(bytes));
  const FileHeader header = read_header(bytes);
  const std::uint64_t expected = file_header_bytes + header.body_bytes();
  std::size_t num_read = bytes.size();
  // One byte more than expected tells of bytes after the end.
  while (num_read == bytes.size() && num_read <= expected) {
    const std::uint64_t chunk =
        std::min<std::uint64_t>(std::max(num_read, pipe_chunk_bytes), expected + 1 - num_read);
    bytes.resize(num_read + chunk);
    num_read += file.read_fully(std::span(bytes).subspan(num_read));
  }
  bytes.resize(num_read);
  return deserialize(bytes, key);
}

std::array<std::byte, file_header_bytes> read_header_bytes(FileDescriptor& file, std::size_t& num_read) {
  std::array<std::byte, file_header_bytes> bytes{};
  num_read = file.read_fully(bytes);
  return bytes;
}

FileHeader read_and_check_header(FileDescriptor& file) {
  std::size_t num_read = 0;
  const auto bytes = read_header_bytes(file, num_read);
  const FileHeader header = read_header(std::span(bytes).first(num_read));
  detail::check_length(header, static_cast<std::uint64_t>(file.status().st_size));
  return header;
}

/// What is wrong with the bytes, or with the key for them, is said of the file.
template <class Read>
auto naming(const std::filesystem::path& path, Read read) {
  try {
    return read();
  } catch (const FormatError& error) {
    throw FormatError(error.reason(), error.offset(), path.string());
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(path.string() + ": " + error.what());
  }
}

AnyFilter load_unnamed(const std::filesystem::path& path, const std::optional<HashKey>& key) {
  FileDescriptor file = FileDescriptor::open_for_reading(path);
  if (!S_ISREG(file.status().st_mode)) return load_stream(file, key);
  const FileHeader header = read_and_check_header(file);
  const KeyHasher hasher = header.hasher(key);
  detail::AlignedWords words(header.body_bytes() / 8);
  const std::span<std::byte> body = std::as_writable_bytes(words.words());
  const std::size_t num_read = file.read_fully(body);
  if (num_read != body.size()) detail::check_length(header, file_header_bytes + num_read);
  detail::check_body(header, body);
  return {header.shape, hasher, header.totals, std::move(words)};
}

/// The filter in a file that is mapped, and stays so as long as the filter or a move of it.
AnyFilter map_unnamed(const std::filesystem::path& path, const std::optional<HashKey>& key,
                      VerifyBody verify) {
  FileDescriptor file = FileDescriptor::open_for_reading(path);
  const FileHeader header = read_and_check_header(file);
  const KeyHasher hasher = header.hasher(key);
  const std::uint64_t num_bytes = file_header_bytes + header.body_bytes();
  void* memory = ::mmap(nullptr, num_bytes, PROT_READ, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) file.throw_error("cannot map");
  const std::shared_ptr<const void> mapping(memory,
                                            [num_bytes](void* mapped) { ::munmap(mapped, num_bytes); });
  const std::byte* body = static_cast<const std::byte*>(memory) + file_header_bytes;
  if (verify == VerifyBody::yes) detail::check_body(header, {body, header.body_bytes()});
  detail::AlignedWords words(reinterpret_cast<const std::uint64_t*>(body), header.body_bytes() / 8, mapping);
  return {header.shape, hasher, header.totals, std::move(words)};
}

}  // namespace

AnyFilter load(const std::filesystem::path& path, const std::optional<HashKey>& key) {
  return naming(path, [&] { return load_unnamed(path, key); });
}

MappedFilter MappedFilter::open(const std::filesystem::path& path, const std::optional<HashKey>& key,
                                VerifyBody verify) {
  return MappedFilter(naming(path, [&] { return map_unnamed(path, key, verify); }));
}

}  // namespace tally
