#include <array>
#include <charconv>
#include <memory>
#include <string_view>

#include "bloom_chain.hpp"
#include "chunk_commands.hpp"
#include "command.hpp"
#include "count_min_value.hpp"
#include "open_key.hpp"

// TALLY.*: what replicas and append-only files receive.

namespace tally::redis {
namespace {

/// TALLY.LOADCHUNK key position data: what BF.LOADCHUNK does, for every type.
void load_chunk(Call& call) {
  const auto position = call.integer(2);
  if (!position) throw Refusal("ERR position is not an integer");
  OpenKey key(call, KeyAccess::write);
  const bool is_sketch = key.is_empty() ? call.text(3).starts_with("TALLYCM") : key.has<CountMinValue>();
  if (is_sketch) {
    load_chunk_of<CountMinValue>(call, key, *position);
  } else {
    load_chunk_of<BloomChain>(call, key, *position);
  }
}

/// TALLY.NEWBLOOM key rate capacity expansion seed: BF.RESERVE with a seed; expansion 0 for a filter that does not grow.
void new_bloom(Call& call) {
  const auto rate = call.real(2);
  const auto capacity = call.integer(3);
  const auto expansion = call.integer(4);
  if (!rate || !(*rate > 0 && *rate < 1)) throw Refusal("ERR rate must be a number between 0 and 1");
  if (!capacity || *capacity < 1) throw Refusal("ERR capacity must be an integer, at least 1");
  if (!expansion || *expansion < 0 || *expansion > ~std::uint32_t{0}) {
    throw Refusal("ERR expansion must be an integer from 0 to 4294967295");
  }
  std::uint64_t seed = 0;
  const std::string_view text = call.text(5);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw Refusal("ERR seed must be an integer from 0 to 18446744073709551615");
  }
  OpenKey key(call, KeyAccess::write);
  if (key.find<BloomChain>() != nullptr) throw Refusal("ERR item exists");
  const BloomChainOptions options{*rate, static_cast<std::uint64_t>(*capacity),
                                  static_cast<std::uint32_t>(*expansion)};
  key.set(std::make_unique<BloomChain>(options, seed, call));
  call.replicate_verbatim();
  call.ok();
}

constexpr std::array commands{Command{"TALLY.LOADCHUNK", entry<load_chunk, 4>, "write deny-oom"},
                              Command{"TALLY.NEWBLOOM", entry<new_bloom, 6>, "write deny-oom"}};

}  // namespace

std::span<const Command> own_commands() noexcept { return commands; }

}  // namespace tally::redis
