#include "key_streams.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "random.hpp"

namespace tally::test {

std::string zipf_lines(std::size_t num_lines, std::size_t num_keys, double exponent, std::uint64_t seed) {
  std::vector<double> sums(num_keys);
  double sum = 0;
  for (std::size_t i = 0; i < num_keys; ++i) sums[i] = sum += std::pow(static_cast<double>(i + 1), -exponent);
  Random random(seed);
  std::string text;
  for (std::size_t i = 0; i < num_lines; ++i) {
    const double at = static_cast<double>(random.next() >> 11) * 0x1p-53 * sum;
    const auto rank = std::min<std::ptrdiff_t>(std::upper_bound(sums.begin(), sums.end(), at) - sums.begin(),
                                               static_cast<std::ptrdiff_t>(num_keys) - 1);
    text += 'k' + std::to_string(rank) + '\n';
  }
  return text;
}

std::vector<std::string> split_keys(std::string_view text, char separator) {
  std::vector<std::string> keys;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    keys.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return keys;
}

Counts count_exactly(const std::vector<std::string>& keys) {
  Counts counts;
  for (const std::string& key : keys) ++counts[key];
  return counts;
}

std::string sorted_lines(const Counts& counts, std::uint64_t least) {
  const std::map<std::string, std::uint64_t> in_order(counts.begin(), counts.end());
  std::string lines;
  for (const auto& [key, count] : in_order) {
    if (count >= least) lines += std::to_string(count) + '\t' + key + '\n';
  }
  return lines;
}

std::vector<std::string> keys_over(const std::vector<std::string>& keys, std::uint64_t threshold) {
  Counts counts;
  std::vector<std::string> over;
  for (const std::string& key : keys) {
    if (++counts[key] == threshold) over.push_back(key);
  }
  return over;
}

}  // namespace tally::test
