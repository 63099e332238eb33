#pragma once

#include <string_view>

#include "input/key_reader.hpp"
#include "text/json.hpp"
#include "text/output.hpp"

namespace tally::cli {

/// What is printed of a key: with --line its line, and before all lines the header of the first file.
class PrintedKey {
 public:
  PrintedKey(const InputOptions& input, bool is_json)
      : has_line_(input.prints_lines), is_json_(is_json), fields_(input.fields) {}

  /// The input, read with which this takes the headers of files as they come. `output` gets what is printed.
  InputOptions follow(InputOptions input, Output& output);

  /// Of a key; with --line of its line: an object with both.
  Json json(std::string_view text);

 private:
  void take_header(std::string_view line, Output& output);

  bool has_line_;
  bool is_json_;
  FieldSelector fields_;
  bool has_header_ = false;
};

}  // namespace tally::cli
