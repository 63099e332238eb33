#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace tally::cli {

/// The words of a command line, with those that the file of the command's option CommandLine::add_config stands for after the
/// command's name. An option on the command line replaces its value in the file. Throws CLI::ValidationError for a file that
/// cannot be read, and for a name in it that is no option.
std::vector<std::string> with_config_file(const CLI::App& program, const std::vector<std::string>& words);

}  // namespace tally::cli
