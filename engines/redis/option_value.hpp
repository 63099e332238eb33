#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

namespace tally::redis {

/// The value of an option, as `tally` reads it on its command line: numbers may have units. Each function throws Refusal, which
/// names the option, for a text that is not such a value or is out of range.
struct OptionValue {
  std::string_view option;  ///< its name without dashes, in small letters
  std::string_view text;

  /// A number such as 5000, 10M or 1e6.
  std::uint64_t count(std::uint64_t least = 1,
                      std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) const;
  std::uint32_t small_count(std::uint32_t least = 1,
                            std::uint32_t most = std::numeric_limits<std::uint32_t>::max()) const {
    return static_cast<std::uint32_t>(count(least, most));
  }
  /// A number of bytes such as 64MiB or 1.5GB.
  std::uint64_t size() const;
  /// Above 0 and below 1, such as 1%, 0.01 or 1e-3.
  double rate() const;
  /// 0 to 1, such as 0, 15% or 0.15.
  double share() const;
  /// A duration such as 10m, 1.5h or 500ms, in nanoseconds; a number without a unit is in seconds.
  std::int64_t duration() const;
  /// Which of these words in small letters it is; the text may be in capital ones.
  std::size_t choice(std::span<const std::string_view> words) const;
};

/// Whether two words are the same but for capital letters.
bool is_same_word(std::string_view a, std::string_view b) noexcept;

}  // namespace tally::redis
