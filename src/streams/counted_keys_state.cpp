#include "streams/counted_keys_state.hpp"

#include <string>
#include <utility>
#include <vector>

namespace tally::detail {
namespace {

constexpr std::size_t words_of_entry = 4;
constexpr std::size_t words_of_node = 2;

}  // namespace

void save(StateWriter& state, const CountedKeys& keys) {
  std::vector<std::uint64_t> words;
  words.reserve(words_of_entry * keys.size());
  for (const CountedKeys::Entry& entry : keys.entries()) {
    words.insert(words.end(), {entry.digest.low, entry.digest.high, entry.count, entry.error});
  }
  state.numbers(words);
  words.clear();
  for (const CountedKeys::HeapNode& node : keys.heap()) words.insert(words.end(), {node.count, node.entry});
  state.numbers(words);
  for (std::uint32_t i = 0; i < keys.size(); ++i) state.text(keys.key_bytes(i));
}

CountedKeys restore_counted_keys(StateReader& state, std::uint64_t capacity) {
  const std::vector<std::uint64_t> entry_words = state.numbers();
  const std::vector<std::uint64_t> node_words = state.numbers();
  std::vector<CountedKeys::Entry> entries;
  std::vector<CountedKeys::HeapNode> heap;
  std::vector<std::string> keys;
  for (std::size_t i = 0; i + words_of_entry <= entry_words.size(); i += words_of_entry) {
    const std::uint64_t* const words = entry_words.data() + i;
    entries.push_back({{words[0], words[1]}, words[2], words[3]});
    keys.emplace_back(state.text());
  }
  for (std::size_t i = 0; i + words_of_node <= node_words.size(); i += words_of_node) {
    if (node_words[i + 1] >= entries.size()) state.fail("a number is out of range");
    heap.push_back({node_words[i], static_cast<std::uint32_t>(node_words[i + 1])});
  }
  return state.made([&] {
    return CountedKeys(capacity, "candidates", std::move(entries), std::move(keys), std::move(heap));
  });
}

}  // namespace tally::detail
