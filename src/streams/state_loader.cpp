#include "tally/streams/state_loader.hpp"

#include <algorithm>
#include <utility>

#include "streams/state_frame.hpp"
#include "streams/words_checksum.hpp"
#include "tally/detail/little_endian.hpp"
#include "tally/serialization/file_pieces.hpp"

namespace tally {
namespace {

constexpr const char* loaded_state = "the loaded bytes";

// A window has up to 1000 slots with a filter and a set of up to 64 shards each.
constexpr std::size_t most_parts = std::size_t{1} << 17;
constexpr std::size_t most_head_bytes = std::size_t{16} << 20;

}  // namespace

StateLoader::StateLoader(std::vector<std::byte> head, const std::optional<HashKey>& key)
    : key_(key), head_(std::move(head)) {
  if (head_.size() > most_head_bytes)
    throw FormatError("the head is too long", most_head_bytes, loaded_state);
  StateReader table(head_, loaded_state);
  const std::size_t end = table.end_;
  table.at_ = std::max(table.at_, end - std::min(end, sizeof(std::uint64_t)));
  const std::uint64_t table_bytes = table.number();
  if (table_bytes > end - sizeof(std::uint64_t) - detail::state::body_at) table.fail("its table is too long");
  table.end_ = end - sizeof(std::uint64_t);
  table.at_ = table.end_ - table_bytes;
  while (table.at_ < table.end_) {
    Part part;
    const std::uint64_t num_words = table.number();
    if (num_words == detail::state::is_filter) {
      const std::string_view bytes = table.text();
      const auto header = std::as_bytes(std::span(bytes.data(), bytes.size()));
      part.file_header.assign(header.begin(), header.end());
      if (header.size() != file_header_bytes) table.fail("the header of a filter has another length");
      part.num_bytes = read_header(header).body_bytes();
    } else {
      if (num_words > ~std::uint64_t{0} / sizeof(std::uint64_t)) table.fail("a part is too long");
      part.num_bytes = num_words * sizeof(std::uint64_t);
      part.checksum = table.number();
    }
    if (__builtin_add_overflow(body_bytes_, part.num_bytes, &body_bytes_))
      table.fail("its parts are too long");
    if (parts_.size() == most_parts) table.fail("it has too many parts");
    parts_.push_back(std::move(part));
  }
  skip_empty_parts();
}

void StateLoader::skip_empty_parts() {
  for (; current_ < parts_.size() && parts_[current_].num_bytes == loaded_of_part_; ++current_) {
    if (loaded_of_part_ == 0) parts_[current_].loaded = detail::AlignedWords();
    loaded_of_part_ = 0;
  }
}

std::uint64_t StateLoader::bytes_to_end_of_part() const noexcept {
  return current_ < parts_.size() ? parts_[current_].num_bytes - loaded_of_part_ : 0;
}

void StateLoader::add(std::span<const std::byte> bytes) {
  if (bytes.size() > bytes_to_end_of_part())
    throw FormatError("the bytes go beyond the end of a part", loaded_bytes_, loaded_state);
  if (bytes.empty()) return;
  Part& part = parts_[current_];
  if (part.file_header.empty()) add_words(part, bytes);
  else add_to_filter(part, bytes);
  loaded_of_part_ += bytes.size();
  loaded_bytes_ += bytes.size();
  skip_empty_parts();
}

void StateLoader::add_words(Part& part, std::span<const std::byte> bytes) {
  if (loaded_of_part_ == 0) part.loaded = detail::AlignedWords(part.num_bytes / sizeof(std::uint64_t));
  const auto all = std::as_writable_bytes(std::get<detail::AlignedWords>(part.loaded).words());
  std::ranges::copy(bytes, all.begin() + static_cast<std::ptrdiff_t>(loaded_of_part_));
  if (loaded_of_part_ + bytes.size() == part.num_bytes && detail::words_checksum(all) != part.checksum)
    throw FormatError("the checksum of a part does not match", loaded_bytes_, loaded_state);
}

void StateLoader::add_to_filter(Part& part, std::span<const std::byte> bytes) {
  if (loaded_of_part_ == 0) {
    FilterLoader loader(part.num_bytes, key_);
    loader.add(part.file_header);
    part.loaded = std::move(loader);
  }
  auto& loader = std::get<FilterLoader>(part.loaded);
  try {
    loader.add(bytes);
  } catch (const std::bad_alloc&) {
    if (loader.num_bytes() == 0) {
      loaded_bytes_ -= loaded_of_part_;
      loaded_of_part_ = 0;
    }
    throw;
  }
  if (loader.is_complete()) part.loaded = std::move(loader).take();
}

std::span<const std::byte> StateLoader::body_piece(std::uint64_t offset,
                                                   std::uint64_t max_bytes) const noexcept {
  if (offset >= loaded_bytes_) return {};
  max_bytes = std::min(max_bytes, loaded_bytes_ - offset);
  for (const Part& part : parts_) {
    if (offset >= part.num_bytes) {
      offset -= part.num_bytes;
      continue;
    }
    if (const auto* const filter = std::get_if<AnyFilter>(&part.loaded))
      return tally::body_piece(*filter, offset, max_bytes);
    if (const auto* const loader = std::get_if<FilterLoader>(&part.loaded))
      return loader->body_piece(offset, max_bytes);
    const auto all = std::as_bytes(std::get<detail::AlignedWords>(part.loaded).words());
    return all.subspan(offset, std::min<std::uint64_t>(max_bytes, all.size() - offset));
  }
  return {};
}

std::uint64_t StateLoader::memory_bytes() const noexcept {
  std::uint64_t bytes = head_.capacity() + parts_.capacity() * sizeof(Part);
  for (const Part& part : parts_) {
    if (!std::holds_alternative<std::monostate>(part.loaded)) bytes += part.num_bytes;
    bytes += part.file_header.capacity();
  }
  return bytes;
}

StateReader StateLoader::reader(StateKind kind, const StateOptions& options, std::string name) && {
  StateReader reader(std::move(head_), std::move(name));
  if (!is_complete()) reader.fail("it is not complete");
  reader.check_kind(kind);
  reader.check_options(options);
  const std::size_t end = reader.end_ - sizeof(std::uint64_t);
  reader.end_ = end - detail::load_little_endian<std::uint64_t>(reader.bytes_.data() + end);
  for (Part& part : parts_) {
    if (auto* const words = std::get_if<detail::AlignedWords>(&part.loaded))
      reader.parts_.emplace_back(std::move(*words));
    else reader.parts_.emplace_back(std::move(std::get<AnyFilter>(part.loaded)));
  }
  return reader;
}

}  // namespace tally
