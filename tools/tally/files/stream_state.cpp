#include "files/stream_state.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <vector>

namespace tally::cli {
namespace {

// Names of options, as stored in states.
constexpr std::string_view hash_option = "hash";
constexpr std::string_view seed_option = "seed (or id of the key)";
constexpr std::string_view key_type_option = "--key-type";

/// The beginning of a state, with its options, which are short; nothing if it is not a regular file.
std::vector<std::byte> read_beginning(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return {};
  std::vector<std::byte> bytes(std::size_t{1} << 14);
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

[[noreturn]] void throw_system_error(const std::string& what, const std::string& path) {
  throw std::system_error(errno, std::generic_category(), what + " " + path);
}

/// All of the file; nothing if there is none.
std::optional<std::vector<std::byte>> read_state(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0 && errno == ENOENT) return std::nullopt;
  if (file < 0) throw_system_error("cannot open", path);
  std::vector<std::byte> bytes;
  std::vector<std::byte> buffer(std::size_t{1} << 16);
  struct stat status {};
  const bool is_regular = ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  ssize_t count = 0;
  while (is_regular && (count = ::read(file, buffer.data(), buffer.size())) != 0) {
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) break;
    bytes.insert(bytes.end(), buffer.begin(), buffer.begin() + count);
  }
  const int error = errno;
  ::close(file);
  if (!is_regular) throw std::runtime_error("--state: " + path + " is not a regular file");
  errno = error;
  if (count < 0) throw_system_error("cannot read", path);
  return bytes;
}

std::string text_of(const StateMismatch& mismatch, const std::string& path) {
  if (mismatch.option == "kind")
    return fmt::format(
        "--state: {} was written by another command, or with or without --sum or --window; give another "
        "--state",
        path);
  const auto shown = [](const std::string& value) { return value.empty() ? "not given" : value; };
  return fmt::format(
      "--state: {} was written with {} {}, but now it is {}; give the same value, or another --state", path,
      mismatch.option, shown(mismatch.saved), shown(mismatch.wanted));
}

}  // namespace

void add_state(CommandLine app, std::string& path, bool& waits) {
  const Option state = add_file(app, "--state", path,
                                R"(
      Resume from this file if it exists, and write it at the end or when interrupted. The next run with it continues
      as if all inputs were one. With --store, the file has the lines that are sent and not yet answered
      )");
  app.add_flag("--wait-for-state", waits, R"(
      With --state: wait while another run uses the file (default: end with an error, so that runs started at
      intervals do not pile up)
      )")
      .needs(state);
}

void append_options(StateOptions& list, const InputOptions& input, const RecordOptions& records,
                    const KeyHasher& hasher) {
  list.insert(list.end(), {{std::string(hash_option), std::string(name_of(hasher.id()))},
                           {std::string(seed_option), std::to_string(hasher.seed_or_key_id())},
                           {"--null", input.nul_separated ? "yes" : "no"},
                           {"--delimiter", input.fields.delimiter_or_default()},
                           {"--fields", input.fields.list},
                           {"--sum", records.sum_fields},
                           {"--time", records.time_fields}});
  // States of runs without these, and those that are older than these, do not have them.
  if (input.key_type != KeyType::text) list.emplace_back(key_type_option, name_of(input.key_type));
  if (input.fields.format != FieldFormat::delimited)
    list.emplace_back("--format", std::string(name_of(input.fields.format)));
  if (input.fields.has_header) list.emplace_back("--header", "yes");
  if (!input.fields.output_delimiter.empty())
    list.emplace_back("--output-delimiter", input.fields.output_delimiter);
}

void StreamState::draw_hash(HasherOptions& hasher) const {
  if (hasher.keyed && file_) {
    throw std::invalid_argument(
        "--keyed and --state are both given: the secret of --keyed ends with the run, and a state stores no "
        "secret; give --key-file instead of --keyed");
  }
  hasher.draw();
  if (!file_ || hasher.seed_given() || !hasher.key_file.empty()) return;
  const std::vector<std::byte> beginning = read_beginning(file_->path());
  if (StateReader::saved_option(beginning, hash_option) != name_of(HashId::xxh3_128)) return;
  const std::string seed = StateReader::saved_option(beginning, seed_option).value_or("");
  (void)std::from_chars(seed.data(), seed.data() + seed.size(), hasher.seed);
}

bool StreamState::restore(const std::function<void(StateReader&)>& take_up) const {
  if (!file_) return false;
  auto bytes = read_state(file_->path());
  if (!bytes) return false;
  try {
    StateReader state(std::move(*bytes), kind_, options_, file_->path());
    take_up(state);
    state.finish();
  } catch (const StateMismatch& mismatch) {
    throw std::runtime_error(text_of(mismatch, file_->path()));
  }
  return true;
}

void StreamState::save(const std::function<void(StateWriter&)>& put) const {
  if (!file_) return;
  StateWriter state(kind_, options_);
  put(state);
  file_->save(state.bytes());
}

}  // namespace tally::cli
