#include "item_list.hpp"

#include <bit>
#include <cstdint>
#include <cstring>

#include "refusal.hpp"

namespace tally::redis {
namespace {

std::uint64_t little_endian_word(const char* bytes) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return std::endian::native == std::endian::little ? word : __builtin_bswap64(word);
}

}  // namespace

ItemList ItemList::of_texts(const Call& call, std::size_t first, const KeyHasher& hasher) {
  ItemList items(call, first, false);
  items.digests_.reserve(call.size() - first);
  for (std::size_t i = first; i < call.size(); ++i) items.digests_.push_back(hasher(call.text(i)));
  return items;
}

ItemList ItemList::of_digests(const Call& call, std::size_t argument) {
  const std::string_view bytes = call.text(argument);
  if (bytes.empty() || bytes.size() % bytes_per_digest != 0 ||
      bytes.size() > max_digests * bytes_per_digest) {
    throw Refusal(
        "ERR the digests have " + std::to_string(bytes.size()) +
        " bytes; must be 1 to 65536 digests of 16 bytes each; send more than that in several commands");
  }
  ItemList items(call, argument, true);
  items.digests_.resize(bytes.size() / bytes_per_digest);
  for (std::size_t i = 0; i < items.digests_.size(); ++i) {
    const char* const digest = bytes.data() + i * bytes_per_digest;
    items.digests_[i] = {little_endian_word(digest), little_endian_word(digest + 8)};
  }
  return items;
}

void ItemList::replicate(const ItemCommand& command) const noexcept {
  if (!is_packed_) return call_.replicate_as(command.of_texts);
  api::replicate(call_.context(), "TALLY.PACKED", "scs", call_.argument(1), command.word,
                 call_.argument(first_));
}

ItemList::Part::Part(const ItemList& items, const ItemCommand& command, std::span<const std::size_t> numbers)
    : name_(items.is_packed_ ? "TALLY.PACKED" : command.of_texts), command_(items.call_) {
  if (!items.is_packed_) {
    for (const std::size_t i : numbers) command_.add_argument(items.first_ + i);
    return;
  }
  const std::string_view all = items.call_.text(items.first_);
  std::string digests;
  digests.reserve(numbers.size() * bytes_per_digest);
  for (const std::size_t i : numbers) digests += all.substr(i * bytes_per_digest, bytes_per_digest);
  command_.add(command.word);
  command_.add(digests);
}

}  // namespace tally::redis
