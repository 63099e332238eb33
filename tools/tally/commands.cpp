#include "commands.hpp"

namespace tally::cli {

const std::vector<Command>& commands() {
  static const std::vector<Command> table{};
  return table;
}

}  // namespace tally::cli
