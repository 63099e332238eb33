#include "commands/selected_keys.hpp"

#include <fmt/core.h>

namespace tally::cli {

std::string SelectedKeys::text() const {
  return fmt::format("{} keys, {} of them found", num_keys_, num_found_);
}

ExitCode SelectedKeys::finish(const std::string& name_of_total) {
  const std::uint64_t num_absent = num_keys_ - num_found_;
  const std::uint64_t num_selected = options_.invert ? num_absent : num_found_;
  if (options_.json) {
    output_.write(
        Json{{name_of_total, num_keys_}, {"num_found", num_found_}, {"num_absent", num_absent}}.dump(2));
    output_.write("\n");
  } else if (options_.count_only) {
    output_.write(fmt::format("{}\n", num_selected));
  }
  output_.finish();
  return num_selected > 0 ? ExitCode::success : ExitCode::none;
}

}  // namespace tally::cli
