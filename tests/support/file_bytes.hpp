#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "tally/detail/little_endian.hpp"
#include "tally/hashing/hash128.hpp"

// The file format once more, written apart from the library, so that neither can drift without the other.
namespace tally::test {

using Bytes = std::vector<std::byte>;

inline constexpr std::size_t header_bytes = 128;

template <class Integer>
Integer get_field(std::span<const std::byte> bytes, std::size_t at) {
  return detail::load_little_endian<Integer>(bytes.data() + at);
}

template <class Integer>
void set_field(std::span<std::byte> bytes, std::size_t at, Integer value) {
  detail::store_little_endian(bytes.data() + at, value);
}

/// Makes both checksums right again after a change; `bytes` are at least a header.
inline void repair_checksums(std::span<std::byte> bytes) {
  const auto body = bytes.subspan(header_bytes);
  set_field<std::uint64_t>(bytes, 112, XXH3_64bits(body.data(), body.size()));
  set_field<std::uint64_t>(bytes, 120, XXH3_64bits(bytes.data(), 120));
}

inline Bytes read_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<char> chars{std::istreambuf_iterator<char>(in), {}};
  const auto bytes = std::as_bytes(std::span(chars));
  return {bytes.begin(), bytes.end()};
}

inline void write_bytes(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace tally::test
