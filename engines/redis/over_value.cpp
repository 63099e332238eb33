#include "over_value.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "partial_load.hpp"
#include "refusal.hpp"
#include "value_pieces.hpp"

namespace tally::redis {
namespace {

/// The head in a header. Throws FormatError.
std::vector<std::byte> head_in(std::string_view header) {
  if (!header.starts_with(OverValue::first_bytes)) {
    throw FormatError("the dump does not begin with " + std::string(OverValue::first_bytes), 0);
  }
  const auto head = bytes_of(header.substr(OverValue::first_bytes.size()));
  return {head.begin(), head.end()};
}

}  // namespace

void OverValue::require_complete() const {
  if (stream_) return;
  refuse_incomplete(loader_->loaded_bytes(), loader_->body_bytes());
}

const StatePieces& OverValue::pieces() const {
  if (!pieces_) pieces_.emplace(stream_->pieces());
  return *pieces_;
}

std::string OverValue::dump_header() const {
  std::string header(first_bytes);
  header += text_of(loader_ ? loader_->head() : pieces().head());
  return header;
}

std::uint64_t OverValue::dump_bytes() const {
  return loader_ ? loader_->loaded_bytes() : pieces().body_bytes();
}

std::string_view OverValue::dump_piece(std::uint64_t offset) const {
  return text_of(loader_ ? loader_->body_piece(offset, max_piece_bytes)
                         : pieces().body_piece(offset, max_piece_bytes));
}

void OverValue::begin_load(std::string_view header, std::uint64_t max_bytes) {
  StateLoader loader(head_in(header));
  if (loader.body_bytes() == 0) throw FormatError("the state has no body", first_bytes.size());
  if (loader.body_bytes() > max_bytes) {
    throw Refusal("ERR the state takes " + std::to_string(loader.body_bytes()) + " bytes; must be at most " +
                  std::to_string(max_bytes) + ", the module's option MAX-KEY-BYTES");
  }
  require_options_that_fit(loader);
  loader_ = std::move(loader);
}

void OverValue::load_piece(std::uint64_t end, std::string_view bytes) {
  if (!loader_ || end < bytes.size() || end - bytes.size() != loader_->loaded_bytes()) {
    throw Refusal("ERR invalid offset - no link found");
  }
  if (bytes.empty() || bytes.size() > loader_->bytes_to_end_of_part()) throw Refusal("ERR received bad data");
  std::optional<StateLoader> anew;  // made before the last piece is taken, because that cannot be undone
  if (end == loader_->body_bytes()) anew.emplace(std::vector(loader_->head().begin(), loader_->head().end()));
  try {
    loader_->add(bytes_of(bytes));
  } catch (const FormatError&) {
    throw Refusal("ERR received bad data");
  } catch (const std::invalid_argument&) {  // a filter with a secret key
    throw Refusal("ERR received bad data");
  }
  if (!loader_->is_complete()) return;
  try {
    stream_.emplace(std::move(*loader_));
  } catch (const std::bad_alloc&) {
    loader_ = std::move(anew);
    throw;
  } catch (const std::exception& error) {
    loader_ = std::move(anew);
    throw Refusal("ERR the state is damaged: " + std::string(error.what()));
  }
  loader_.reset();
}

void OverValue::load_empty(std::string_view header, std::uint64_t max_bytes) {
  begin_load(header, max_bytes);
  const StateLoader loader = *std::exchange(loader_, std::nullopt);
  stream_.emplace(OverStream::empty(loader));
  if (dump_header() != header) throw FormatError("the value is not empty", first_bytes.size());
}

std::uint64_t OverValue::own_memory_bytes() const {
  std::uint64_t bytes = sizeof *this;
  if (stream_) bytes += stream_->memory_bytes();
  if (loader_) bytes += loader_->memory_bytes();
  if (pieces_) bytes += pieces_->memory_bytes();
  return bytes;
}

std::unique_ptr<AnyValue> OverValue::copy_without_journal() const { return copied_in_pieces(*this); }

}  // namespace tally::redis
