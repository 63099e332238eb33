#include "top_k_value.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <utility>

#include "parameter_bytes.hpp"
#include "partial_load.hpp"
#include "refusal.hpp"
#include "tally/serialization/sketch_files.hpp"

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
  file_ends_.reset();
  if (increment == 0) return std::nullopt;
  const bool can_replace = keys_->candidates().is_full() && !is_listed(item);
  std::string least = can_replace ? std::string(keys_->least().key) : "";
  const std::uint64_t size_before = keys_->candidates().size();
  keys_->add(item, increment);
  if (keys_->candidates().size() != size_before) item_bytes_ += item.size();
  if (!can_replace || !is_listed(item)) return std::nullopt;
  item_bytes_ += item.size() - least.size();
  return least;
}

bool TopKValue::is_listed(std::string_view item) const {
  return keys_->candidates().find(keys_->hasher()(item)) != CountedKeys::none;
}

std::uint64_t TopKValue::memory_with(std::uint64_t item_bytes) const noexcept {
  return num_bytes(keys_->sketch().shape()) + bytes_per_item * options_.k + item_bytes_ + item_bytes;
}

void TopKValue::require_complete() const {
  if (keys_) return;
  throw Refusal("ERR the value is incomplete: " + std::to_string(loaded_.size()) + " of " +
                std::to_string(file_bytes_) +
                " bytes are loaded; load the remaining chunks, or delete the key");
}

const TopKValue::FileEnds& TopKValue::file_ends() const {
  if (!file_ends_) {
    const std::vector<std::byte> file = serialize(*keys_);
    const std::string_view bytes = text_of(file);
    file_ends_ = FileEnds{std::string(bytes.substr(0, file_header_bytes)),
                          std::string(bytes.substr(file_header_bytes + counters().size()))};
  }
  return *file_ends_;
}

std::string_view TopKValue::counters() const {
  return text_of(std::as_bytes(keys_->sketch().storage().words()));
}

std::string TopKValue::dump_header() const {
  std::string header(first_bytes);
  append_parameter(header, options_.k);
  append_parameter(header, options_.width);
  append_parameter(header, options_.depth);
  append_parameter(header, std::bit_cast<std::uint64_t>(options_.decay));
  append_parameter(header, seed_);
  append_parameter(header, keys_ ? dump_bytes() : file_bytes_);
  append_parameter(header, checksum_of(header));
  return header;
}

std::uint64_t TopKValue::dump_bytes() const {
  return keys_ ? file_header_bytes + counters().size() + file_ends().items.size() : loaded_.size();
}

std::string_view TopKValue::dump_piece(std::uint64_t offset) const {
  if (!keys_) return text_of(loaded_).substr(offset, max_piece_bytes);
  for (const std::string_view part :
       {std::string_view(file_ends().header), counters(), std::string_view(file_ends().items)}) {
    if (offset < part.size()) return part.substr(offset, max_piece_bytes);
    offset -= part.size();
  }
  return {};
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
}

void TopKValue::load_piece(std::uint64_t end, std::string_view bytes) {
  if (keys_ || end < bytes.size() || end - bytes.size() != loaded_.size()) {
    throw Refusal("ERR invalid offset - no link found");
  }
  if (bytes.size() > file_bytes_ - loaded_.size()) {
    throw Refusal("ERR invalid chunk - Too big for current filter");
  }
  if (bytes.empty()) throw Refusal("ERR received bad data");
  const std::size_t old_size = loaded_.size();
  const auto added = bytes_of(bytes);
  loaded_.insert(loaded_.end(), added.begin(), added.end());
  if (loaded_.size() != file_bytes_) return;
  try {
    auto keys = deserialize_sketch<TopKeys<>>(loaded_);
    if (keys.capacity() != options_.k || keys.sketch().shape() != shape_of(options_) ||
        keys.hasher() != KeyHasher(seed_)) {
      throw FormatError("the file does not fit the header", 0);
    }
    std::uint64_t item_bytes = 0;
    for (std::uint32_t i = 0; i < keys.candidates().size(); ++i) {
      item_bytes += keys.candidates().key_bytes(i).size();
    }
    keys_ = std::move(keys);
    item_bytes_ = item_bytes;
    loaded_ = {};
  } catch (const FormatError&) {
    loaded_.resize(old_size);
    throw Refusal("ERR received bad data");
  } catch (const std::invalid_argument&) {  // a file with a secret key
    loaded_.resize(old_size);
    throw Refusal("ERR received bad data");
  } catch (...) {
    loaded_.resize(old_size);
    throw;
  }
}

void TopKValue::load_empty(std::string_view header, std::uint64_t max_bytes) {
  const std::uint64_t file_bytes = read_header(header, max_bytes);
  if (file_bytes != file_header_bytes + sketch_bytes(options_)) {
    throw FormatError("the value is not empty", 48);
  }
  keys_.emplace(make_keys(options_, seed_));
}

std::uint64_t TopKValue::memory_bytes() const {
  std::uint64_t bytes = sizeof *this + loaded_.capacity();
  if (keys_) bytes += keys_->num_bytes();
  if (file_ends_) bytes += file_ends_->header.capacity() + file_ends_->items.capacity();
  return bytes;
}

}  // namespace tally::redis
