#include "stored_value.hpp"

#include <utility>

#include "parameter_bytes.hpp"
#include "refusal.hpp"
#include "tally/serialization/file_pieces.hpp"
#include "value_pieces.hpp"

namespace tally::redis {
namespace {

void require_at_most(std::uint64_t max_bytes, const PartialLoad& load) {
  if (load.total_bytes() <= max_bytes) return;
  throw Refusal("ERR the value takes " + std::to_string(load.total_bytes()) + " bytes; must be at most " +
                std::to_string(max_bytes) + ", the module's option MAX-KEY-BYTES");
}

}  // namespace

void StoredValue::require_complete() const {
  if (is_complete()) return;
  if (partial_->headers().empty()) {
    throw Refusal("ERR the value is incomplete: " + std::to_string(partial_->header_bytes().size()) +
                  " bytes of its file are imported; import the remaining pieces, or delete the key");
  }
  refuse_incomplete(partial_->loaded_bytes(), partial_->total_bytes());
}

std::string StoredValue::header_with(const FileHeaderOf& header_of) const {
  std::string header(magic());
  append_parameter(header, partial_ ? partial_->headers().size() : filters().size());
  header += parameters();
  if (partial_) {
    header += partial_->header_bytes();
  } else {
    std::size_t file = 0;
    for (const FilterView& filter : filters()) header += text_of(header_of(filter, file++));
  }
  append_parameter(header, checksum_of(header));
  return header;
}

std::string StoredValue::dump_header() const {
  return header_with([](const FilterView& filter, std::size_t) { return file_header(filter); });
}

std::string StoredValue::empty_header() const {
  return header_with([](const FilterView& filter, std::size_t) { return file_header_without_body(filter); });
}

std::string StoredValue::dump_header_with(const DumpChecksums& checksums) const {
  return header_with([&](const FilterView& filter, std::size_t file) {
    return file_header(filter, checksums.of_file(file));
  });
}

const DumpChecksums* StoredValue::begin_dump() {
  checksums_ = std::make_unique<DumpChecksums>(empty_header(), filters().size());
  return continue_dump();
}

const DumpChecksums* StoredValue::continue_dump() {
  require_unchanged_dump();
  return checksums_->is_complete() || checksums_->advance(filters()) ? checksums_.get() : nullptr;
}

void StoredValue::require_unchanged_dump() {
  if (!checksums_ || checksums_->description() == empty_header()) return;
  checksums_.reset();
  throw Refusal(
      "ERR the key has changed since the call with position 0; begin again, and do not write to the key "
      "until "
      "the last piece");
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
  std::string_view rest = header.substr(magic().size());
  const std::uint64_t num_files = take_parameter(rest);
  const std::string_view files = header.substr(before_files);
  if (num_files == 0 && is_one_file() && files.size() < file_header_bytes) {
    partial_ = PartialLoad::of_file_start(files);
    return;
  }
  PartialLoad load(files);
  if (num_files != load.headers().size()) {
    throw FormatError("the number of files is not what the header states", magic().size());
  }
  require_at_most(max_bytes, load);
  set_parameters(header.substr(before_parameters, parameters().size()), load.headers());
  partial_ = std::move(load);
}

void StoredValue::load_piece(std::uint64_t end, std::string_view bytes) {
  if (!partial_) throw Refusal("ERR invalid offset - no link found");
  partial_->append(end, bytes);
  complete_load();
}

void StoredValue::complete_load() {
  if (!partial_->is_complete()) return;
  take(std::move(*partial_).take());
  partial_.reset();
}

void StoredValue::load_file_piece(std::uint64_t offset, std::string_view bytes, const Call& call) {
  const std::uint64_t next = partial_ ? partial_->header_bytes().size() + partial_->loaded_bytes() : 0;
  if (offset != next) {
    throw Refusal("ERR the piece begins at byte " + std::to_string(offset) + " of the file; must begin at " +
                  std::to_string(next) + ", where the last one ended");
  }
  if (next >= file_header_bytes) return load_piece(partial_->loaded_bytes() + bytes.size(), bytes);
  std::string start(partial_ ? partial_->header_bytes() : std::string_view());
  const std::string_view in_header = bytes.substr(0, file_header_bytes - next);
  start += in_header;
  if (start.size() < file_header_bytes) {
    partial_ = PartialLoad::of_file_start(start);
    return;
  }
  PartialLoad load(start);
  require_at_most(call.max_key_bytes(), load);
  call.require_memory_for(load.total_bytes());
  bytes.remove_prefix(in_header.size());
  if (!bytes.empty()) load.append(bytes.size(), bytes);
  partial_ = std::move(load);
  complete_load();
}

void StoredValue::load_empty(std::string_view header, std::uint64_t max_bytes) {
  begin_load(header, max_bytes);
  if (partial_->headers().empty()) throw FormatError("the dump has no file", magic().size());
  std::vector<AnyFilter> filters;
  for (const FileHeader& file : partial_->headers()) {
    if (file.totals != FilterTotals{}) throw FormatError("the file is not empty", magic().size() + 8);
    filters.emplace_back(file.shape, file.hasher({}));
  }
  take(std::move(filters));
  partial_.reset();
}

std::uint64_t StoredValue::own_memory_bytes() const {
  if (partial_) return partial_->memory_bytes();
  std::uint64_t bytes = 128 + other_bytes();  // the object and its vectors
  for (const FilterView& filter : filters()) bytes += 128 + filter.shape.num_bytes();
  return bytes;
}

}  // namespace tally::redis
