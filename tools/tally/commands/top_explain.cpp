#include "commands/top_explain.hpp"

#include <fmt/core.h>

#include "text/explanation.hpp"
#include "text/output.hpp"

namespace tally::cli {
namespace {

std::string kept_by(const TopStream::Options& planned) {
  std::string text = fmt::format("Keeps {} candidates with their counts", planned.capacity);
  if (!planned.space_saving) {
    text += fmt::format(", and a Count-Min sketch of {} rows of {} counters for all other keys",
                        planned.sketch.depth, planned.sketch.width);
  }
  if (planned.window) text += fmt::format(", in each of {} slots", planned.num_slots + 1);
  return text + ".";
}

std::string_view why_a_key_may_be_missing(const TopOptions& options) {
  return options.share ? "No key above --share is missed; one that is printed and may be below it is not "
                         "marked as certain."
                       : "A key that is printed and may not be one of the most frequent is not marked as "
                         "certain (--json).";
}

}  // namespace

ExitCode explain_top(const TopOptions& options) {
  TopOptions without_secret = options;
  without_secret.hasher = {};
  const TopStream::Options planned = plan_top(without_secret);
  const TopStream stream(planned);
  print_explanation(fmt::format(
      "{} Memory: {} at the start; candidates with long keys take more, and nothing else grows. It is "
      "certain that a "
      "count is never too low, and that no key is missed whose share of the total is above {}. How much too "
      "high each "
      "count may be is known, and printed by --with-error and --json. {} When all candidates are in use, a "
      "rarer one makes "
      "room for a more frequent one.{}{}",
      kept_by(planned), exact_bytes(stream.memory_bytes()),
      human_rate(1 / static_cast<double>(planned.capacity)), why_a_key_may_be_missing(options),
      planned.window
          ? " Counts reach back over the window and up to one slot more; lines that come later than that are "
            "left out and counted."
          : "",
      options.exact ? " --exact keeps every key with its count besides, in memory that nothing bounds."
                    : ""));
  return ExitCode::success;
}

}  // namespace tally::cli
