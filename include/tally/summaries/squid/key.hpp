#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tally/export.hpp"

namespace tally {

/// The byte before the URL in the input of Squid's MD5. Squid's digests contain what GET would find.
enum class SquidMethod : std::uint8_t { get = 1, head = 4 };

/// The name of an object in Squid's cache: MD5 of the method's byte and the URL, as squid_url() writes it.
/// One SquidKey can be looked up in many digests.
class TALLY_EXPORT SquidKey {
 public:
  SquidKey(SquidMethod method, std::string_view url) noexcept;
  /// As Squid's cache manager shows it ("KEY 26203BF0...").
  explicit SquidKey(const std::array<std::byte, 16>& md5) noexcept;

  /// The four 32-bit big-endian words of the MD5. Modulo the number of bits of a digest they are
  /// the positions of the key in it.
  const std::array<std::uint32_t, 4>& words() const noexcept { return words_; }

  friend bool operator==(const SquidKey&, const SquidKey&) = default;

 private:
  std::array<std::uint32_t, 4> words_;
};

/// The URL as Squid 5 writes it before it computes the MD5: scheme and host in lower case, no user, no dot
/// after the host, an IPv6 address in its short form, the port only if it is not the default of the scheme,
/// "/" for an empty path. Everything after that is unchanged, including the fragment. A text without "://" is
/// unchanged.
TALLY_EXPORT std::string squid_url(std::string_view url);

}  // namespace tally
