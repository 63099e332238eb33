#include "input/sample.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cli/options.hpp"
#include "tally/hashing/key_hasher.hpp"
#include "tally/planner/sample.hpp"

namespace tally::cli {

namespace {

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view blanks = " \t\n\v\f\r";
  std::vector<std::string_view> words;
  for (std::size_t begin = line.find_first_not_of(blanks); begin != line.npos;) {
    const std::size_t end = std::min(line.find_first_of(blanks, begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(blanks, end);
  }
  return words;
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
  std::ifstream file(path);
  if (!file) throw std::system_error(errno, std::generic_category(), path);
  std::vector<std::pair<std::uint64_t, double>> counts;
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    const std::vector<std::string_view> words = words_of(line);
    if (words.empty() || words[0].starts_with('#')) continue;
    try {
      if (words.size() != 2)
        throw std::invalid_argument("must be two numbers, a count and the number of keys with that count");
      counts.emplace_back(parse_count(words[0]), parse_real(words[1]));
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(fmt::format("{}, line {}: {}", path, number, error.what()));
    }
  }
  if (file.bad()) throw std::system_error(errno, std::generic_category(), path);
  return theory::make_count_histogram(counts, limit);
}

}  // namespace tally::cli
