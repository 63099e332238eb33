#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "cli/command.hpp"
#include "input/printed_key.hpp"
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
  SelectedKeys(const SelectionOptions& options, const InputOptions& input)
      : options_(options),
        input_(input),
        output_({input.nul_separated, options.line_buffered}),
        printed_(input, options.count_only || options.json) {}

  /// The text of the key that is printed.
  void take(std::string_view text, bool found) {
    const bool is_selected = found != options_.invert;
    take_selected({&text, is_selected ? 1u : 0u}, is_selected ? 0 : 1);
  }
  /// The texts of keys that are selected, and how many others there were.
  void take_selected(std::span<const std::string_view> texts, std::uint64_t num_others) {
    num_keys_ += texts.size() + num_others;
    num_found_ += options_.invert ? num_others : texts.size();
    if (options_.count_only || options_.json) return;
    for (const std::string_view text : texts) output_.write_key(text);
  }
  /// The input, read with which the header of its lines is printed, too.
  InputOptions input() { return printed_.follow(input_, output_); }
  /// What is known so far.
  std::string text() const;
  /// `name_of_total` is the JSON field of the number of keys. The status tells whether any was selected.
  ExitCode finish(const std::string& name_of_total);

 private:
  SelectionOptions options_;
  InputOptions input_;
  Output output_;
  PrintedKey printed_;
  std::uint64_t num_keys_ = 0;
  std::uint64_t num_found_ = 0;
};

}  // namespace tally::cli
