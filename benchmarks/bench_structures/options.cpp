#include "options.hpp"

#include <fmt/core.h>
#include <fnmatch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace tally::bench {
namespace {

constexpr std::string_view usage =
    "usage: bench_structures [OPTION...]\n"
    "Checks every structure, then times it. --help describes the columns.\n"
    "  --keys N          number of keys, 10,000 to 2^31; may be given several times (default: 1e6 and 64e6)\n"
    "  --rounds N        rounds, of which the median is printed (default: 9)\n"
    "  --hashed          keys are texts of 16 bytes, and times include their hashing; by default ready "
    "digests\n"
    "  --only PATTERN    only structures of whose name a part matches, such as 'dleft*32'; may be given "
    "several times\n"
    "  --json FILE       also write all numbers to FILE\n"
    "  --plot PREFIX     draw PREFIX<keys>_time.svg and PREFIX<keys>_space.svg (needs gnuplot)\n"
    "  --quick           100,000 keys, 1 round: a test of the benchmark\n";

constexpr std::string_view columns =
    "\n"
    "Times are in ns of processor time per key, medians of rounds that take the structures in random order.\n"
    "  fill       an insertion while the structure fills up, on average\n"
    "  insert     an insertion of a new key after the removal of a member, at the full number of keys; where "
    "nothing\n"
    "             can be removed, an insertion of a member\n"
    "  absent, present, mixed\n"
    "             a lookup of an absent key, of a member, of either with equal probability\n"
    "  Zipf       a lookup by Zipf's law with the exponent 1 over members and absent keys\n"
    "  remove     a removal of a random member\n"
    "  churn      a removal of a random member and an insertion of a new key\n"
    "  a1, a2     a read of one or two random lines of 64 bytes in memory as large as the structure; in "
    "batches with the\n"
    "             best prefetch distance\n"
    "A batch has 2048 keys. A structure without batches has times for one key per call only.\n";

[[noreturn]] void fail(const std::string& what) {
  fmt::print(stderr, "bench_structures: {}\n{}", what, usage);
  std::exit(2);
}

double number_of(std::string_view option, const char* text, double least, double most) {
  char* end = nullptr;
  const double number = std::strtod(text, &end);
  if (end == text || *end != '\0' || !(number >= least && number <= most))
    fail(fmt::format("{} is '{}'; must be a number from {} to {}", option, text, least, most));
  return number;
}

}  // namespace

bool Options::wants(const std::string& name) const {
  const auto matches = [&](const std::string& pattern) {
    return fnmatch(("*" + pattern + "*").c_str(), name.c_str(), 0) == 0;
  };
  return only.empty() || std::ranges::any_of(only, matches);
}

Options parse_options(int argc, char** argv) {
  Options options;
  bool quick = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    const auto value = [&] {
      if (i + 1 == argc) fail(fmt::format("{} needs a value", option));
      return argv[++i];
    };
    if (option == "--help") {
      fmt::print("{}{}", usage, columns);
      std::exit(0);
    } else if (option == "--keys") {
      options.num_keys.push_back(static_cast<std::uint64_t>(number_of(option, value(), 1e4, 0x1p31)));
    } else if (option == "--rounds") {
      options.num_rounds = static_cast<int>(number_of(option, value(), 1, 1000));
    } else if (option == "--hashed") {
      options.hashed = true;
    } else if (option == "--only") {
      options.only.emplace_back(value());
    } else if (option == "--json") {
      options.json_file = value();
    } else if (option == "--plot") {
      options.plot_prefix = value();
    } else if (option == "--quick") {
      quick = true;
    } else {
      fail(fmt::format("unknown option {}", option));
    }
  }
  if (options.num_keys.empty())
    options.num_keys =
        quick ? std::vector<std::uint64_t>{100'000} : std::vector<std::uint64_t>{1'000'000, 64'000'000};
  if (options.num_rounds == 0) options.num_rounds = quick ? 1 : 9;
  return options;
}

}  // namespace tally::bench
