#pragma once

#include <filesystem>
#include <optional>
#include <utility>

#include "tally/any_filter.hpp"
#include "tally/export.hpp"

namespace tally {

/// Whether opening a file reads its body, or only its header.
enum class VerifyBody { no, yes };

/// A filter that reads its bits or counters from a mapped file. It opens immediately, whatever the size, and
/// all processes that map the file share its memory.
///
/// Opening checks the header and the file's length. The body is checked (checksum, padding) only on request.
/// Whatever an unchecked body holds, answers may be wrong, but no memory outside it is touched. A copy of
/// filter() has its own memory and can be written to; copy only what was verified, or damage gets a fresh
/// checksum. The file may be replaced (as `save` does) but must not be shortened while it is mapped: the
/// kernel would then end the program (SIGBUS).
/// Threads: any number of threads may read.
class TALLY_EXPORT MappedFilter {
 public:
  /// Throws FormatError, std::invalid_argument for a missing or wrong key, std::system_error for errors of
  /// the file system; all name the path.
  static MappedFilter open(const std::filesystem::path& path, const std::optional<HashKey>& key = {},
                           VerifyBody verify = VerifyBody::no);

  const AnyFilter& filter() const& noexcept { return filter_; }
  const AnyFilter& filter() && = delete;  // the file would be unmapped before its first use

 private:
  explicit MappedFilter(AnyFilter filter) : filter_(std::move(filter)) {}

  AnyFilter filter_;
};

namespace detail {

/// The mapped filter, which has this type. Throws what MappedFilter::open throws, and FileKindError.
TALLY_EXPORT AnyFilter map_type(const std::filesystem::path& path, const std::optional<HashKey>& key,
                                VerifyBody verify, FilterType type);

}  // namespace detail

/// The same for a filter whose type is known: Mapped<BloomFilter<>>::open("seen.tally")->may_contain("apple").
template <FilterInFiles F>
class Mapped {
 public:
  /// Throws what MappedFilter::open throws, and FileKindError, which names both, for a file of another kind or scheme.
  static Mapped open(const std::filesystem::path& path, const std::optional<HashKey>& key = {},
                     VerifyBody verify = VerifyBody::no) {
    AnyFilter filter = detail::map_type(path, key, verify, filter_type<F>);
    return Mapped(std::move(*filter.get_if<F>()));
  }

  const F& operator*() const& noexcept { return filter_; }
  const F& operator*() && = delete;  // the file would be unmapped before its first use
  const F* operator->() const noexcept { return &filter_; }

 private:
  explicit Mapped(F filter) : filter_(std::move(filter)) {}

  F filter_;
};

}  // namespace tally
