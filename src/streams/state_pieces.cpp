#include "tally/streams/state_pieces.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "streams/state_frame.hpp"
#include "streams/words_checksum.hpp"
#include "tally/serialization/file_pieces.hpp"

namespace tally {
namespace {

std::uint64_t num_bytes(const StatePart& part) noexcept {
  if (const auto* const filter = std::get_if<FilterView>(&part)) return filter->shape.num_bytes();
  return std::visit(
      [](const auto& words) -> std::uint64_t {
        if constexpr (requires { words.size(); }) return words.size() * sizeof(std::uint64_t);
        return 0;
      },
      part);
}

std::span<const std::byte> words_of(const StatePart& part) noexcept {
  if (const auto* const own = std::get_if<std::vector<std::uint64_t>>(&part))
    return std::as_bytes(std::span(*own));
  return std::as_bytes(std::get<std::span<const std::uint64_t>>(part));
}

}  // namespace

void StatePieces::finish(StateWriter& writer) {
  std::uint64_t table_bytes = 0;
  for (const StatePart& part : parts_) {
    body_bytes_ += num_bytes(part);
    table_bytes += 2 * sizeof(std::uint64_t);
    if (const auto* const filter = std::get_if<FilterView>(&part)) {
      const auto header = file_header(*filter);
      writer.number(detail::state::is_filter);
      writer.text({reinterpret_cast<const char*>(header.data()), header.size()});
      table_bytes += header.size();
    } else {
      writer.number(num_bytes(part) / sizeof(std::uint64_t));
      writer.number(detail::words_checksum(words_of(part)));
    }
  }
  writer.number(table_bytes);
  head_ = writer.bytes();
}

std::span<const std::byte> StatePieces::body_piece(std::uint64_t offset,
                                                   std::uint64_t max_bytes) const noexcept {
  for (const StatePart& part : parts_) {
    const std::uint64_t size = num_bytes(part);
    if (offset >= size) {
      offset -= size;
      continue;
    }
    if (const auto* const filter = std::get_if<FilterView>(&part))
      return tally::body_piece(*filter, offset, max_bytes);
    return words_of(part).subspan(offset, std::min(max_bytes, size - offset));
  }
  return {};
}

std::uint64_t StatePieces::memory_bytes() const noexcept {
  std::uint64_t bytes = head_.capacity() + parts_.capacity() * sizeof(StatePart);
  for (const StatePart& part : parts_) {
    if (std::holds_alternative<std::vector<std::uint64_t>>(part)) bytes += num_bytes(part);
  }
  return bytes;
}

}  // namespace tally
