#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "tally/detail/aligned_words.hpp"
#include "tally/export.hpp"
#include "tally/serialization/filter_loader.hpp"
#include "tally/streams/state_reader.hpp"

namespace tally {

/// Loads the state of a stream that StatePieces gave. The bytes go straight to where the stream will have them, so that a
/// load takes little more memory than the stream.
class TALLY_EXPORT StateLoader {
 public:
  /// `key` is the secret of a keyed hash. Throws FormatError, also for a head of more than 16 MiB.
  /// Allocates nothing for the body: a head can claim any size.
  explicit StateLoader(std::vector<std::byte> head, const std::optional<HashKey>& key = {});

  std::span<const std::byte> head() const noexcept { return head_; }
  std::uint64_t body_bytes() const noexcept { return body_bytes_; }      ///< of the whole body
  std::uint64_t loaded_bytes() const noexcept { return loaded_bytes_; }  ///< of the body

  /// The next bytes of the body, up to the end of a part at most: see bytes_to_end_of_part. Each part is checked with its
  /// last byte. Throws FormatError, and std::invalid_argument for a missing or wrong key; then nothing has changed. Throws
  /// std::bad_alloc; then nothing has changed either, or the part begins anew.
  void add(std::span<const std::byte> bytes);
  /// From what has been loaded on; 0 if the state is complete.
  std::uint64_t bytes_to_end_of_part() const noexcept;
  bool is_complete() const noexcept { return loaded_bytes_ == body_bytes_; }

  /// What has been loaded of the body, from `offset` on, as StatePieces gives it.
  std::span<const std::byte> body_piece(std::uint64_t offset, std::uint64_t max_bytes) const noexcept;
  std::uint64_t memory_bytes() const noexcept;

  /// For the constructor or `restore` of a stream, once the state is complete. Throws what the constructor of StateReader
  /// throws.
  StateReader reader(StateKind kind, const StateOptions& options, std::string name) &&;

 private:
  struct Part {
    std::uint64_t num_bytes = 0;
    std::uint64_t checksum = 0;               // of words
    std::vector<std::byte> file_header = {};  // empty: words
    std::variant<std::monostate, detail::AlignedWords, FilterLoader, AnyFilter> loaded = {};
  };

  void skip_empty_parts();
  void add_words(Part& part, std::span<const std::byte> bytes);
  void add_to_filter(Part& part, std::span<const std::byte> bytes);

  std::optional<HashKey> key_;
  std::vector<std::byte> head_;
  std::vector<Part> parts_;
  std::size_t current_ = 0;  // the part that is being loaded
  std::uint64_t loaded_of_part_ = 0;
  std::uint64_t loaded_bytes_ = 0;
  std::uint64_t body_bytes_ = 0;
};

}  // namespace tally
