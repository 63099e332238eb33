#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>

#include "commands/uniq.hpp"
#include "tally/hashing/hash128.hpp"
#include "tally/hashing/key_hasher.hpp"

namespace tally::cli {

/// Which digests to decide about. Two threads may decide about the halves at the same time.
enum class Digests : std::uint8_t { all, lower_half, upper_half };

/// There is no room for a new key.
struct MemoryFull {};

/// Decides whether a key is new.
class UniqMemory {
 public:
  /// As the options say: exact, approximate or forgetful.
  static std::unique_ptr<UniqMemory> of(const UniqOptions& options, const KeyHasher& hasher);
  virtual ~UniqMemory() = default;

  /// Whether `drop_known` may be asked for halves.
  virtual bool has_halves() const { return false; }

  struct Kept {
    std::size_t num_kept;
    std::exception_ptr
        failure;  ///< there was no room for a key, such as MemoryFull; those kept are keys before it
  };
  /// Writes the indices of the digests, in order, without those in `which` that are not new. `indices` is as long as `digests`.
  virtual Kept drop_known(Digests which, std::span<const Hash128> digests,
                          std::span<std::uint32_t> indices) = 0;

  virtual std::uint64_t num_bytes() const = 0;
  /// The probability that a new key is dropped.
  virtual double error_bound() const = 0;
  /// The guarantee as a text.
  virtual std::string promise() const = 0;
};

}  // namespace tally::cli
