#include "input/sample.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cli/options.hpp"
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
  std::vector<std::pair<std::uint64_t, double>> counts;
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    std::istringstream words(line);
    std::string count;
    std::string num_keys;
    std::string more;
    if (!(words >> count) || count.starts_with('#')) continue;
    const bool is_pair = (words >> num_keys) && !(words >> more);
    try {
      if (!is_pair) throw std::invalid_argument("must be two numbers, a count and how many keys have it");
      counts.emplace_back(parse_count(count), parse_real(num_keys));
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(fmt::format("{}, line {}: {}", path, number, error.what()));
    }
  }
  if (file.bad()) throw std::system_error(errno, std::generic_category(), path);
  return theory::make_count_histogram(counts, limit);
}

}  // namespace tally::cli
