#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "tally/hashing/hash128.hpp"
#include "tally/streams/nanoseconds.hpp"

namespace tally {

/// A batch of records of a stream. `digests` has one element per record. Each of the other spans has the same length, or
/// is empty if the stream does not need it.
struct StreamRecords {
  std::span<const std::string_view> keys;  ///< TopStream keeps their bytes
  std::span<const Hash128> digests;        ///< of the keys, under the hasher of the stream
  std::span<const std::uint64_t> weights;  ///< empty: 1 each
  std::span<const Nanoseconds> times;      ///< needed if the stream has a window

  std::size_t size() const noexcept { return digests.size(); }

  /// The records in [begin, end).
  StreamRecords part(std::size_t begin, std::size_t end) const noexcept {
    const auto of = [&](auto all) { return all.empty() ? all : all.subspan(begin, end - begin); };
    return {of(keys), of(digests), of(weights), of(times)};
  }
};

}  // namespace tally
