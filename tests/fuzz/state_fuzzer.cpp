// Any bytes as what follows the header of a state of over, over --sum or top: refused with a FormatError, or a stream
// that goes on, and whose own state is read again. Length and checksum are right.

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "streams/sum.hpp"
#include "streams/threshold.hpp"
#include "streams/top.hpp"
#include "tally/hashing/hash128.hpp"

namespace {

using namespace tally;
using namespace tally::cli;

void require(bool law) {
  if (!law) std::abort();
}

/// A file that lives as long as this, in memory.
class MemoryFile {
 public:
  explicit MemoryFile(std::span<const std::byte> bytes) : file_(::memfd_create("state", 0)) {
    require(file_ >= 0 && ::write(file_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  }
  ~MemoryFile() { ::close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

std::vector<std::byte> state_of(StateKind kind, std::span<const std::byte> body) {
  constexpr std::string_view magic = "\x89TALST\r\n";
  std::vector<std::byte> bytes;
  const auto append = [&](auto value) {
    const auto* const from = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), from, from + sizeof value);
  };
  for (const char byte : magic) append(byte);
  append(std::uint16_t{1});
  append(static_cast<std::uint16_t>(kind));
  append(std::uint32_t{0});
  append(std::uint64_t{body.size() + 8});
  append(std::uint64_t{0});  // no options
  bytes.insert(bytes.end(), body.begin(), body.end());
  append(hash_key(bytes, 0).low);
  return bytes;
}

template <class Stream>
bool restore(Stream& stream, StateKind kind, const std::string& path) {
  try {
    auto state = StateReader::open(path, kind, {});
    require(state.has_value());
    stream.restore(*state, std::nullopt);
    state->finish();
    return true;
  } catch (const FormatError&) {
    return false;
  }
}

/// `make` gives an empty stream of the kind.
template <class Make>
void try_state(StateKind kind, std::span<const std::byte> body, Make make) {
  auto stream = make();
  if (!restore(stream, kind, MemoryFile(state_of(kind, body)).path())) return;
  const std::array<std::string_view, 4> keys{"a", "b", "a", "a key of more than fifteen bytes"};
  std::array<Hash128, 4> digests;
  for (std::size_t i = 0; i < keys.size(); ++i) digests[i] = KeyHasher(0)(keys[i]);
  const std::array<std::uint64_t, 4> weights{1, 5, 2, 3};
  if constexpr (requires { stream.add(Records{}); }) {
    stream.add(Records{keys, digests, weights, {}});
  } else {
    stream.add(keys, digests);
  }
  StateWriter writer(kind, {});
  stream.save(writer);
  auto again = make();
  require(restore(again, kind, MemoryFile(writer.bytes()).path()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span<const std::byte> body(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
  const auto ignore_key = [](std::string_view, std::uint64_t) {};
  const auto ignore_text = [](const std::string&) {};
  const unsigned choice = data[0] % 5;
  switch (choice) {
    case 0:
    case 1:
      try_state(StateKind::over, body, [&] {
        ThresholdStream::Options options{.threshold = 3};
        if (choice == 1) options.memory_bytes = 1 << 13;
        return ThresholdStream(options, ignore_key, ignore_text, nullptr);
      });
      break;
    case 2:
      try_state(StateKind::over_sums, body, [&] {
        return SumStream({.threshold = 3, .memory_bytes = 1 << 14}, ignore_key, ignore_text);
      });
      break;
    default:
      try_state(StateKind::top, body, [&] {
        return TopStream({.capacity = 4, .sketch = {8, 2, 1, 64}, .space_saving = choice == 3});
      });
      break;
  }
  return 0;
}
