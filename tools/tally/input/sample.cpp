#include "input/sample.hpp"

#include <cstddef>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cli/options.hpp"
#include "input/block_reader.hpp"
#include "input/histogram_text.hpp"
#include "tally/hashing/key_hasher.hpp"
#include "tally/planner/sample.hpp"

namespace tally::cli {

theory::CountHistogram count_sample(const InputOptions& input, std::uint64_t limit) {
  const auto low_half = [](const Hash128& hash) noexcept { return static_cast<std::size_t>(hash.low); };
  std::unordered_map<Hash128, std::uint64_t, decltype(low_half)> count_of(1024, low_half);
  const KeyHasher hasher(default_seed);
  KeyReader reader(input);
  for (auto keys = reader.next(); !keys.empty(); keys = reader.next()) {
    for (const std::string_view key : keys) ++count_of[hasher(key)];
  }
  std::vector<std::uint64_t> counts;
  counts.reserve(count_of.size());
  for (const auto& [hash, count] : count_of) counts.push_back(count);
  return histogram_of_counts(counts, limit);
}

theory::CountHistogram read_histogram(const std::string& path, std::uint64_t limit) {
  BlockReader blocks({path}, '\n', Decompress::yes);
  std::string text;
  std::vector<char> buffer;
  for (auto block = blocks.next(buffer); !block.empty(); block = blocks.next(buffer))
    text.append(block.data(), block.size());
  return histogram_of_text(text, path, limit);
}

}  // namespace tally::cli
