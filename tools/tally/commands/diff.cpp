#include <fmt/core.h>

#include <memory>

#include "cli/documents.hpp"
#include "cli/options.hpp"
#include "commands/commands.hpp"
#include "files/filter_file.hpp"
#include "files/summary_file.hpp"
#include "input/input_is_output.hpp"

namespace tally::cli {

namespace {

struct DiffOptions {
  std::vector<std::string> files;
  std::string key_file;
  std::string output = "-";
  std::string name;
  bool force = false;
  bool json = false;
  bool quiet = false;
};

// Files have no versions: a delta leads from the first version to the second, and its digest identifies both.
constexpr SummaryVersion first_version{1, 1};
constexpr SummaryVersion second_version{1, 2};

ExitCode run_diff(const DiffOptions& options) {
  refuse_input_as_output(options.files, options.output);
  const OutputFile output(options.output, options.force, options.quiet);
  const FilterFileOptions key{"", options.key_file};
  const SummaryTable after = load_summary(options.files.back(), key.key());
  const std::string name = publisher_name(options.name, options.files.back());
  std::optional<SummaryDelta> delta;
  bool is_other_layout = false;
  if (options.files.size() == 2) {
    const SummaryTable before = load_summary(options.files.front(), key.key());
    is_other_layout = before.layout() != after.layout();
    if (!is_other_layout) delta = SummaryDelta::between(before, after);
  }
  const std::uint64_t full_bytes = full_message_bytes(name, after);
  const bool is_delta = delta && summary_header_bytes + name.size() + delta->num_bytes() <= full_bytes;
  const SummaryEnvelope envelope{name, is_delta ? second_version : first_version, digest_of(after),
                                 summary_time_now()};
  const std::vector<std::byte> message =
      is_delta ? delta_message(envelope, first_version.sequence, *delta) : full_message(envelope, after);
  output.save(message);
  const bool differ = !delta || !delta->changes.empty();
  const char* const units = after.layout().has_cells() ? "cells" : "bits";
  if (options.json && options.output != "-") {
    print_json({{"kind", is_delta ? "delta" : "full"},
                {"num_changes", is_delta ? Json(delta->changes.size()) : Json(nullptr)},
                {"message_bytes", message.size()},
                {"summary_bytes", after.layout().num_bytes()}});
  }
  if (is_delta) {
    remark(options.quiet,
           fmt::format("{} of {} {} changed: {}, {} of the {} of a full copy", delta->changes.size(),
                       after.num_units(), units, human_bytes(static_cast<double>(message.size())),
                       human_rate(static_cast<double>(message.size()) / static_cast<double>(full_bytes)),
                       human_bytes(static_cast<double>(full_bytes))));
  } else {
    remark(options.quiet,
           fmt::format("a full copy of {} {}: {}{}", after.num_units(), units,
                       human_bytes(static_cast<double>(message.size())),
                       is_other_layout ? " (the two files have different shapes, schemes or seeds)"
                       : delta         ? " (shorter than the changes)"
                                       : ""));
  }
  return differ ? ExitCode::success : ExitCode::none;
}

}  // namespace

Run declare_diff(CommandLine app) {
  const auto options = std::make_shared<DiffOptions>();
  add_details(app, R"(
      Writes a message (docs/summaries.md) that turns a copy of OLD into a copy of NEW: the bits or cells that
      changed, compressed to about their entropy. The message is a full copy of NEW if there is no OLD, if the two
      differ in shape, scheme or seed, or if a full copy is shorter. For a counting-bloom filter it tells which
      counters are above 0, but not their values. 'tally patch' applies the message.
      )");
  app.set_exit_status({.success = "if something changed", .none = "if nothing did"});
  app.add_option("files", options->files, "[OLD] NEW: bloom, counting-bloom or dleft filter files")
      .type_name("FILE")
      .required()
      .expected(1, 2);
  add_file(app, "-o,--output", options->output,
           "Write the message to this file (default '-': standard output)");
  app.add_option("--name", options->name, "Name of the publisher in the message (default: NEW's name)")
      .type_name("NAME");
  add_key_file(app, options->key_file);
  add_force(app, options->force);
  add_json(app, options->json);
  add_quiet(app, options->quiet);
  return [options] { return run_diff(*options); };
}

}  // namespace tally::cli
