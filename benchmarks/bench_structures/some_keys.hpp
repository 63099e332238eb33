#pragma once

#include <span>
#include <string_view>

#include "tally/hashing/hash128.hpp"

namespace tally::bench {

/// A batch of keys: ready digests, or texts of 16 bytes, which the structure hashes. The other one is empty.
struct SomeKeys {
  std::span<const Hash128> digests = {};
  std::span<const std::string_view> texts = {};

  /// Calls use(digests) or use(texts).
  template <class Use>
  decltype(auto) with(Use use) const {
    return texts.empty() ? use(digests) : use(texts);
  }
};

}  // namespace tally::bench
