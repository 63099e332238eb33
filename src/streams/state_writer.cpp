#include "tally/streams/state_writer.hpp"

#include <cstring>
#include <utility>

#include "streams/state_frame.hpp"
#include "tally/detail/little_endian.hpp"
#include "tally/hashing/hash128.hpp"
#include "tally/serialization.hpp"
#include "tally/sets/hash_set.hpp"

namespace tally {
namespace {

namespace frame = detail::state;

template <class Integer>
void append(std::vector<std::byte>& bytes, Integer value) {
  bytes.resize(bytes.size() + sizeof value);
  detail::store_little_endian(bytes.data() + bytes.size() - sizeof value, value);
}

void append_bytes(std::vector<std::byte>& bytes, std::span<const std::byte> more) {
  if (more.empty()) return;
  bytes.resize(bytes.size() + more.size());
  std::memcpy(bytes.data() + bytes.size() - more.size(), more.data(), more.size());
}

}  // namespace

StateWriter::StateWriter(StateKind kind, const StateOptions& options) : StateWriter(kind, options, nullptr) {}

StateWriter::StateWriter(StateKind kind, const StateOptions& options, std::vector<StatePart>& parts)
    : StateWriter(kind, options, &parts) {}

StateWriter::StateWriter(StateKind kind, const StateOptions& options, std::vector<StatePart>* parts)
    : parts_(parts) {
  append_bytes(bytes_, std::as_bytes(std::span(parts == nullptr ? frame::magic : frame::magic_of_head)));
  append(bytes_, frame::version);
  append(bytes_, static_cast<std::uint16_t>(kind));
  append(bytes_, std::uint32_t{0});
  append(bytes_, std::uint64_t{0});  // the length, once it is known
  number(options.size());
  for (const auto& [name, value] : options) {
    text(name);
    text(value);
  }
}

void StateWriter::number(std::uint64_t value) { append(bytes_, value); }

void StateWriter::numbers(std::span<const std::uint64_t> values) {
  number(values.size());
  append_bytes(bytes_, std::as_bytes(values));
}

void StateWriter::text(std::string_view text) {
  number(text.size());
  append_bytes(bytes_, std::as_bytes(std::span(text.data(), text.size())));
}

void StateWriter::set(const HashSet& set) {
  if (parts_ == nullptr) return numbers(set.image());
  number(set.shards().size());
  for (const DigestShard& shard : set.shards()) parts_->emplace_back(shard.words());
}

void StateWriter::large_numbers(std::vector<std::uint64_t> values) {
  if (parts_ == nullptr) return numbers(values);
  parts_->emplace_back(std::move(values));
}

void StateWriter::filter(const FilterView& filter) {
  if (parts_ != nullptr) {
    parts_->emplace_back(filter);
    return;
  }
  const std::vector<std::byte> file = serialize(filter);
  number(file.size());
  append_bytes(bytes_, file);
}

std::vector<std::byte> StateWriter::bytes() const {
  std::vector<std::byte> bytes = bytes_;
  detail::store_little_endian(bytes.data() + frame::length_at, std::uint64_t{bytes.size() - frame::body_at});
  append(bytes, hash_key(bytes, 0).low);
  return bytes;
}

}  // namespace tally
