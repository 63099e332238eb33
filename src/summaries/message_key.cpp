#include "tally/summaries/message_key.hpp"

#include <algorithm>
#include <string>

#include "hashing/highway_hash.hpp"
#include "summaries/message_header.hpp"

namespace tally {

namespace {

using Words = detail::HighwayKey;

constexpr std::string_view derivation = "tally summary message key";

Words hash256(const Words& key, std::span<const std::byte> bytes) noexcept {
  highwayhash::HHResult256 result = {};
  detail::highway_hash(key, bytes, result);
  return {result[0], result[1], result[2], result[3]};
}

template <std::size_t Size>
void put_words(std::span<std::byte> out, const std::uint64_t (&words)[Size]) noexcept {
  for (std::size_t i = 0; i < Size; ++i) detail::store_little_endian(out.data() + 8 * i, words[i]);
}

}  // namespace

MessageKey::MessageKey(const HashKey& secret, std::string_view group) {
  const std::string text = std::string(derivation).append(group);
  words_ = hash256(detail::highway_key(secret), std::as_bytes(std::span(text)));
}

// The body is hashed by itself, so that the two parts need not be in one piece.
MessageMac MessageKey::mac(std::span<const std::byte> header,
                           std::span<const std::byte> body) const noexcept {
  const Words inner = hash256(words_, body);
  std::array<std::byte, detail::message::body_checksum_at + sizeof(Words)> outer{};
  const std::span own = header.first(std::min(header.size(), detail::message::body_checksum_at));
  std::ranges::copy(own, outer.begin());
  const std::uint64_t words[] = {inner[0], inner[1], inner[2], inner[3]};
  put_words(std::span(outer).subspan(detail::message::body_checksum_at), words);
  highwayhash::HHResult128 result = {};
  detail::highway_hash(words_, outer, result);
  MessageMac mac{};
  put_words(mac, result);
  return mac;
}

}  // namespace tally
