#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "tally/hashing/random_seed.hpp"

namespace tally {

/// Values by the bytes of keys, so that exact counts do not depend on the digests of the stream. The hash table has its
/// own random seed.
template <class Value>
class ValuesByKey {
 public:
  ValuesByKey() = default;
  ValuesByKey(const ValuesByKey&) = delete;
  ValuesByKey& operator=(const ValuesByKey&) = delete;

  /// The value of this key, new if there was none. Throws std::bad_alloc, and then changes nothing.
  Value& operator[](std::string_view key) {
    const auto found = values_.find(key);
    return found != values_.end() ? found->second : values_[std::string(key)];
  }
  /// The key must be present.
  const Value& at(std::string_view key) const { return values_.find(key)->second; }

  std::size_t size() const noexcept { return values_.size(); }
  auto begin() const noexcept { return values_.begin(); }
  auto end() const noexcept { return values_.end(); }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view key) const { return hash_key(key, seed).low; }
    std::uint64_t seed = random_seed();
  };
  std::unordered_map<std::string, Value, Hash, std::equal_to<>> values_;
};

}  // namespace tally
