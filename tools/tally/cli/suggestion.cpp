#include "cli/suggestion.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <numeric>

namespace tally::cli {
namespace {

constexpr std::size_t most_suggestions = 3;

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// Only "-f" is close to "-F": any two letters are one edit apart.
std::size_t distance_of(std::string_view word, std::string_view candidate) {
  constexpr std::size_t far = ~std::size_t{0};
  if (word.size() == 2 && word[0] == '-')
    return candidate.size() == 2 && lower(candidate[1]) == lower(word[1]) ? 1 : far;
  if (candidate.size() == 2 && candidate[0] == '-') return far;
  constexpr std::size_t short_word = 3;  // it occurs in many words
  const bool is_part = word.size() > short_word && candidate.find(word) != std::string_view::npos;
  return is_part || candidate.starts_with(word) ? 1 : edit_distance(word, candidate);
}

}  // namespace

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  std::vector<std::string_view> best;
  std::size_t least = std::max<std::size_t>(2, word.size() / 3);
  for (const std::string& candidate : known) {
    const std::size_t distance = distance_of(word, candidate);
    if (distance > least) continue;
    if (distance < least) best.clear();
    least = distance;
    best.push_back(candidate);
  }
  if (best.empty()) return "";
  best.resize(std::min(best.size(), most_suggestions));
  std::string text = fmt::format("; did you mean '{}'", best.front());
  for (std::size_t i = 1; i < best.size(); ++i)
    text += fmt::format("{} '{}'", i + 1 == best.size() ? " or" : ",", best[i]);
  return text + "?";
}

}  // namespace tally::cli
