#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tally::cli {

// A file is lost if it is written while it is read, or replaced by a result made from it. This is checked
// before any work is done, as cat does. Files are the same if their device and inode are the same, whatever
// their names. A path that is not a regular file is never lost.

/// Throws std::invalid_argument that names the flag and the file if `output` is one of `inputs`. "-" means
/// standard input among inputs, and no file as output; no inputs mean standard input.
void refuse_input_as_output(std::vector<std::string> inputs, const std::string& output,
                            std::string_view flag = "--output");

/// The same for standard output, wherever it was redirected.
void refuse_input_as_standard_output(std::vector<std::string> inputs);

}  // namespace tally::cli
