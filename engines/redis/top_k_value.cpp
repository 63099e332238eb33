#include "top_k_value.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <utility>

#include "parameter_bytes.hpp"
#include "partial_load.hpp"
#include "refusal.hpp"
#include "value_pieces.hpp"

namespace tally::redis {
namespace {

constexpr std::uint64_t num_parameters = 6;
constexpr std::uint64_t header_bytes = 8 + 8 * num_parameters + 8;
constexpr std::uint64_t bytes_per_item = 120;  // of a CountedKeys, without the item's bytes

CountMinShape shape_of(const TopKOptions& options) {
  return {.width = options.width,
          .depth = static_cast<std::uint32_t>(std::min<std::uint64_t>(options.depth, ~std::uint32_t{0})),
          .counter_bits = 32,
          .update = CounterUpdate::conservative};
}

/// Throws std::invalid_argument for options out of range.
std::uint64_t sketch_bytes(const TopKOptions& options) {
  const CountMinShape shape = shape_of(options);
  check_shape<DefaultRows>(shape);
  return num_bytes(shape);
}

/// Has room for few items at first, since many lists stay short.
TopKeys<> make_keys(const TopKOptions& options, std::uint64_t seed) {
  return {CountMinSketch<>(shape_of(options), seed), CountedKeys::with_room(0, options.k, "TopKeys"), 0, 0};
}

void require_at_most(std::uint64_t bytes, std::uint64_t max_bytes) {
  if (bytes <= max_bytes) return;
  throw Refusal("TopK: the value takes up to " + std::to_string(bytes) + " bytes; must be at most " +
                std::to_string(max_bytes) + ", the module's option MAX-KEY-BYTES");
}

}  // namespace

TopKValue::TopKValue(const TopKOptions& options, std::uint64_t seed, const Call& call)
    : options_(options), seed_(seed) {
  const std::uint64_t bytes = sketch_bytes(options) + bytes_per_item * options.k;
  require_at_most(bytes, call.max_key_bytes());
  call.require_memory_for(bytes);
  keys_.emplace(make_keys(options, seed));
}

std::optional<std::string> TopKValue::add(std::string_view item, std::uint64_t increment) {
  const bool can_replace = increment > 0 && needs_a_place(item);
  std::string least = can_replace ? std::string(keys_->least().key) : "";
  if (!put(item, increment, can_replace)) return std::nullopt;
  return least;
}

bool TopKValue::put(std::string_view item, std::uint64_t increment, bool can_replace) {
  pieces_.reset();
  if (increment == 0) return false;
  const std::uint64_t least_bytes = can_replace ? keys_->least().key.size() : 0;
  const std::uint64_t size_before = keys_->candidates().size();
  keys_->add(item, increment);
  if (keys_->candidates().size() != size_before) item_bytes_ += item.size();
  if (!can_replace || !is_listed(item)) return false;
  item_bytes_ += item.size() - least_bytes;
  return true;
}

std::uint64_t TopKValue::most_bytes_to_add(std::uint64_t num_items, std::uint64_t item_bytes) const noexcept {
  // A string takes up to twice the bytes that it must, and an allocator gives up to a quarter more.
  constexpr std::uint64_t bytes_per_string = 64;
  return 3 * item_bytes + bytes_per_string * num_items + keys_->candidates().most_bytes_to_add(num_items);
}

bool TopKValue::is_listed(std::string_view item) const {
  return keys_->candidates().find(keys_->hasher()(item)) != CountedKeys::none;
}

std::uint64_t TopKValue::memory_with(std::uint64_t item_bytes) const noexcept {
  return num_bytes(keys_->sketch().shape()) + bytes_per_item * options_.k + item_bytes_ + item_bytes;
}

void TopKValue::require_complete() const {
  if (keys_) return;
  refuse_incomplete(loader_->num_bytes(), file_bytes_);
}

const SketchPieces& TopKValue::pieces() const {
  if (!pieces_) pieces_.emplace(*keys_);
  return *pieces_;
}

std::string TopKValue::dump_header() const { return header_with(keys_ ? dump_bytes() : file_bytes_); }

std::string TopKValue::empty_header() const {
  return header_with(file_header_bytes + sketch_bytes(options_));
}

std::string TopKValue::header_with(std::uint64_t file_bytes) const {
  std::string header(first_bytes);
  append_parameter(header, options_.k);
  append_parameter(header, options_.width);
  append_parameter(header, options_.depth);
  append_parameter(header, std::bit_cast<std::uint64_t>(options_.decay));
  append_parameter(header, seed_);
  append_parameter(header, file_bytes);
  append_parameter(header, checksum_of(header));
  return header;
}

std::uint64_t TopKValue::dump_bytes() const { return loader_ ? loader_->num_bytes() : pieces().num_bytes(); }

std::string_view TopKValue::dump_piece(std::uint64_t offset) const {
  return text_of(loader_ ? loader_->piece(offset, max_piece_bytes) : pieces().piece(offset, max_piece_bytes));
}

/// Returns the bytes of the body. Nothing is allocated but what the bytes of later pieces need.
std::uint64_t TopKValue::read_header(std::string_view header, std::uint64_t max_bytes) {
  if (header.size() != header_bytes || !header.starts_with(first_bytes)) {
    throw FormatError("the dump does not begin with " + std::string(first_bytes), 0);
  }
  std::string_view rest = header.substr(first_bytes.size());
  TopKOptions options;
  options.k = take_parameter(rest);
  options.width = take_parameter(rest);
  options.depth = take_parameter(rest);
  options.decay = std::bit_cast<double>(take_parameter(rest));
  const std::uint64_t seed = take_parameter(rest);
  const std::uint64_t file_bytes = take_parameter(rest);
  if (take_parameter(rest) != checksum_of(header.substr(0, header_bytes - 8))) {
    throw FormatError("the header's checksum is wrong", header_bytes - 8);
  }
  if (options.k < 1 || options.k > CountedKeys::max_capacity) throw FormatError("k is out of range", 8);
  if (!(options.decay > 0 && options.decay <= 1))
    throw FormatError("the decay is not above 0 and up to 1", 32);
  std::uint64_t least_bytes = 0;
  try {
    least_bytes = file_header_bytes + sketch_bytes(options);
  } catch (const std::invalid_argument&) {
    throw FormatError("the width or the depth is out of range", 16);
  }
  if (file_bytes < least_bytes) throw FormatError("the body is too short for the sketch", 48);
  require_at_most(std::max(file_bytes, least_bytes), max_bytes);
  options_ = options;
  seed_ = seed;
  return file_bytes;
}

void TopKValue::begin_load(std::string_view header, std::uint64_t max_bytes) {
  file_bytes_ = read_header(header, max_bytes);
  loader_.emplace(file_bytes_ - file_header_bytes);
}

void TopKValue::load_piece(std::uint64_t end, std::string_view bytes) {
  if (!loader_ || end < bytes.size() || end - bytes.size() != loader_->num_bytes()) {
    throw Refusal("ERR invalid offset - no link found");
  }
  if (bytes.size() > file_bytes_ - loader_->num_bytes()) {
    throw Refusal("ERR invalid chunk - Too big for current filter");
  }
  if (bytes.empty()) throw Refusal("ERR received bad data");
  try {
    loader_->add(bytes_of(bytes));
    if (loader_->is_complete() || loader_->num_bytes() == file_bytes_) take_file();
  } catch (const FormatError&) {
    throw Refusal("ERR received bad data");
  } catch (const std::invalid_argument&) {  // a file with a secret key
    throw Refusal("ERR received bad data");
  }
}

/// Throws FormatError if the file does not fit the header.
void TopKValue::take_file() {
  SketchLoader loaded = *std::exchange(loader_, SketchLoader(file_bytes_ - file_header_bytes));
  const bool is_all = loaded.num_bytes() == file_bytes_;
  auto any = std::move(loaded).take();
  auto* const keys = std::get_if<TopKeys<>>(&any);
  if (!is_all || keys == nullptr || keys->capacity() != options_.k ||
      keys->sketch().shape() != shape_of(options_) || keys->hasher() != KeyHasher(seed_)) {
    throw FormatError("the file does not fit the header", 0);
  }
  item_bytes_ = 0;
  for (std::uint32_t i = 0; i < keys->candidates().size(); ++i) {
    item_bytes_ += keys->candidates().key_bytes(i).size();
  }
  keys_ = std::move(*keys);
  loader_.reset();
}

std::unique_ptr<AnyValue> TopKValue::copy_without_journal() const { return copied_in_pieces(*this); }

void TopKValue::load_empty(std::string_view header, std::uint64_t max_bytes) {
  const std::uint64_t file_bytes = read_header(header, max_bytes);
  loader_.reset();
  if (file_bytes != file_header_bytes + sketch_bytes(options_)) {
    throw FormatError("the value is not empty", 48);
  }
  keys_.emplace(make_keys(options_, seed_));
}

std::uint64_t TopKValue::own_memory_bytes() const {
  std::uint64_t bytes = sizeof *this;
  if (keys_) bytes += keys_->num_bytes();
  if (loader_) bytes += loader_->memory_bytes();
  if (pieces_) bytes += pieces_->memory_bytes();
  return bytes;
}

}  // namespace tally::redis
