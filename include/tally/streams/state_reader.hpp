#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tally/any_filter.hpp"
#include "tally/detail/aligned_words.hpp"
#include "tally/export.hpp"
#include "tally/hashing/key_hasher.hpp"
#include "tally/sets/hash_set.hpp"
#include "tally/streams/state_kind.hpp"

namespace tally {

/// Reads what a StateWriter wrote, in the same order. Every function throws FormatError for bytes that are not a state. It
/// never allocates more memory than there are bytes.
class TALLY_EXPORT StateReader {
 public:
  /// A part of a state in pieces, loaded and undamaged.
  using Part = std::variant<detail::AlignedWords, AnyFilter>;

  /// Errors contain `name`, such as the path of a file. Throws FormatError for damaged bytes and for another version, and
  /// StateMismatch for another kind or other options.
  StateReader(std::vector<std::byte> bytes, StateKind kind, const StateOptions& options, std::string name);

  /// The value of an option in the first bytes of a state; nothing if they do not contain it. Does not verify the checksum.
  static std::optional<std::string> saved_option(std::span<const std::byte> beginning,
                                                 std::string_view option);

  std::uint64_t number();
  std::uint64_t number_at_most(std::uint64_t most);
  std::vector<std::uint64_t> numbers();
  std::string_view text();  ///< valid as long as the reader
  /// `key` is the secret of a keyed hash.
  AnyFilter filter(const std::optional<HashKey>& key);
  HashSet set(std::uint64_t max_bytes);
  std::vector<std::uint64_t> large_numbers();

  /// Throws a FormatError about what was read last.
  [[noreturn]] void fail(const std::string& reason) const;
  /// Returns what `make` returns. A std::invalid_argument from a constructor that refuses the values becomes a FormatError.
  template <class Make>
  auto made(Make make) const {
    try {
      return make();
    } catch (const std::invalid_argument& error) {
      fail(error.what());
    }
  }
  /// Throws FormatError unless everything was read.
  void finish() const;

 private:
  friend class StateLoader;
  StateReader(std::vector<std::byte> bytes, std::size_t begin, std::size_t end);
  /// For the head of a state in pieces.
  StateReader(std::vector<std::byte> head, std::string name);
  void check_frame(bool is_head);
  void check_kind(StateKind kind);
  void check_options(const StateOptions& options);
  std::span<const std::byte> take(std::uint64_t count);
  template <class Wanted>
  Wanted next_part();

  std::vector<std::byte> bytes_;
  std::string name_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;  // of the body
  bool is_head_ = false;
  std::vector<Part> parts_;  // of a state in pieces, and the next one that is read
  std::size_t next_part_ = 0;
};

}  // namespace tally
