#include "input/sample.hpp"

#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cli/options.hpp"
#include "input/block_reader.hpp"
#include "input/histogram_text.hpp"
#include "tally/hashing/key_hasher.hpp"
#include "tally/planner/sample.hpp"

namespace tally::cli {
namespace {

std::string text_of_file(const std::string& path) {
  BlockReader blocks({path}, '\n', Decompress::yes);
  std::string text;
  std::vector<char> buffer;
  for (auto block = blocks.next(buffer); !block.empty(); block = blocks.next(buffer))
    text.append(block.data(), block.size());
  return text;
}

}  // namespace

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
  return histogram_of_text(text_of_file(path), path, limit);
}

std::vector<WeightFrequency> read_weights(const std::string& path) {
  std::vector<WeightFrequency> weights;
  double sum = 0;
  for (const auto& [weight, num_insertions] :
       pairs_of_text(text_of_file(path), path, "a weight and the number of insertions with that weight")) {
    weights.push_back({weight, num_insertions});
    sum += num_insertions;
  }
  if (weights.empty())
    throw std::invalid_argument(path + ": it contains no weights; give it a line for each weight");
  if (!(sum > 0 && std::isfinite(sum)))
    throw std::invalid_argument(path +
                                ": the weights are of no insertion, or of too many; give a finite number of "
                                "insertions, at least one of them above 0");
  return weights;
}

}  // namespace tally::cli
