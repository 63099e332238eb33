#include "input/lines_with_keys.hpp"

#include <algorithm>

#include "input/key_reader.hpp"

namespace tally::cli {

LinesWithKeys::LinesWithKeys(const InputOptions& input) : skips_bad_(input.skip_bad) {}

/// Of keys_.
LinesWithKeys::Selected LinesWithKeys::without_bad(std::span<const std::string_view> lines) {
  const auto first = std::ranges::find_if(keys_, FieldSelector::is_bad);
  if (first == keys_.end()) return {keys_, lines, std::nullopt};
  if (!skips_bad_) {
    const auto refused = static_cast<std::size_t>(first - keys_.begin());
    return {std::span(keys_).first(refused), lines.first(refused), refused};
  }
  lines_.clear();
  std::size_t num_kept = 0;
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    if (FieldSelector::is_bad(keys_[i])) continue;
    keys_[num_kept++] = keys_[i];
    lines_.push_back(lines[i]);
  }
  keys_.resize(num_kept);
  return {keys_, lines_, std::nullopt};
}

}  // namespace tally::cli
