#include "input/compression.hpp"

#include <algorithm>
#include <array>

namespace tally::cli {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view all = "";

// After the digit, bzip2 has the start of its first block, or of its end.
constexpr std::array<Compression, 23> compressions{{
    {"\x1f\x8b"sv, all, "gzip", make_gzip_decoder, ""},
    {"\x28\xb5\x2f\xfd"sv, all, "zstd", make_zstd_decoder, ""},
    {"\x50\x2a\x4d\x18"sv, "\xf0"sv, "zstd", make_zstd_decoder,
     ""},  // a frame to be skipped, as pzstd writes
    {"\xfd\x37zXZ\x00"sv, all, "xz", make_xz_decoder, ""},
    {"BZh0\x31\x41\x59\x26\x53\x59"sv, "\xff\xff\xff\xf0"sv, "bzip2", make_bzip2_decoder, ""},
    {"BZh0\x17\x72\x45\x38\x50\x90"sv, "\xff\xff\xff\xf0"sv, "bzip2", make_bzip2_decoder, ""},
    {"\x04\x22\x4d\x18"sv, all, "lz4", make_lz4_decoder, ""},
    {"\x02\x21\x4c\x18"sv, all, "lz4 data of the old format", nullptr, "lz4 -dc"},
    {"\x20\xb5\x2f\xfd"sv, "\xf8"sv, "zstd data of a format before 1.0", nullptr, "zstd -dc"},
    {"\x5d\x00\x00"sv, all, "lzma data (.lzma)", nullptr, "xz --format=lzma -dc"},
    {"LZIP\x01"sv, all, "lzip data", nullptr, "lzip -dc"},
    {"\x89LZO\x00\x0d\x0a\x1a\x0a"sv, all, "lzop data", nullptr, "lzop -dc"},
    {"LRZI\x00"sv, all, "lrzip data", nullptr, "lrzip -d -o -"},
    {"\xff\x06\x00\x00sNaPpY"sv, all, "Snappy data", nullptr, "snzip -dc"},
    {"\x1f\x9d"sv, all, "data of compress (.Z)", nullptr, "gzip -dc"},
    {"\x1f\xa0"sv, all, "data of compress -H", nullptr, "gzip -dc"},
    {"\x1f\x1e"sv, all, "data of pack (.z)", nullptr, "gzip -dc"},
    {"PK\x03\x04"sv, all, "a zip archive", nullptr, "unzip -p"},
    {"PK\x05\x06"sv, all, "a zip archive", nullptr, "unzip -p"},
    {"PK\x07\x08"sv, all, "a zip archive", nullptr, "unzip -p"},
    {"7z\xbc\xaf\x27\x1c"sv, all, "a 7z archive", nullptr, "7z e -so"},
    {"Rar!\x1a\x07"sv, all, "a rar archive", nullptr, "unrar p -inul"},
    {"MSCF\x00\x00\x00\x00"sv, all, "a cab archive", nullptr, "cabextract -p"},
}};

char masked(char byte, std::string_view mask, std::size_t i) {
  return i < mask.size() ? static_cast<char>(byte & mask[i]) : byte;
}

/// Whether the two agree up to the length of the shorter one.
bool begins_alike(const Compression& compression, std::string_view start) {
  const std::size_t size = std::min(compression.magic.size(), start.size());
  for (std::size_t i = 0; i < size; ++i) {
    if (masked(compression.magic[i], compression.mask, i) != masked(start[i], compression.mask, i))
      return false;
  }
  return true;
}

}  // namespace

ToldByStart compression_of(std::string_view start) {
  ToldByStart told;
  for (const Compression& compression : compressions) {
    if (!begins_alike(compression, start)) continue;
    if (start.size() >= compression.magic.size()) return {&compression, false};
    told.may_be_longer = true;
  }
  return told;
}

std::optional<std::string_view> promised_compression(std::string_view path) {
  for (const std::string_view ending : {".gz", ".zst", ".xz", ".bz2", ".lz4"}) {
    if (path.ends_with(ending)) return ending;
  }
  return std::nullopt;
}

}  // namespace tally::cli
