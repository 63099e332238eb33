#include "input/line_blocks.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace tally::cli {
namespace {

constexpr std::size_t max_line_bytes = std::size_t{1} << 30;

}  // namespace

std::size_t LineBlocks::begin_in(std::vector<char>& buffer) {
  make_room(buffer, begun_line_.size());
  std::copy(begun_line_.begin(), begun_line_.end(), buffer.begin());
  return begun_line_.size();
}

/// For a piece and somewhat more, so that the rest of a line seldom makes the buffer grow again.
void LineBlocks::make_room(std::vector<char>& buffer, std::size_t end) const {
  if (end > max_line_bytes) throw std::runtime_error("a line is longer than 1 GiB; is -z missing?");
  const std::size_t num_bytes = end + piece_bytes;
  if (buffer.size() < num_bytes) buffer.resize(num_bytes + num_bytes / 8);
}

/// Just past the last separator; 0 if there is none.
std::size_t LineBlocks::end_of_lines(std::span<const char> bytes) const noexcept {
  const void* const last = ::memrchr(bytes.data(), separator_, bytes.size());
  return last == nullptr ? 0 : static_cast<std::size_t>(static_cast<const char*>(last) - bytes.data()) + 1;
}

void LineBlocks::keep(std::span<const char> begun_line) {
  begun_line_.assign(begun_line.begin(), begun_line.end());
}

std::span<const char> LineBlocks::rest(std::vector<char>& buffer) {
  const std::size_t end = begin_in(buffer);
  begun_line_.clear();
  return {buffer.data(), end};
}

}  // namespace tally::cli
