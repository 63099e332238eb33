#include "input/sample.hpp"

#include <cerrno>
#include <cstddef>
#include <fstream>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <vector>

#include "cli/options.hpp"
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
  std::ifstream file(path);
  if (!file) throw std::system_error(errno, std::generic_category(), path);
  std::string text;
  std::string part(std::size_t{1} << 16, '\0');
  while (file) {
    file.read(part.data(), static_cast<std::streamsize>(part.size()));
    text.append(part, 0, static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad()) throw std::system_error(errno, std::generic_category(), path);
  return histogram_of_text(text, path, limit);
}

}  // namespace tally::cli
