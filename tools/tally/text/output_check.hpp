#pragma once

#include <string>
#include <string_view>

namespace tally::cli {

/// Throws std::system_error that names the path if a file could not be written there ("-": standard output),
/// before any work is done. Tries what `save` and `save_bytes` will do, but creates no name, and changes
/// nothing that exists. Problems that appear only later, such as a full disk, are not found.
void check_can_write(const std::string& path);

/// The same for standard output as a descriptor: whether it is open for writing.
void check_standard_output();

/// Throws std::invalid_argument, with the advice, if standard output is a terminal, which binary data would
/// garble.
void refuse_terminal(std::string_view advice);

}  // namespace tally::cli
