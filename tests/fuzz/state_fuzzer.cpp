// Any bytes as what follows the header of a state of over, over --sum or top: refused with a FormatError, or a stream
// that goes on, and whose own state is read again. Length and checksum are right.

#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "tally/hashing/hash128.hpp"
#include "tally/serialization/format_error.hpp"
#include "tally/streams/state_reader.hpp"
#include "tally/streams/state_writer.hpp"
#include "tally/streams/sum.hpp"
#include "tally/streams/threshold.hpp"
#include "tally/streams/top.hpp"

namespace {

using namespace tally;

void require(bool law) {
  if (!law) std::abort();
}

std::vector<std::byte> state_of(StateKind kind, std::span<const std::byte> body) {
  constexpr std::string_view magic = "\x89TALST\r\n";
  std::vector<std::byte> bytes;
  const auto append = [&](auto value) {
    const auto* const from = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), from, from + sizeof value);
  };
  for (const char byte : magic) append(byte);
  append(std::uint16_t{2});
  append(static_cast<std::uint16_t>(kind));
  append(std::uint32_t{0});
  append(std::uint64_t{body.size() + 8});
  append(std::uint64_t{0});  // no options
  bytes.insert(bytes.end(), body.begin(), body.end());
  append(hash_key(bytes, 0).low);
  return bytes;
}

template <class Stream>
bool restore(Stream& stream, StateKind kind, const std::vector<std::byte>& bytes) {
  try {
    StateReader state(bytes, kind, {}, "this");
    stream.restore(state, std::nullopt);
    state.finish();
    return true;
  } catch (const FormatError&) {
    return false;
  }
}

/// `make` gives an empty stream of the kind.
template <class Make>
void try_state(StateKind kind, std::span<const std::byte> body, Make make) {
  auto stream = make();
  if (!restore(stream, kind, state_of(kind, body))) return;
  const std::array<std::string_view, 4> keys{"a", "b", "a", "a key of more than fifteen bytes"};
  std::array<Hash128, 4> digests;
  for (std::size_t i = 0; i < keys.size(); ++i) digests[i] = KeyHasher(0)(keys[i]);
  const std::array<std::uint64_t, 4> weights{1, 5, 2, 3};
  if constexpr (requires { stream.add(StreamRecords{}); }) {
    stream.add(StreamRecords{keys, digests, weights, {}});
  } else {
    stream.add_batch(digests);
  }
  StateWriter writer(kind, {});
  stream.save(writer);
  auto again = make();
  require(restore(again, kind, writer.bytes()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span<const std::byte> body(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
  const unsigned choice = data[0] % 5;
  switch (choice) {
    case 0:
    case 1:
      try_state(StateKind::threshold, body, [&] {
        ThresholdStream::Options options{.threshold = 3};
        if (choice == 1) options.memory_bytes = 1 << 13;
        return ThresholdStream(options);
      });
      break;
    case 2:
      try_state(StateKind::sums, body, [&] { return SumStream({.threshold = 3, .memory_bytes = 1 << 14}); });
      break;
    default:
      try_state(StateKind::top, body, [&] {
        return TopStream({.capacity = 4, .sketch = {8, 2, 1, 64}, .space_saving = choice == 3});
      });
      break;
  }
  return 0;
}
