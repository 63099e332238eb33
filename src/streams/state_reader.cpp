#include "tally/streams/state_reader.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "streams/state_frame.hpp"
#include "tally/detail/little_endian.hpp"
#include "tally/hashing/hash128.hpp"
#include "tally/serialization.hpp"

namespace tally {
namespace {

namespace frame = detail::state;

bool begins_with(std::span<const std::byte> bytes, const std::array<unsigned char, 8>& magic) {
  return std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

}  // namespace

StateMismatch::StateMismatch(std::string option_name, std::string saved_value, std::string wanted_value)
    : std::runtime_error("the state was written with " + option_name + " '" + saved_value +
                         "', but now it is '" + wanted_value + "'; give the same value, or another state"),
      option(std::move(option_name)),
      saved(std::move(saved_value)),
      wanted(std::move(wanted_value)) {}

StateReader::StateReader(std::vector<std::byte> bytes, StateKind kind, const StateOptions& options,
                         std::string name)
    : bytes_(std::move(bytes)), name_(std::move(name)) {
  check_frame(false);
  check_kind(kind);
  check_options(options);
}

StateReader::StateReader(std::vector<std::byte> head, std::string name)
    : bytes_(std::move(head)), name_(std::move(name)), is_head_(true) {
  check_frame(true);
}

StateReader::StateReader(std::vector<std::byte> bytes, std::size_t begin, std::size_t end)
    : bytes_(std::move(bytes)), at_(begin), end_(end) {}

std::optional<std::string> StateReader::saved_option(std::span<const std::byte> beginning,
                                                     std::string_view option) {
  if (beginning.size() < frame::body_at) return std::nullopt;
  if (!begins_with(beginning, frame::magic) && !begins_with(beginning, frame::magic_of_head))
    return std::nullopt;
  StateReader reader({beginning.begin(), beginning.end()}, frame::body_at, beginning.size());
  try {
    for (std::uint64_t left = reader.number(); left > 0; --left) {
      const std::string_view name = reader.text();
      const std::string_view value = reader.text();
      if (name == option) return std::string(value);
    }
  } catch (const FormatError&) {  // the beginning ends before the options do
  }
  return std::nullopt;
}

void StateReader::fail(const std::string& reason) const {
  throw FormatError(reason, at_, name_ + " as a state");
}

void StateReader::check_frame(bool is_head) {
  if (bytes_.size() < frame::body_at + frame::checksum_bytes) fail("it is too short");
  if (!begins_with(bytes_, is_head ? frame::magic_of_head : frame::magic))
    fail("it does not begin like a state");
  const auto field = [&]<class Integer>(Integer, std::size_t at) {
    at_ = at;
    return detail::load_little_endian<Integer>(bytes_.data() + at);
  };
  const std::uint16_t version = field(std::uint16_t{}, frame::version_at);
  if (version != frame::version)
    fail("version is " + std::to_string(version) + "; must be " + std::to_string(frame::version));
  end_ = bytes_.size() - frame::checksum_bytes;
  if (field(std::uint64_t{}, frame::length_at) != end_ - frame::body_at)
    fail("its length differs from the one in its header");
  if (field(std::uint64_t{}, end_) != hash_key(std::span(bytes_).first(end_), 0).low)
    fail("the checksum does not match; the file is damaged");
  if (field(std::uint32_t{}, frame::reserved_at) != 0) fail("a reserved byte is not 0");
  at_ = frame::body_at;
}

void StateReader::check_kind(StateKind kind) {
  const auto saved_kind = detail::load_little_endian<std::uint16_t>(bytes_.data() + frame::kind_at);
  if (saved_kind != static_cast<std::uint16_t>(kind))
    throw StateMismatch("kind", std::to_string(saved_kind), std::to_string(static_cast<std::uint16_t>(kind)));
}

void StateReader::check_options(const StateOptions& options) {
  // One list may go on after the other: programs add options, which older states do not have.
  const auto refuse_one_sided = [&](const std::string& name, const std::string& saved,
                                    const std::string& wanted) {
    if (saved.empty() && wanted.empty()) fail("it has another number of options");
    throw StateMismatch(name, saved, wanted);
  };
  const std::uint64_t num_saved = number();
  for (std::uint64_t i = 0; i < num_saved; ++i) {
    const std::string name(text());
    const std::string value(text());
    if (i >= options.size()) refuse_one_sided(name, value, "");
    if (name != options[i].first) fail("it has other options");
    if (value != options[i].second) throw StateMismatch(name, value, options[i].second);
  }
  if (num_saved < options.size()) refuse_one_sided(options[num_saved].first, "", options[num_saved].second);
}

std::span<const std::byte> StateReader::take(std::uint64_t count) {
  if (count > end_ - at_) fail("a part is longer than the file");
  const std::span<const std::byte> part(bytes_.data() + at_, count);
  at_ += count;
  return part;
}

std::uint64_t StateReader::number() {
  return detail::load_little_endian<std::uint64_t>(take(sizeof(std::uint64_t)).data());
}

std::uint64_t StateReader::number_at_most(std::uint64_t most) {
  const std::uint64_t value = number();
  if (value > most) fail("a number is out of range");
  return value;
}

std::vector<std::uint64_t> StateReader::numbers() {
  const std::uint64_t size = number_at_most((end_ - at_) / sizeof(std::uint64_t));
  std::vector<std::uint64_t> values(size);
  const auto raw = take(size * sizeof(std::uint64_t));
  if (size > 0) std::memcpy(values.data(), raw.data(), raw.size());
  return values;
}

std::string_view StateReader::text() {
  const auto raw = take(number());
  return {reinterpret_cast<const char*>(raw.data()), raw.size()};
}

template <class Wanted>
Wanted StateReader::next_part() {
  Wanted* const part = next_part_ < parts_.size() ? std::get_if<Wanted>(&parts_[next_part_]) : nullptr;
  if (part == nullptr) fail("a part is missing or has another kind");
  ++next_part_;
  return std::move(*part);
}

HashSet StateReader::set(std::uint64_t max_bytes) {
  if (!is_head_) {
    const std::vector<std::uint64_t> image = numbers();
    return made([&] { return HashSet(max_bytes, image); });
  }
  std::vector<detail::AlignedWords> shards;
  for (std::uint64_t left = number_at_most(parts_.size()); left > 0; --left) {
    shards.push_back(next_part<detail::AlignedWords>());
  }
  return made([&] { return HashSet(max_bytes, std::move(shards)); });
}

std::vector<std::uint64_t> StateReader::large_numbers() {
  if (!is_head_) return numbers();
  const auto words = next_part<detail::AlignedWords>();
  return {words.words().begin(), words.words().end()};
}

AnyFilter StateReader::filter(const std::optional<HashKey>& key) {
  if (is_head_) return next_part<AnyFilter>();
  const auto raw = take(number());
  return made([&] { return deserialize(raw, key); });
}

void StateReader::finish() const {
  if (at_ != end_ || next_part_ != parts_.size()) fail("there are bytes after the last part");
}

}  // namespace tally
