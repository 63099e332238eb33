#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "commands/uniq.hpp"
#include "tally/hashing/hash128.hpp"
#include "tally/hashing/key_hasher.hpp"

namespace tally::cli {

/// Decides whether a key is new.
class UniqMemory {
 public:
  /// As the options say: exact, approximate or forgetful.
  static std::unique_ptr<UniqMemory> of(const UniqOptions& options, const KeyHasher& hasher);
  virtual ~UniqMemory() = default;

  /// Writes the indices of the new keys, in order, and then sets num_new to their number. After an exception num_new has
  /// those before the key for which there was no room. `indices` is as long as `digests`.
  virtual void find_new(std::span<const Hash128> digests, std::span<std::uint32_t> indices,
                        std::size_t& num_new) = 0;

  virtual std::uint64_t num_bytes() const = 0;
  /// The probability that a new key is dropped.
  virtual double error_bound() const = 0;
  /// The guarantee as a text.
  virtual std::string promise() const = 0;
};

}  // namespace tally::cli
