#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tally/serialization.hpp"

namespace tally::cli {

/// Which command a state is of; the numbers stand in files.
enum class StateKind : std::uint16_t { over = 1, over_sums = 2, top = 3 };

/// What must be the same when a state is taken up again, as names and values.
using StateOptions = std::vector<std::pair<std::string, std::string>>;

/// The state of a stream command, so that a later run goes on where this one stopped (docs/format.md).
class StateWriter {
 public:
  StateWriter(StateKind kind, const StateOptions& options);

  void number(std::uint64_t value);
  void numbers(std::span<const std::uint64_t> values);
  void text(std::string_view text);
  void filter(const AnyFilter& filter);  ///< as an ordinary filter file

  /// The whole file.
  std::vector<std::byte> bytes() const;

 private:
  std::vector<std::byte> bytes_;
};

/// Reads what a StateWriter wrote, in the same order. Everything throws FormatError for bytes that are none,
/// and before it allocates more than the file has; std::runtime_error that names the path for other options.
class StateReader {
 public:
  /// Nothing if there is no such file.
  static std::optional<StateReader> open(const std::string& path, StateKind kind,
                                         const StateOptions& options);

  /// The value of an option that the state in this file was written with; nothing where that cannot be read, which
  /// `open` will say. Reads only the beginning of the file, and checks it no further.
  static std::optional<std::string> saved_option(const std::string& path, std::string_view name);

  std::uint64_t number();
  std::uint64_t number_at_most(std::uint64_t most);
  std::vector<std::uint64_t> numbers();
  std::string_view text();
  /// `key` is that of a keyed hash.
  AnyFilter filter(const std::optional<HashKey>& key);
  /// The filter inside; throws FormatError if it is of another kind, or made by another hash.
  template <class Filter>
  Filter filter_of(const KeyHasher& hasher, const std::optional<HashKey>& key) {
    const AnyFilter any = filter(key);
    return any.visit([&](const auto& inside) -> Filter {
      if constexpr (std::is_same_v<std::decay_t<decltype(inside)>, Filter>) {
        if (inside.hasher() == hasher) return inside;
      }
      fail("a filter is not of the kind and hash of the command");
    });
  }

  [[noreturn]] void fail(const std::string& reason) const;
  /// What the library refuses of what was read is a FormatError too.
  template <class Make>
  auto made(Make make) const {
    try {
      return make();
    } catch (const std::invalid_argument& error) {
      fail(error.what());
    }
  }
  void finish() const;  ///< throws if anything is left

 private:
  StateReader(std::string path, std::vector<std::byte> bytes)
      : path_(std::move(path)), bytes_(std::move(bytes)) {}
  void check(StateKind kind);
  void check_options(const StateOptions& options);
  std::span<const std::byte> take(std::uint64_t count);

  std::string path_;
  std::vector<std::byte> bytes_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;  // of the body
};

}  // namespace tally::cli
