#pragma once

#include <string>
#include <string_view>

namespace tally::cli {

/// Throws std::system_error that names the path if a file could not be written there ("-": standard output): said before
/// any work is done. Tries what `save` and `save_bytes` will do, but creates no name, and changes nothing that is there.
/// What only shows later, as a disk that fills up, is not found.
void check_can_write(const std::string& path);

/// The same of standard output, as a descriptor: that it is open for writing.
void check_standard_output();

/// Throws std::invalid_argument, with the advice, if standard output is a terminal: what is no text garbles one.
void refuse_terminal(std::string_view advice);

}  // namespace tally::cli
