#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "partial_load.hpp"
#include "tally/any_filter.hpp"

namespace tally::redis {

/// The value of a key: some parameters and one or more filters. It is dumped and loaded in pieces: a header (the type's
/// magic bytes, the number of files, the parameters, the headers of the Tally files, a checksum), then the bodies of the files.
///
/// While a dump is being loaded, the value is incomplete, and only the functions of dumps and loads work.
class StoredValue {
 public:
  virtual ~StoredValue() = default;

  bool is_complete() const noexcept { return !partial_.has_value(); }
  /// Throws Refusal for an incomplete value.
  void require_complete() const;

  // A dump. An incomplete value dumps what it has loaded.

  std::string dump_header() const;
  std::uint64_t dump_bytes() const;
  /// The bytes from `offset` on: at most a piece, and not beyond the end of a filter.
  std::string_view dump_piece(std::uint64_t offset) const;

  // A load.

  /// Bodies of at most `max_bytes` in all. Throws Refusal and FormatError.
  void begin_load(std::string_view header, std::uint64_t max_bytes);
  /// PartialLoad::append; with the last piece, the value is complete.
  void load_piece(std::uint64_t end, std::string_view bytes);
  /// Of the bodies, once they are loaded.
  std::uint64_t total_bytes() const { return partial_ ? partial_->total_bytes() : dump_bytes(); }

  std::uint64_t memory_bytes() const;

  virtual std::unique_ptr<StoredValue> copy() const = 0;

 protected:
  StoredValue() = default;
  StoredValue(const StoredValue&) = default;
  StoredValue& operator=(const StoredValue&) = delete;

 private:
  virtual std::string_view magic() const noexcept = 0;  ///< 8 bytes
  virtual std::string parameters() const = 0;           ///< always of the same length
  virtual std::vector<FilterView> filters() const = 0;
  /// Throws FormatError if a value cannot have these parameters together with files of these headers.
  virtual void set_parameters(std::string_view bytes, const std::vector<FileHeader>& headers) = 0;
  virtual void take(std::vector<AnyFilter> filters) = 0;

  std::optional<PartialLoad> partial_;
};

}  // namespace tally::redis
