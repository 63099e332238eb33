#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tally::bench {

/// The command line of the benchmark.
struct Options {
  std::vector<std::uint64_t> num_keys = {};  ///< one working set each
  int num_rounds = 0;
  bool hashed = false;
  std::vector<std::string> only = {};  ///< patterns of names; none: all
  std::string json_file = {};
  std::string plot_prefix = {};

  /// Whether a pattern, in which '*' is any text, matches a part of the name.
  bool wants(const std::string& name) const;
};

/// Ends the program after --help, and with status 2 and a message after an error.
Options parse_options(int argc, char** argv);

}  // namespace tally::bench
