#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tally::detail {

/// Writes bits, from the lowest of each byte upwards.
class BitWriter {
 public:
  explicit BitWriter(std::vector<std::byte>& bytes) : bytes_(bytes) {}

  /// Writes the low `count` bits of the value, which has no others; count is 0 to 56.
  void put(std::uint64_t value, std::uint32_t count) {
    pending_ |= value << num_pending_;
    num_pending_ += count;
    for (; num_pending_ >= 8; num_pending_ -= 8, pending_ >>= 8) {
      bytes_.push_back(static_cast<std::byte>(pending_ & 0xff));
    }
  }

  /// Writes `value` zeros, then a one.
  void put_unary(std::uint64_t value) {
    for (; value >= 32; value -= 32) put(0, 32);
    put(std::uint64_t{1} << value, static_cast<std::uint32_t>(value) + 1);
  }

  /// Fills the last byte with zeros.
  void finish() {
    if (num_pending_ != 0) put(0, 8 - num_pending_);
  }

 private:
  std::vector<std::byte>& bytes_;
  std::uint64_t pending_ = 0;
  std::uint32_t num_pending_ = 0;
};

/// Reads them back. After the end it returns zeros and overrun() is true; a unary number stops there.
class BitReader {
 public:
  explicit BitReader(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}

  std::uint64_t get(std::uint32_t count) noexcept {
    if (num_ahead_ < count) fill();
    const std::uint64_t value = ahead_ & ((std::uint64_t{1} << count) - 1);
    skip(count);
    return value;
  }

  std::uint64_t get_unary() noexcept {
    std::uint64_t value = 0;
    for (;;) {
      if (num_ahead_ < 57) fill();
      const auto zeros = static_cast<std::uint32_t>(std::countr_zero(ahead_));
      if (zeros < num_ahead_) {
        skip(zeros + 1);
        return value + zeros;
      }
      value += num_ahead_;
      skip(num_ahead_);
      if (overrun()) return value;
    }
  }

  bool overrun() const noexcept { return num_beyond_ > num_ahead_; }

  /// Whether all bits were read, except for zeros that pad the last byte.
  bool at_end() const noexcept {
    return !overrun() && next_ == bytes_.size() && num_ahead_ - num_beyond_ < 8 && ahead_ == 0;
  }

  /// The offset of the next byte to read, for error messages.
  std::uint64_t byte() const noexcept {
    return overrun() ? bytes_.size() : next_ - (num_ahead_ - num_beyond_) / 8;
  }

 private:
  // At least 57 bits ahead; the last num_beyond_ of those are not in the bytes.
  void fill() noexcept {
    while (num_ahead_ <= 56) {
      if (next_ < bytes_.size()) {
        ahead_ |= std::to_integer<std::uint64_t>(bytes_[next_++]) << num_ahead_;
      } else {
        num_beyond_ += 8;
      }
      num_ahead_ += 8;
    }
  }

  void skip(std::uint32_t count) noexcept {
    ahead_ = count < 64 ? ahead_ >> count : 0;
    num_ahead_ -= count;
  }

  std::span<const std::byte> bytes_;
  std::size_t next_ = 0;
  std::uint64_t ahead_ = 0;
  std::uint32_t num_ahead_ = 0;
  std::uint64_t num_beyond_ = 0;
};

}  // namespace tally::detail
