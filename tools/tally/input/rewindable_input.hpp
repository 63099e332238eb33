#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace tally::cli {

/// Input that is read twice: first to count its distinct keys, then for the actual work.
class RewindableInput {
 public:
  /// `files` as in InputOptions. Throws std::system_error that names a file that is missing or a directory,
  /// and std::invalid_argument for a pipe, which cannot be read twice: "FLAG: 'FILE' cannot be read twice to
  /// count its ADVICE".
  RewindableInput(std::vector<std::string> files, std::string_view flag, std::string_view advice);

  /// Rewinds standard input, if it is read, to where it was. Throws std::system_error.
  void rewind() const;

 private:
  off_t standard_input_start_ = -1;  // it is not read
};

}  // namespace tally::cli
