#include "stored_value.hpp"

#include <utility>

#include "parameter_bytes.hpp"
#include "refusal.hpp"
#include "tally/serialization/file_pieces.hpp"

namespace tally::redis {

void StoredValue::require_complete() const {
  if (is_complete()) return;
  throw Refusal("ERR the value is incomplete: " + std::to_string(partial_->loaded_bytes()) + " of " +
                std::to_string(partial_->total_bytes()) +
                " bytes are loaded; load the remaining chunks, or delete the key");
}

std::string StoredValue::header_with(
    std::array<std::byte, file_header_bytes> (*header_of)(const FilterView&)) const {
  std::string header(magic());
  append_parameter(header, partial_ ? partial_->headers().size() : filters().size());
  header += parameters();
  if (partial_) {
    header += partial_->header_bytes();
  } else {
    for (const FilterView& filter : filters()) header += text_of(header_of(filter));
  }
  append_parameter(header, checksum_of(header));
  return header;
}

std::uint64_t StoredValue::dump_bytes() const {
  if (partial_) return partial_->loaded_bytes();
  std::uint64_t bytes = 0;
  for (const FilterView& filter : filters()) bytes += filter.shape.num_bytes();
  return bytes;
}

std::string_view StoredValue::dump_piece(std::uint64_t offset) const {
  if (partial_) return partial_->piece(offset);
  for (const FilterView& filter : filters()) {
    const std::uint64_t size = filter.shape.num_bytes();
    if (offset < size) return text_of(body_piece(filter, offset, max_piece_bytes));
    offset -= size;
  }
  return {};
}

void StoredValue::begin_load(std::string_view header, std::uint64_t max_bytes) {
  const std::size_t before_parameters = magic().size() + 8;
  const std::size_t before_files = before_parameters + parameters().size();
  if (header.size() < before_files + 8 || !header.starts_with(magic())) {
    throw FormatError("the dump does not begin with " + std::string(magic()), 0);
  }
  std::string_view checksum = header.substr(header.size() - 8);
  header.remove_suffix(8);
  if (take_parameter(checksum) != checksum_of(header)) {
    throw FormatError("the header's checksum is wrong", header.size());
  }
  PartialLoad load(header.substr(before_files));
  std::string_view num_files = header.substr(magic().size());
  if (take_parameter(num_files) != load.headers().size()) {
    throw FormatError("the number of files is not what the header states", magic().size());
  }
  if (load.total_bytes() > max_bytes) {
    throw Refusal("ERR the value takes " + std::to_string(load.total_bytes()) + " bytes; must be at most " +
                  std::to_string(max_bytes) + ", the module's option MAX-KEY-BYTES");
  }
  set_parameters(header.substr(before_parameters, parameters().size()), load.headers());
  partial_ = std::move(load);
}

void StoredValue::load_piece(std::uint64_t end, std::string_view bytes) {
  if (!partial_) throw Refusal("ERR invalid offset - no link found");
  partial_->append(end, bytes);
  if (!partial_->is_complete()) return;
  take(std::move(*partial_).take());
  partial_.reset();
}

void StoredValue::load_empty(std::string_view header, std::uint64_t max_bytes) {
  begin_load(header, max_bytes);
  std::vector<AnyFilter> filters;
  for (const FileHeader& file : partial_->headers()) {
    if (file.totals != FilterTotals{}) throw FormatError("the file is not empty", magic().size() + 8);
    filters.emplace_back(file.shape, file.hasher({}));
  }
  take(std::move(filters));
  partial_.reset();
}

std::uint64_t StoredValue::memory_bytes() const {
  if (partial_) return partial_->memory_bytes();
  std::uint64_t bytes = 128 + other_bytes();  // the object and its vectors
  for (const FilterView& filter : filters()) bytes += 128 + filter.shape.num_bytes();
  return bytes;
}

}  // namespace tally::redis
