#include "streams_state.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <system_error>

#include "shapes.hpp"

namespace tally::python {
namespace {

constexpr const char* hash_option = "hash";
constexpr const char* seed_option = "seed (or id of the key)";

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (text.empty() || error != std::errc() || stopped != end) return std::nullopt;
  return number;
}

/// The shortest text that gives the same number when it is read.
template <class Number>
std::string number_text(Number number) {
  std::array<char, 32> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}
template <class Number>
std::string number_text(const std::optional<Number>& number) {
  return number ? number_text(*number) : std::string();
}

/// A file descriptor that is closed at the end.
struct OpenFile {
  explicit OpenFile(const std::string& path)
      : number(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (number < 0) throw std::system_error(errno, std::generic_category(), "cannot open " + path);
  }
  ~OpenFile() { ::close(number); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int number;
};

void append_hash(StateOptions& list, const KeyHasher& hasher) {
  list.emplace_back(hash_option, name_of(hasher.id()));
  list.emplace_back(seed_option, number_text(hasher.seed_or_key_id()));
}

void append_window(StateOptions& list, const std::optional<Nanoseconds>& window, std::uint32_t num_slots) {
  list.emplace_back("window_seconds, in ns", number_text(window));
  list.emplace_back("num_slots", number_text(num_slots));
}

void take_window(const SavedOptions& saved, std::optional<Nanoseconds>& window, std::uint32_t& num_slots) {
  if (const auto length = saved.whole("window_seconds, in ns")) window = static_cast<Nanoseconds>(*length);
  const std::uint64_t slots = saved.whole("num_slots").value_or(1);
  if (1 <= slots && slots <= most_slots) num_slots = static_cast<std::uint32_t>(slots);
}

CounterUpdate saved_update(const SavedOptions& saved, const char* name) {
  return saved.text(name) == name_of(CounterUpdate::conservative) ? CounterUpdate::conservative
                                                                  : CounterUpdate::plain;
}

std::uint32_t saved_part(const SavedOptions& saved, const char* name) {
  return static_cast<std::uint32_t>(saved.whole(name).value_or(0));
}

std::string name_of_kind(const std::string& number) {
  if (number == "1") return "ThresholdStream";
  if (number == "2") return "SumStream";
  if (number == "3") return "TopStream";
  return number;
}

}  // namespace

// The options are short texts.
SavedOptions::SavedOptions(std::span<const std::byte> state)
    : beginning_(state.first(std::min(state.size(), std::size_t{4096}))) {}

std::string SavedOptions::text(std::string_view name) const {
  return StateReader::saved_option(beginning_, name).value_or("");
}
std::optional<std::uint64_t> SavedOptions::whole(std::string_view name) const {
  return number_in<std::uint64_t>(text(name));
}
std::optional<double> SavedOptions::real(std::string_view name) const {
  return number_in<double>(text(name));
}

StreamHash hash_of_state(const SavedOptions& saved, const std::optional<HashKey>& secret) {
  if (secret) return {KeyHasher::keyed(*secret), secret, false};
  if (saved.text(hash_option) == name_of(HashId::highwayhash_128))
    throw py::value_error(
        "key is None; must be the key of the stream that saved this state with a keyed hash");
  return {KeyHasher(saved.whole(seed_option).value_or(0)), std::nullopt, false};
}

std::vector<std::byte> read_regular_file(const std::string& path) {
  const OpenFile file(path);
  struct stat status {};
  if (::fstat(file.number, &status) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot read " + path);
  if (S_ISDIR(status.st_mode))
    throw std::system_error(EISDIR, std::generic_category(), "cannot read " + path);
  if (!S_ISREG(status.st_mode))
    throw py::value_error("path is " + path + ", which is a pipe or a device; must be a regular file");
  std::vector<std::byte> bytes(static_cast<std::size_t>(status.st_size));
  std::size_t size = 0;
  while (size < bytes.size()) {
    const ssize_t count = ::read(file.number, bytes.data() + size, bytes.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw std::system_error(errno, std::generic_category(), "cannot read " + path);
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
  }
  bytes.resize(size);
  return bytes;
}

StateReader state_reader(std::vector<std::byte> bytes, StateKind kind, const StateOptions& options,
                         const std::string& subject) {
  try {
    return {std::move(bytes), kind, options, subject};
  } catch (const StateMismatch& mismatch) {
    if (mismatch.option != "kind") throw;
    throw StateMismatch("class", name_of_kind(mismatch.saved), name_of_kind(mismatch.wanted));
  }
}

StateOptions listed(const ThresholdStream::Options& options) {
  StateOptions list{{"threshold", number_text(options.threshold)},
                    {"num_keys", number_text(options.num_keys)},
                    {"memory_bytes", number_text(options.memory_bytes)},
                    {"false_positive_rate", number_text(options.false_positive_rate)},
                    {"update", std::string(name_of(options.update))},
                    {"exact_keys", number_text(options.exact_keys)}};
  append_hash(list, options.hasher);
  return list;
}

void take_saved(ThresholdStream::Options& options, const SavedOptions& saved) {
  options.threshold = saved.whole("threshold").value_or(1);
  options.num_keys = saved.whole("num_keys");
  options.memory_bytes = saved.whole("memory_bytes");
  options.false_positive_rate = saved.real("false_positive_rate");
  options.update = saved_update(saved, "update");
  options.exact_keys = saved.whole("exact_keys").value_or(0);
}

StateOptions listed(const SumStream::Options& options) {
  StateOptions list{{"threshold", number_text(options.threshold)},
                    {"memory_bytes", number_text(options.memory_bytes)}};
  append_window(list, options.window, options.num_slots);
  append_hash(list, options.hasher);
  return list;
}

void take_saved(SumStream::Options& options, const SavedOptions& saved) {
  options.threshold = saved.whole("threshold").value_or(1);
  options.memory_bytes = saved.whole("memory_bytes").value_or(0);
  take_window(saved, options.window, options.num_slots);
}

StateOptions listed(const TopStream::Options& options) {
  StateOptions list{{"capacity", number_text(options.capacity)},
                    {"method", options.space_saving ? "space-saving" : "sketch"},
                    {"sketch.width", number_text(options.sketch.width)},
                    {"sketch.depth", number_text(options.sketch.depth)},
                    {"sketch.num_copies", number_text(options.sketch.num_copies)},
                    {"sketch.counter_bits", number_text(options.sketch.counter_bits)},
                    {"sketch.update", std::string(name_of(options.sketch.update))}};
  append_window(list, options.window, options.num_slots);
  append_hash(list, options.hasher);
  return list;
}

void take_saved(TopStream::Options& options, const SavedOptions& saved) {
  options.capacity = saved.whole("capacity").value_or(0);
  options.space_saving = saved.text("method") == "space-saving";
  options.sketch.width = saved.whole("sketch.width").value_or(0);
  options.sketch.depth = saved_part(saved, "sketch.depth");
  options.sketch.num_copies = saved_part(saved, "sketch.num_copies");
  options.sketch.counter_bits = saved_part(saved, "sketch.counter_bits");
  options.sketch.update = saved_update(saved, "sketch.update");
  take_window(saved, options.window, options.num_slots);
}

}  // namespace tally::python
