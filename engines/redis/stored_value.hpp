#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "any_value.hpp"
#include "call.hpp"
#include "dump_checksums.hpp"
#include "partial_load.hpp"
#include "tally/any_filter.hpp"
#include "tally/serialization/file_pieces.hpp"

namespace tally::redis {

/// A value of some parameters and one or more filters. The header of its dump: magic bytes, the number of files, the
/// parameters, the headers of the Tally files, a checksum. The body: the bodies of the files, none of which shares a piece
/// with the next one.
class StoredValue : public AnyValue {
 public:
  bool is_complete() const noexcept { return !partial_.has_value(); }
  void require_complete() const override;

  std::string dump_header() const override;
  std::string empty_header() const override;
  std::uint64_t dump_bytes() const override;
  std::string_view dump_piece(std::uint64_t offset) const override;

  // A dump for clients, which are not to wait for the checksum of a large value. The value must not change meanwhile.

  /// Begins a dump, or goes on with it; each call reads at most DumpChecksums::step_bytes. Returns the checksums once they
  /// are complete, and nullptr before. Throws Refusal if the value has changed since the dump began, or if none did.
  const DumpChecksums* begin_dump();
  const DumpChecksums* continue_dump();
  /// For the next call: how many bytes were read, as a negative number. Other positions are from 0 on.
  long long dump_position() const noexcept { return -static_cast<long long>(checksums_->num_bytes()); }
  bool has_begun_dump() const noexcept { return checksums_ != nullptr; }
  /// dump_header() without reading the value.
  std::string dump_header_with(const DumpChecksums& checksums) const;
  /// Throws Refusal if the value has changed since begin_dump().
  void require_unchanged_dump();

  void begin_load(std::string_view header, std::uint64_t max_bytes) override;
  /// PartialLoad::append.
  void load_piece(std::uint64_t end, std::string_view bytes) override;
  void load_empty(std::string_view header, std::uint64_t max_bytes) override;
  /// The next bytes of a plain Tally file, from byte `offset` of it on, for a value that is one filter. With the last bytes,
  /// the value is complete. Throws Refusal, FormatError and std::bad_alloc; then nothing has changed.
  void load_file_piece(std::uint64_t offset, std::string_view bytes, const Call& call);
  std::uint64_t total_bytes() const override { return partial_ ? partial_->total_bytes() : dump_bytes(); }

 protected:
  StoredValue() = default;
  /// A dump of the copy has not begun.
  StoredValue(const StoredValue& other) : AnyValue(other), partial_(other.partial_) {}

 private:
  std::uint64_t own_memory_bytes() const override;
  void complete_load();
  /// Whether it can be loaded by load_file_piece.
  virtual bool is_one_file() const noexcept { return false; }
  virtual std::string_view magic() const noexcept = 0;  ///< 8 bytes
  virtual std::string parameters() const = 0;           ///< always of the same length
  virtual std::vector<FilterView> filters() const = 0;
  /// Throws FormatError if a value cannot have these parameters together with files of these headers.
  virtual void set_parameters(std::string_view bytes, const std::vector<FileHeader>& headers) = 0;
  virtual void take(std::vector<AnyFilter> filters) = 0;
  virtual std::uint64_t other_bytes() const noexcept { return 0; }  ///< beside the filters

  using FileHeaderOf =
      std::function<std::array<std::byte, file_header_bytes>(const FilterView&, std::size_t file)>;
  std::string header_with(const FileHeaderOf& header_of) const;

  std::optional<PartialLoad> partial_;
  std::unique_ptr<DumpChecksums> checksums_;
};

}  // namespace tally::redis
