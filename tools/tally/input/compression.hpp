#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include "input/decoder.hpp"

namespace tally::cli {

/// A compression format, identified by its first bytes.
struct Compression {
  std::string_view magic;
  std::string_view mask;  ///< which of their bits count; all bits after its end
  std::string_view name;
  std::unique_ptr<Decoder> (*make_decoder)();  ///< null: not supported
  std::string_view unpack;  ///< if it is not supported, the program that unpacks a file to a pipe
};

/// What the first bytes of a file show.
struct ToldByStart {
  const Compression* compression = nullptr;  ///< null: none with a magic number
  bool may_be_longer = false;                ///< more bytes are needed to know
};

/// No more than this many bytes are needed.
inline constexpr std::size_t longest_magic = 10;

ToldByStart compression_of(std::string_view start);

/// The ending of a file's name that promises a supported compression format, such as ".gz".
std::optional<std::string_view> promised_compression(std::string_view path);

}  // namespace tally::cli
