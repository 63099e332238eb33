#include "streams/state_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "tally/hashing/hash128.hpp"

namespace tally::cli {
namespace {

constexpr std::array<unsigned char, 8> magic{0x89, 'T', 'A', 'L', 'S', 'T', '\r', '\n'};
constexpr std::uint16_t version = 2;
constexpr std::size_t length_offset = 16;
constexpr std::size_t body_offset = 24;
constexpr std::size_t checksum_bytes = 8;

[[noreturn]] void throw_system_error(const std::string& what, const std::string& path) {
  throw std::system_error(errno, std::generic_category(), what + " " + path);
}

std::uint64_t checksum(std::span<const std::byte> bytes) { return hash_key(bytes, 0).low; }

template <class Integer>
Integer load(const std::byte* from) {
  Integer value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class Integer>
void append(std::vector<std::byte>& bytes, Integer value) {
  const auto* const from = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), from, from + sizeof value);
}

}  // namespace

StateWriter::StateWriter(StateKind kind, const StateOptions& options) {
  for (const unsigned char byte : magic) bytes_.push_back(std::byte{byte});
  append(bytes_, version);
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
  const auto raw = std::as_bytes(values);
  bytes_.insert(bytes_.end(), raw.begin(), raw.end());
}

void StateWriter::text(std::string_view text) {
  number(text.size());
  const auto raw = std::as_bytes(std::span(text.data(), text.size()));
  bytes_.insert(bytes_.end(), raw.begin(), raw.end());
}

void StateWriter::filter(const AnyFilter& filter) {
  const std::vector<std::byte> file = serialize(filter);
  number(file.size());
  bytes_.insert(bytes_.end(), file.begin(), file.end());
}

std::vector<std::byte> StateWriter::bytes() const {
  std::vector<std::byte> bytes = bytes_;
  const std::uint64_t length = bytes.size() - body_offset;
  std::memcpy(bytes.data() + length_offset, &length, sizeof length);
  append(bytes, checksum(bytes));
  return bytes;
}

std::optional<StateReader> StateReader::open(const std::string& path, StateKind kind,
                                             const StateOptions& options) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0 && errno == ENOENT) return std::nullopt;
  if (file < 0) throw_system_error("cannot open", path);
  std::vector<std::byte> bytes;
  std::vector<std::byte> buffer(std::size_t{1} << 16);
  struct stat status {};
  bool is_regular = ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  ssize_t count = 0;
  while (is_regular && (count = ::read(file, buffer.data(), buffer.size())) != 0) {
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) break;
    bytes.insert(bytes.end(), buffer.begin(), buffer.begin() + count);
  }
  const int error = errno;
  ::close(file);
  if (!is_regular) throw std::runtime_error("--state: " + path + " is no regular file");
  errno = error;
  if (count < 0) throw_system_error("cannot read", path);
  StateReader reader(path, std::move(bytes));
  reader.check(kind);
  reader.check_options(options);
  return reader;
}

std::optional<std::string> StateReader::saved_option(const std::string& path, std::string_view name) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
  std::vector<std::byte> bytes(std::size_t{1} << 14);  // options are short
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  if (bytes.size() < body_offset || std::memcmp(bytes.data(), magic.data(), magic.size()) != 0)
    return std::nullopt;
  StateReader reader(path, std::move(bytes));
  reader.at_ = body_offset;
  reader.end_ = reader.bytes_.size();
  try {
    for (std::uint64_t left = reader.number(); left > 0; --left) {
      const std::string_view its_name = reader.text();
      const std::string_view value = reader.text();
      if (its_name == name) return std::string(value);
    }
  } catch (const FormatError&) {  // more than there is
  }
  return std::nullopt;
}

void StateReader::fail(const std::string& reason) const {
  throw FormatError(reason, at_, path_ + " as a state");
}

void StateReader::check(StateKind kind) {
  if (bytes_.size() < body_offset + checksum_bytes) fail("too short");
  if (std::memcmp(bytes_.data(), magic.data(), magic.size()) != 0) fail("does not begin like a state file");
  at_ = 8;
  if (load<std::uint16_t>(bytes_.data() + at_) != version) fail("another version");
  at_ = length_offset;
  end_ = bytes_.size() - checksum_bytes;
  if (load<std::uint64_t>(bytes_.data() + at_) != end_ - body_offset) fail("bytes are missing, or too many");
  at_ = end_;
  if (load<std::uint64_t>(bytes_.data() + at_) != checksum(std::span(bytes_).first(end_)))
    fail("wrong checksum");
  at_ = 10;
  if (load<std::uint16_t>(bytes_.data() + at_) != static_cast<std::uint16_t>(kind)) {
    throw std::runtime_error(
        fmt::format("--state: {} is of another command, or with or without --sum or --window", path_));
  }
  if (load<std::uint32_t>(bytes_.data() + 12) != 0) fail("a reserved byte is not 0");
  at_ = body_offset;
}

void StateReader::check_options(const StateOptions& options) {
  if (number() != options.size()) fail("another number of options");
  for (const auto& [name, value] : options) {
    const std::string_view their_name = text();
    const std::string_view their_value = text();
    if (their_name != name) fail("another list of options");
    if (their_value == value) continue;
    throw std::runtime_error(fmt::format(
        "--state: {} was written with {} {}, and this is {}; give the same, or another "
        "--state",
        path_, name, their_value.empty() ? "not given" : their_value, value.empty() ? "not given" : value));
  }
}

std::span<const std::byte> StateReader::take(std::uint64_t count) {
  if (count > end_ - at_) fail("a part is longer than the file");
  const std::span<const std::byte> part(bytes_.data() + at_, count);
  at_ += count;
  return part;
}

std::uint64_t StateReader::number() { return load<std::uint64_t>(take(sizeof(std::uint64_t)).data()); }

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

AnyFilter StateReader::filter(const std::optional<HashKey>& key) {
  const auto raw = take(number());
  return made([&] { return deserialize(raw, key); });
}

void StateReader::finish() const {
  if (at_ != end_) fail("bytes after the last part");
}

}  // namespace tally::cli
