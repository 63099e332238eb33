#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "cli/documents.hpp"
#include "cli/flag_words.hpp"
#include "cli/options.hpp"
#include "commands/commands.hpp"
#include "commands/filter_store.hpp"
#include "files/filter_file.hpp"
#include "files/sketch_file.hpp"
#include "input/input_is_output.hpp"
#include "input/read_ahead.hpp"

// The commands that change a filter file: add, remove, halve, merge.

namespace tally::cli {

namespace {

struct ChangeOptions {
  FilterFileOptions filter;
  InputOptions input;
  RecordOptions records;
  StoreOptions store;
  bool json = false;
  bool quiet = false;
};

void declare_change(CommandLine app, ChangeOptions& options) {
  add_filter_file_or_store(app, options.filter);
  add_input_options(app, options.input);
  add_json(app, options.json);
  add_quiet(app, options.quiet);
}

void declare_store(CommandLine app, ChangeOptions& options) {
  add_store(app, options.store, StoreUse::write);
  add_store_state(app, options.store);
}

/// Whether the keys go to a store. Throws std::invalid_argument for options that do not fit together.
bool changes_store(CommandLine app, ChangeOptions& options) {
  take_filter_argument(options.store, options.filter.path, options.input);
  if (!options.store.is_given()) {
    refuse_without_store(app, {"--password-file", "--patience", "--wait", "--state"});
    return false;
  }
  refuse_with_store(app, {"--key-file"});
  refuse_input_as_output(options.input.files, options.store.state_path, "--state");
  return true;
}

FilterStoreOptions in_store(const ChangeOptions& options) {
  return {options.input, options.store, options.json, options.quiet};
}

// Writes the filter back, whole or not at all, and prints the new state.
void write_back(const ChangeOptions& options, const GuardedFile& file, const AnyFilter& filter, Json json,
                const std::string& done) {
  refuse_if_stopped(options.filter.path);
  file.save(filter);
  const FilterStatistics statistics = filter.statistics();
  if (options.json) {
    json["filter"] = filter_to_json(filter, statistics);
    print_json(json);
  }
  remark(options.quiet, fmt::format("{}; {}", done, state_text(filter, statistics)));
}

ExitCode run_add(const ChangeOptions& options) {
  refuse_input_as_output(options.input.files, options.filter.path, "filter");
  const GuardedFile file(options.filter.path, options.quiet);
  AnyFilter filter = file.load(options.filter.key());
  const std::uint64_t num_keys =
      insert_input(filter, options.input, options.records, options.quiet, options.filter.path);
  write_back(options, file, filter, {{"num_added", num_keys}}, fmt::format("added {} keys", num_keys));
  return num_keys > 0 ? ExitCode::success : ExitCode::none;
}

ExitCode run_remove(const ChangeOptions& options) {
  refuse_input_as_output(options.input.files, options.filter.path, "filter");
  const GuardedFile file(options.filter.path, options.quiet);
  AnyFilter filter = file.load(options.filter.key());
  filter.remove_batch({}, {});  // a kind that cannot remove is refused before any input is read
  std::uint64_t num_refused = 0;
  Batch<RemoveResult> results;
  const auto remove = [&](std::span<const std::string_view>, std::span<const Hash128> digests) {
    const std::span<RemoveResult> own(results.data(), digests.size());
    filter.remove_batch(digests, own);
    num_refused += static_cast<std::uint64_t>(std::count(own.begin(), own.end(), RemoveResult::refused));
  };
  const std::uint64_t num_keys =
      for_each_batch(options.input, filter.hasher(), options.quiet, remove).num_keys;
  const std::uint64_t num_removed = num_keys - num_refused;
  std::string done = fmt::format("removed {} keys", num_removed);
  if (num_refused > 0) done += fmt::format(", refused {} that are certainly not in the filter", num_refused);
  write_back(options, file, filter, {{"num_removed", num_removed}, {"num_refused", num_refused}}, done);
  return num_refused == 0 && num_keys > 0 ? ExitCode::success : ExitCode::none;
}

ExitCode run_halve(const ChangeOptions& options) {
  const GuardedFile file(options.filter.path, options.quiet);
  AnyFilter filter = file.load(options.filter.key());
  filter.halve();
  write_back(options, file, filter, Json::object(), "halved");
  return ExitCode::success;
}

struct MergeOptions {
  std::vector<std::string> inputs;
  std::string key_file;
  std::string output;
  bool force = false;
  bool json = false;
  bool quiet = false;
};

/// The same of sketches, `merged` being that of the first file.
ExitCode merge_sketches(const MergeOptions& options, const OutputFile& output, AnySketch merged,
                        const std::optional<HashKey>& key) {
  for (std::size_t i = 1; i < options.inputs.size(); ++i) {
    merge_file(merged, options.inputs.front(), options.inputs[i], key);
    refuse_if_stopped(options.output);
  }
  output.save(serialize(merged));
  if (options.json) print_json({{"num_merged", options.inputs.size()}, {"sketch", sketch_to_json(merged)}});
  remark(options.quiet, fmt::format("merged {} {} files into '{}'; {}", options.inputs.size(),
                                    name_of(kind_of(merged)), options.output, sketch_state_text(merged)));
  return ExitCode::success;
}

ExitCode run_merge(const MergeOptions& options) {
  const OutputFile output(options.output, options.force, options.quiet);  // it may be one of the inputs
  const std::optional<HashKey> key = FilterFileOptions{"", options.key_file}.key();
  AnyFile first = load_any(options.inputs.front(), key);
  if (auto* sketch = std::get_if<AnySketch>(&first))
    return merge_sketches(options, output, std::move(*sketch), key);
  AnyFilter merged = std::get<AnyFilter>(std::move(first));
  for (std::size_t i = 1; i < options.inputs.size(); ++i) {
    const AnyFilter other = load(options.inputs[i], key);
    const bool has_room =
        merge_files(options.inputs.front(), options.inputs[i],
                    "'tally build --like' makes filters that merge", [&] { return merged.merge(other); });
    if (!has_room) {
      throw std::runtime_error(fmt::format(
          "'{}' is full: the keys of '{}' do not fit; '{}' was not written; build the filters with more "
          "--keys or --frequent-keys",
          options.inputs.front(), options.inputs[i], options.output));
    }
    refuse_if_stopped(options.output);
  }
  output.save(merged);
  const FilterStatistics statistics = merged.statistics();
  if (options.json) {
    print_json({{"num_merged", options.inputs.size()}, {"filter", filter_to_json(merged, statistics)}});
  }
  remark(options.quiet, fmt::format("merged {} filters into '{}'; {}", options.inputs.size(), options.output,
                                    state_text(merged, statistics)));
  return ExitCode::success;
}

}  // namespace

Run declare_add(CommandLine app) {
  const auto options = std::make_shared<ChangeOptions>();
  add_details(app, R"(
      Adds all keys and then replaces the file as a whole. After an error the file is unchanged. A dleft filter
      that is full is such an error.
      )");
  app.set_exit_status({.success = "if keys were added", .none = "if the input had none"});
  declare_change(app, *options);
  add_sum(app, options->records);
  add_threads(app, options->input, "--threads",
              "the second one also fills the filter, and the first two a half each of a large one",
              "the file", "--sum");
  declare_store(app, *options);
  return [app, options] {
    if (!changes_store(app, *options)) return run_add(*options);
    refuse_with_store(app, {"--sum", "--skip-bad", "--threads"});
    return run_add_store(in_store(*options));
  };
}

Run declare_remove(CommandLine app) {
  const auto options = std::make_shared<ChangeOptions>();
  add_details(app, R"(
      Removes one occurrence of every key of the input from a counting-bloom or dleft filter. Removing a key that
      is provably absent is refused and changes nothing. Remove only keys that you added: if a false positive
      lets an illegal removal through, nothing can detect it, and other keys lose counts.
      )");
  app.set_exit_status(
      {.success = "if all keys were removed", .none = "if a key was refused or the input had none"});
  declare_change(app, *options);
  declare_store(app, *options);
  return [app, options] {
    return changes_store(app, *options) ? run_remove_store(in_store(*options)) : run_remove(*options);
  };
}

Run declare_halve(CommandLine app) {
  const auto options = std::make_shared<ChangeOptions>();
  add_details(app, R"(
      Halves every counter of a count-min sketch and rounds up. Halve at regular intervals to let old counts fade.
      No count becomes lower than half the true count, rounded up. A counter at its maximum stays there.
      )");
  app.set_exit_status({.success = "after success"});
  add_filter_file(app, options->filter);
  add_json(app, options->json);
  add_quiet(app, options->quiet);
  return [options] { return run_halve(*options); };
}

Run declare_merge(CommandLine app) {
  const auto options = std::make_shared<MergeOptions>();
  add_details(app, R"(
      The filters must have the same kind, shape, scheme and seed, as those of 'tally build --like FILE'.
      Otherwise the command names the first difference and writes nothing. dleft filters may differ in the number
      of doublings; if the keys of all do not fit into one filter, that is an error.

      Files of 'tally top --save' can be merged if method, number of candidates, sketch and seed are the same; so
      can sliding windows that the library wrote.
      )");
  app.set_exit_status({.success = "after success"});
  add_file(app, "-o,--output", options->output, "Write the merged filter to this file ('-': standard output)")
      .required();
  app.add_option("filters", options->inputs, "Two or more filter files")
      .type_name("FILE")
      .required()
      .expected(2, Option::any_number);
  add_key_file(app, options->key_file);
  add_force(app, options->force);
  add_json(app, options->json);
  add_quiet(app, options->quiet);
  return [options] { return run_merge(*options); };
}

}  // namespace tally::cli
