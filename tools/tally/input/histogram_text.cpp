#include "input/histogram_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

#include "text/numbers.hpp"

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

std::vector<std::pair<std::uint64_t, double>> pairs_of_text(std::string_view text, const std::string& name,
                                                            std::string_view meaning) {
  std::vector<std::pair<std::uint64_t, double>> pairs;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::vector<std::string_view> words = words_of(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (words.empty() || words[0].starts_with('#')) continue;
    try {
      if (words.size() != 2) throw std::invalid_argument(fmt::format("must be two numbers, {}", meaning));
      pairs.emplace_back(parse_count(words[0]), parse_real(words[1]));
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(fmt::format("{}, line {}: {}", name, number, error.what()));
    }
  }
  return pairs;
}

theory::CountHistogram histogram_of_text(std::string_view text, const std::string& name,
                                         std::uint64_t limit) {
  return theory::make_count_histogram(
      pairs_of_text(text, name, "a count and the number of keys with that count"), limit);
}

}  // namespace tally::cli
