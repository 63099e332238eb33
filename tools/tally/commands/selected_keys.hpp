#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cli/command.hpp"
#include "text/output.hpp"

namespace tally::cli {

/// What `query` commands print of their keys.
struct SelectionOptions {
  bool invert = false;      ///< select the absent keys
  bool count_only = false;  ///< print only the number of selected keys
  bool json = false;        ///< print only numbers, as JSON
  bool line_buffered = false;
};

/// Prints the selected keys, or their number.
class SelectedKeys {
 public:
  SelectedKeys(const SelectionOptions& options, bool nul_separated)
      : options_(options), output_({nul_separated, options.line_buffered}) {}

  void take(std::string_view key, bool found) {
    ++num_keys_;
    num_found_ += found ? 1 : 0;
    if (!options_.count_only && !options_.json && found != options_.invert) output_.write_key(key);
  }
  /// `name_of_total` is the JSON field of the number of keys. The status tells whether any was selected.
  ExitCode finish(const std::string& name_of_total);

 private:
  SelectionOptions options_;
  Output output_;
  std::uint64_t num_keys_ = 0;
  std::uint64_t num_found_ = 0;
};

}  // namespace tally::cli
