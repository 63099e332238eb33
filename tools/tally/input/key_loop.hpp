#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cli/meanwhile.hpp"
#include "input/key_reader.hpp"
#include "tally/hashing/key_hasher.hpp"
#include "text/output.hpp"

namespace tally::cli {

/// Results of one batch, which is never longer than this.
template <class Value>
using Batch = std::array<Value, KeyReader::max_keys_a_call>;

/// Fills the first of `digests` with the digests of the keys.
void hash_all(const KeyHasher& hasher, std::span<const std::string_view> keys, Batch<Hash128>& digests);

/// Makes digests of keys as --key-type says.
class BatchHasher {
 public:
  BatchHasher(const InputOptions& input, const KeyHasher& hasher)
      : hasher_(hasher), type_(input.key_type), skips_bad_(input.skip_bad) {}

  struct Hashed {
    std::span<const std::string_view> keys;   ///< as they were read, without those that are skipped
    std::span<const std::string_view> texts;  ///< of these keys
    std::span<const Hash128> digests;
    /// The index of an invalid key that is not skipped; the keys are then those before it.
    std::optional<std::size_t> refused;
  };
  /// At most max_keys_a_call keys, and a text of each. The result is valid until the next call.
  Hashed operator()(std::span<const std::string_view> keys, std::span<const std::string_view> texts) {
    if (type_ != KeyType::text) return hash_numbers(keys, texts);
    hash_all(hasher_, keys, digests_);
    return {keys, texts, {digests_.data(), keys.size()}, std::nullopt};
  }

 private:
  Hashed hash_numbers(std::span<const std::string_view> keys, std::span<const std::string_view> texts);

  KeyHasher hasher_;
  KeyType type_;
  bool skips_bad_;
  Batch<Hash128> digests_;
  std::vector<std::string_view> kept_;  // if one is skipped
  std::vector<std::string_view> kept_texts_;
};

using Texts = std::span<const std::string_view>;

/// What was read.
struct KeyTotals {
  std::uint64_t num_keys = 0;
  std::uint64_t num_skipped = 0;  ///< lines with an invalid key
};

/// Prints how many lines were skipped, if any.
void remark_skipped(bool quiet, std::uint64_t num_skipped);

/// Reads and hashes all keys, and calls use(keys, digests) or use(keys, texts, digests) for each batch, where `texts` are
/// what is printed of the keys: their lines with --line, else the keys. `totals` says what was read so far. Throws what
/// KeyReader throws, and std::runtime_error for an invalid key that is not skipped, once all keys before it are used.
template <class Use>
void for_each_batch(const InputOptions& input, const KeyHasher& hasher, bool quiet, KeyTotals& totals,
                    Use use) {
  KeyReader reader(input);
  Progress progress(quiet);
  BatchHasher hash(input, hasher);
  std::uint64_t num_invalid = 0;
  while (true) {
    const std::span<const std::string_view> keys = reader.next();
    totals.num_skipped = num_invalid + reader.num_skipped();
    if (keys.empty()) break;
    const BatchHasher::Hashed hashed = hash(keys, input.prints_lines ? reader.lines() : keys);
    if constexpr (std::is_invocable_v<Use, Texts, Texts, std::span<const Hash128>>)
      use(hashed.keys, hashed.texts, hashed.digests);
    else use(hashed.keys, hashed.digests);
    totals.num_keys += hashed.keys.size();
    if (hashed.refused) {
      throw std::runtime_error(reader.place_of(*hashed.refused) + ": " +
                               refusal_of_key(input, keys[*hashed.refused]));
    }
    num_invalid += keys.size() - hashed.keys.size();
    progress.update(totals.num_keys, reader.bytes_read(), reader.total_bytes());
    Meanwhile::run(false);
  }
  remark_skipped(quiet, totals.num_skipped);
}
template <class Use>
KeyTotals for_each_batch(const InputOptions& input, const KeyHasher& hasher, bool quiet, Use use) {
  KeyTotals totals;
  for_each_batch(input, hasher, quiet, totals, std::move(use));
  return totals;
}

}  // namespace tally::cli
