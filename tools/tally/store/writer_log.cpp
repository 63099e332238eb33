#include "store/writer_log.hpp"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "tally/hashing/key_hasher.hpp"

namespace tally::cli {
namespace {

using redis_client::WriterPosition;

constexpr std::string_view log_magic = "TALLYLG1";
constexpr std::size_t record_head_bytes = 24;  // kind, size, checksum

enum LogRecord : char {
  record_state = 'S',
  record_unit = 'U',
  record_print = 'P',
  record_done = 'D',
  record_moved = 'M'
};

class LogBytes {
 public:
  void number(std::uint64_t value) {
    for (int i = 0; i < 8; ++i) bytes_ += static_cast<char>(value >> (8 * i));
  }
  void text(std::string_view value) {
    number(value.size());
    bytes_ += value;
  }
  void positions(const std::vector<WriterPosition>& list) {
    number(list.size());
    for (const WriterPosition& position : list) {
      number(position.generation);
      number(position.next_sequence);
    }
  }
  void keys(std::string_view texts, std::span<const std::uint64_t> ends) {
    number(ends.size());
    for (const std::uint64_t end : ends) number(end);
    text(texts);
  }
  const std::string& bytes() const noexcept { return bytes_; }

 private:
  std::string bytes_;
};

/// Reads what LogBytes has written. Throws std::out_of_range where the bytes end too early.
class LogReader {
 public:
  explicit LogReader(std::string_view bytes) : left_(bytes) {}

  bool is_at_end() const noexcept { return left_.empty(); }
  std::size_t num_left() const noexcept { return left_.size(); }

  std::string_view take(std::uint64_t size) {
    if (size > left_.size()) throw std::out_of_range("a record ends too early");
    const std::string_view taken = left_.substr(0, static_cast<std::size_t>(size));
    left_.remove_prefix(static_cast<std::size_t>(size));
    return taken;
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    const std::string_view bytes = take(8);
    for (std::size_t i = 8; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
    return value;
  }
  std::string_view text() { return take(number()); }
  /// Of elements that take this many bytes or more each.
  std::size_t count(std::size_t least_bytes) {
    const std::uint64_t size = number();
    if (size > left_.size() / least_bytes) throw std::out_of_range("a list is longer than its record");
    return static_cast<std::size_t>(size);
  }
  std::vector<WriterPosition> positions() {
    std::vector<WriterPosition> list(count(16));
    for (WriterPosition& position : list) {
      position.generation = static_cast<std::uint32_t>(number());
      position.next_sequence = number();
    }
    return list;
  }
  std::vector<std::string> keys() {
    std::vector<std::uint64_t> ends(count(8));
    for (std::uint64_t& end : ends) end = number();
    const std::string_view texts = text();
    std::vector<std::string> list;
    list.reserve(ends.size());
    std::uint64_t begin = 0;
    for (const std::uint64_t end : ends) {
      if (end < begin || end > texts.size()) throw std::out_of_range("the keys of a record do not fit it");
      list.emplace_back(texts.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
      begin = end;
    }
    return list;
  }

 private:
  std::string_view left_;
};

/// Of the kind and the payload of a record.
std::uint64_t checksum_of(char kind, std::string_view payload) {
  return KeyHasher(static_cast<std::uint64_t>(static_cast<unsigned char>(kind)))(payload).low;
}

std::string record_of(char kind, std::string_view payload) {
  LogBytes head;
  head.number(static_cast<std::uint64_t>(static_cast<unsigned char>(kind)));
  head.number(payload.size());
  head.number(checksum_of(kind, payload));
  std::string record = head.bytes();
  record += payload;
  return record;
}

std::string payload_of(const WriterState& state) {
  LogBytes bytes;
  bytes.text(state.store);
  bytes.text(state.writer);
  bytes.positions(state.positions);
  bytes.number(state.next_unit);
  bytes.number(state.input.size());
  for (const auto& [device, inode] : state.input) {
    bytes.number(device);
    bytes.number(inode);
  }
  bytes.number(state.num_lines);
  bytes.number(state.is_finished ? 1 : 0);
  if (state.reading != WriterState().reading) bytes.text(state.reading);
  return bytes.bytes();
}

WriterState state_in(LogReader& reader) {
  WriterState state;
  state.store = reader.text();
  state.writer = reader.text();
  state.positions = reader.positions();
  state.next_unit = reader.number();
  state.input.resize(reader.count(16));
  for (auto& [device, inode] : state.input) {
    device = reader.number();
    inode = reader.number();
  }
  state.num_lines = reader.number();
  state.is_finished = reader.number() != 0;
  if (!reader.is_at_end()) state.reading = reader.text();
  return state;
}

void apply(char kind, LogReader& reader, WriterState& state) {
  switch (kind) {
    case record_state:
      state = state_in(reader);
      return;
    case record_unit: {
      const std::uint64_t number = reader.number();
      const std::uint64_t first_line = reader.number();
      state.num_lines = reader.number();
      state.units.emplace_back(first_line, reader.keys());
      state.next_unit = number + 1;
      return;
    }
    case record_print:
      reader.number();
      state.printing = OutputPlace{reader.number(), reader.number(), reader.number()};
      return;
    case record_done:
      reader.number();
      state.positions = reader.positions();
      state.printing.reset();
      if (!state.units.empty()) state.units.erase(state.units.begin());
      return;
    case record_moved: {
      const std::uint64_t shard = reader.number();
      const auto generation = static_cast<std::uint32_t>(reader.number());
      if (shard < state.positions.size()) state.positions[shard] = {generation, reader.number()};
      return;
    }
    default:
      throw std::out_of_range("a record has an unknown kind");
  }
}

std::optional<WriterState> read_log(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    if (errno == ENOENT) return std::nullopt;
    throw std::system_error(errno, std::generic_category(), "cannot read '" + path + "'");
  }
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  if (bytes.empty()) return std::nullopt;
  const auto refuse = [&](std::string_view why) -> std::runtime_error {
    return std::runtime_error(fmt::format(
        "--state: '{}' {}; give another file, or delete it if what it has not yet sent may be lost", path,
        why));
  };
  if (!bytes.starts_with(log_magic)) throw refuse("was not written by a run with --store");
  WriterState state;
  LogReader log(std::string_view(bytes).substr(log_magic.size()));
  bool has_state = false;
  while (log.num_left() >= record_head_bytes) {
    const auto kind = static_cast<char>(log.number());
    const std::uint64_t size = log.number();
    const std::uint64_t checksum = log.number();
    if (size > log.num_left()) break;  // it was being written
    const std::string_view payload = log.take(size);
    if (checksum != checksum_of(kind, payload)) {
      if (log.is_at_end()) break;
      throw refuse("is damaged");
    }
    try {
      LogReader reader(payload);
      if (!has_state && kind != record_state) throw std::out_of_range("it does not begin with a state");
      apply(kind, reader, state);
      has_state = true;
    } catch (const std::out_of_range& error) {
      throw refuse(fmt::format("is damaged: {}", error.what()));
    }
  }
  if (!has_state) throw refuse("is damaged: it has no state");
  return state;
}

}  // namespace

InputIdentity identity_of(const std::vector<std::string>& files) {
  InputIdentity identity;
  for (const std::string& path : files) {
    struct stat found {};
    if (path == "-" || stat(path.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) return {};
    identity.emplace_back(found.st_dev, found.st_ino);
  }
  return identity;
}

WriterLog::WriterLog(const std::string& path, bool quiet)
    : guard_(path, quiet, WhenHeld::refuse), state_(read_log(path)) {}

WriterLog::~WriterLog() {
  if (file_ >= 0) close(file_);
}

void WriterLog::begin(const WriterState& state) {
  std::string bytes(log_magic);
  bytes += record_of(record_state, payload_of(state));
  std::uint64_t number = state.next_unit - state.units.size();
  for (const auto& [first_line, keys] : state.units) {
    std::string texts;
    std::vector<std::uint64_t> ends;
    for (const std::string& key : keys) {
      texts += key;
      ends.push_back(texts.size());
    }
    LogBytes unit;
    unit.number(number++);
    unit.number(first_line);
    unit.number(state.num_lines);
    unit.keys(texts, ends);
    bytes += record_of(record_unit, unit.bytes());
  }
  if (state.printing) {
    LogBytes place;
    place.number(state.next_unit - state.units.size());
    place.number(state.printing->device);
    place.number(state.printing->inode);
    place.number(state.printing->offset);
    bytes += record_of(record_print, place.bytes());
  }
  guard_.save(std::as_bytes(std::span(bytes)));
  if (file_ >= 0) close(std::exchange(file_, -1));
  file_ = guard_.open_to_append();
  num_bytes_ = bytes.size();
}

void WriterLog::append(char kind, std::string_view payload) {
  const std::string record = record_of(kind, payload);
  std::string_view left = record;
  while (!left.empty()) {
    const ssize_t written = write(file_, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0)
      throw std::system_error(errno, std::generic_category(), "cannot write '" + guard_.path() + "'");
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  num_bytes_ += record.size();
}

void WriterLog::add(const InputUnit& unit) {
  LogBytes bytes;
  bytes.number(unit.number);
  bytes.number(unit.first_line);
  bytes.number(unit.first_line + unit.size() - 1);
  bytes.keys(unit.texts(), unit.ends());
  append(record_unit, bytes.bytes());
}

void WriterLog::print(const InputUnit& unit, const OutputPlace& place) {
  LogBytes bytes;
  bytes.number(unit.number);
  bytes.number(place.device);
  bytes.number(place.inode);
  bytes.number(place.offset);
  append(record_print, bytes.bytes());
}

void WriterLog::done(const InputUnit& unit, const std::vector<WriterPosition>& positions) {
  LogBytes bytes;
  bytes.number(unit.number);
  bytes.positions(positions);
  append(record_done, bytes.bytes());
}

void WriterLog::moved(std::uint32_t shard, const WriterPosition& position) {
  LogBytes bytes;
  bytes.number(shard);
  bytes.number(position.generation);
  bytes.number(position.next_sequence);
  append(record_moved, bytes.bytes());
}

}  // namespace tally::cli
