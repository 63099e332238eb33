#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tally {

/// The byte before the URL in what Squid takes the MD5 of. Its digests hold what GET would find.
enum class SquidMethod : std::uint8_t { get = 1, head = 4 };

/// The name of an object in Squid's cache: MD5 of the method's byte and the URL, as squid_url() writes it.
/// Made once, it may be asked of many digests.
class SquidKey {
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

/// The URL as Squid 5 writes it before it takes the MD5: scheme and host in lower case, no user, no dot after
/// the host, an IPv6 address in its short form, the port only where it is not the scheme's own, "/" for no
/// path. All that follows stays, the fragment too. What has no "://" stays as it is.
std::string squid_url(std::string_view url);

}  // namespace tally
