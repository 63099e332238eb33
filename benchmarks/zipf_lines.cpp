// Writes lines of 16 bytes, keys drawn by Zipf's law: zipf_lines NUM_LINES NUM_KEYS EXPONENT [SEED]
//
// Rank i has probability proportional to i^-EXPONENT; its key is 16 hexadecimal digits of a mix of i,
// so that neighbours in rank are not neighbours in bytes.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace {

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: zipf_lines NUM_LINES NUM_KEYS EXPONENT [SEED]\n");
    return 2;
  }
  const auto num_lines = static_cast<std::uint64_t>(std::strtod(argv[1], nullptr));
  const auto num_keys = static_cast<std::uint64_t>(std::strtod(argv[2], nullptr));
  const double exponent = std::strtod(argv[3], nullptr);
  std::mt19937_64 generator(argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 1);

  std::vector<double> cumulative(num_keys);
  double sum = 0;
  for (std::uint64_t i = 0; i < num_keys; ++i)
    cumulative[i] = sum += std::pow(static_cast<double>(i + 1), -exponent);

  std::string buffer;
  for (std::uint64_t line = 0; line < num_lines; ++line) {
    const double wanted = std::ldexp(static_cast<double>(generator() >> 11), -53) * sum;
    const auto rank = std::upper_bound(cumulative.begin(), cumulative.end(), wanted) - cumulative.begin();
    std::uint64_t digits = mix(static_cast<std::uint64_t>(rank) + 1);
    for (int i = 0; i < 16; ++i, digits >>= 4) buffer += "0123456789abcdef"[digits & 15];
    buffer += '\n';
    if (buffer.size() > (1u << 20)) {
      std::fwrite(buffer.data(), 1, buffer.size(), stdout);
      buffer.clear();
    }
  }
  std::fwrite(buffer.data(), 1, buffer.size(), stdout);
  return std::fflush(stdout) == 0 ? 0 : 1;
}
