#include "input/line_cutter.hpp"

#include "input/find_bytes.hpp"

namespace tally::cli {

std::span<const std::string_view> LineCutter::next() noexcept {
  const char* const bytes = block_.data();
  while (scanned_ < block_.size()) {
    const FoundBytes found = find_bytes(block_.subspan(scanned_), separator_, separators_);
    for (std::size_t i = 0; i < found.num_found; ++i) {
      const std::size_t end = scanned_ + separators_[i];
      lines_[i] = {bytes + begin_, end - begin_};
      begin_ = end + 1;
    }
    scanned_ += found.num_scanned;
    if (found.num_found > 0) return {lines_.data(), found.num_found};
  }
  if (begin_ >= block_.size()) return {};
  lines_[0] = {bytes + begin_, block_.size() - begin_};
  begin_ = block_.size();
  return {lines_.data(), 1};
}

}  // namespace tally::cli
