#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace tally::cli {

/// The bytes of a message as the text that Redis takes, and back.
inline std::string_view message_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline std::span<const std::byte> message_bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

}  // namespace tally::cli
