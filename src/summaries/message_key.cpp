#include "tally/summaries/message_key.hpp"

#include <highwayhash/highwayhash_target.h>
#include <highwayhash/instruction_sets.h>

#include <algorithm>
#include <string>

#include "summaries/message_header.hpp"

namespace tally {

namespace {

using Words = std::array<std::uint64_t, 4>;

constexpr std::string_view derivation = "tally summary message key";

template <class Result>
void keyed_hash(const Words& key, std::span<const std::byte> bytes, Result& result) noexcept {
  const highwayhash::HHKey words = {key[0], key[1], key[2], key[3]};
  highwayhash::InstructionSets::Run<highwayhash::HighwayHash>(
      words, reinterpret_cast<const char*>(bytes.data()), bytes.size(), &result);
}

Words hash256(const Words& key, std::span<const std::byte> bytes) noexcept {
  highwayhash::HHResult256 result = {};
  keyed_hash(key, bytes, result);
  return {result[0], result[1], result[2], result[3]};
}

template <std::size_t Size>
void put_words(std::span<std::byte> out, const std::uint64_t (&words)[Size]) noexcept {
  for (std::size_t i = 0; i < Size; ++i) detail::store_little_endian(out.data() + 8 * i, words[i]);
}

}  // namespace

MessageKey::MessageKey(const HashKey& secret, std::string_view group) {
  Words key{};
  for (std::size_t i = 0; i < key.size(); ++i) {
    key[i] = detail::load_little_endian<std::uint64_t>(secret.data() + 8 * i);
  }
  const std::string text = std::string(derivation).append(group);
  words_ = hash256(key, std::as_bytes(std::span(text)));
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
  keyed_hash(words_, outer, result);
  MessageMac mac{};
  put_words(mac, result);
  return mac;
}

}  // namespace tally
