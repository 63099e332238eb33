#include "input/key_loop.hpp"

#include <fmt/core.h>

namespace tally::cli {

void hash_all(const KeyHasher& hasher, std::span<const std::string_view> keys, Batch<Hash128>& digests) {
  for (std::size_t i = 0; i < keys.size(); ++i) digests[i] = hasher(keys[i]);
}

BatchHasher::Hashed BatchHasher::hash_numbers(std::span<const std::string_view> keys,
                                              std::span<const std::string_view> texts) {
  std::size_t num_kept = 0;
  kept_.clear();
  kept_texts_.clear();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    std::uint64_t bits = 0;
    if (parse_key(type_, keys[i], bits)) [[likely]] {
      if (num_kept < i) {
        kept_.push_back(keys[i]);
        kept_texts_.push_back(texts[i]);
      }
      digests_[num_kept++] = hasher_(bits);
    } else if (!skips_bad_) {
      return {keys.first(i), texts.first(i), {digests_.data(), i}, i};
    } else if (num_kept == i) {
      kept_.assign(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(i));
      kept_texts_.assign(texts.begin(), texts.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  if (num_kept < keys.size()) {
    keys = kept_;
    texts = kept_texts_;
  }
  return {keys, texts, {digests_.data(), num_kept}, std::nullopt};
}

void remark_skipped(bool quiet, std::uint64_t num_skipped) {
  if (num_skipped > 0) remark(quiet, fmt::format("{} lines skipped: missing or invalid field", num_skipped));
}

}  // namespace tally::cli
