#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tally::test {

/// Lines of keys "k0", "k1", ... whose frequencies fall as rank^-exponent; the same for the same arguments.
std::string zipf_lines(std::size_t num_lines, std::size_t num_keys, double exponent, std::uint64_t seed);

/// The keys of a text; what follows the last separator is a key too, unless it is empty.
std::vector<std::string> split_keys(std::string_view text, char separator = '\n');

using Counts = std::unordered_map<std::string, std::uint64_t>;

Counts count_exactly(const std::vector<std::string>& keys);

/// "count\tkey" for each key that is there `least` times or more, in the order of the keys.
std::string sorted_lines(const Counts& counts, std::uint64_t least);

/// Each key that is seen `threshold` times, in the order in which they get there.
std::vector<std::string> keys_over(const std::vector<std::string>& keys, std::uint64_t threshold);

}  // namespace tally::test
