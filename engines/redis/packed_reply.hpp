#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "call.hpp"

namespace tally::redis {

/// The reply of a packed operation, an array of numbers, as bytes: 4 little-endian ones for each number.
class PackedReply {
 public:
  static constexpr std::size_t bytes_per_number = 4;

  /// Room for this number of numbers: `add` then allocates nothing.
  void reserve(std::size_t num_numbers) { bytes_.reserve(bytes_per_number * num_numbers); }
  void add(std::size_t number) noexcept {
    for (int i = 0; i < 4; ++i) bytes_.push_back(static_cast<char>(number >> 8 * i & 0xff));
  }
  const std::string& bytes() const noexcept { return bytes_; }
  std::string take() noexcept { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Replies with the numbers in these bytes.
inline void reply_with_numbers(const Call& call, std::string_view bytes) noexcept {
  call.array(bytes.size() / PackedReply::bytes_per_number);
  for (std::size_t at = 0; at < bytes.size(); at += PackedReply::bytes_per_number) {
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      number |= std::uint32_t{static_cast<unsigned char>(bytes[at + i])} << 8 * i;
    }
    call.integer_reply(number);
  }
}

}  // namespace tally::redis
