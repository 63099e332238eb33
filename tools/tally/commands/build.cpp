#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <stdexcept>

#include "cli/documents.hpp"
#include "cli/options.hpp"
#include "commands/commands.hpp"
#include "commands/filter_store.hpp"
#include "files/filter_file.hpp"
#include "files/side_table.hpp"
#include "input/distinct_estimate.hpp"
#include "input/input_is_output.hpp"
#include "input/read_ahead.hpp"
#include "input/rewindable_input.hpp"
#include "shape/count_min_options.hpp"
#include "shape/dleft_options.hpp"
#include "shape/flags.hpp"
#include "shape/memory_warning.hpp"
#include "shape/scheme_option.hpp"
#include "shape/shape.hpp"
#include "tally/planner/plan_dleft.hpp"
#include "text/or_list.hpp"

namespace tally::cli {

namespace {

struct BuildOptions {
  std::string output;
  InputOptions input;
  RecordOptions records;
  ShapeOptions shape;
  std::string like;
  bool verify_like = true;
  std::string shape_file;
  HasherOptions hasher;
  bool force = false;
  bool json = false;
  bool quiet = false;
};

// Reads the keys once to estimate how many are distinct; the build then reads them again.
std::uint64_t count_distinct(const BuildOptions& options) {
  const RewindableInput input(options.input.files, "--keys",
                              "keys; give the number of distinct keys with --keys, or the memory to use with "
                              "--memory");
  DistinctEstimate estimate;
  const auto insert = [&](std::span<const Hash128> digests) {
    for (const Hash128 digest : digests) estimate.insert(digest);
  };
  const std::uint64_t num_lines =
      for_each_digest_batch(options.input, KeyHasher(default_seed), options.quiet, insert).num_keys;
  refuse_if_stopped(options.output);
  input.rewind();
  remark(options.quiet,
         fmt::format("counted {} keys, about {:.0f} of them distinct", num_lines, estimate.estimate()));
  return estimate.num_to_plan_for(num_lines);
}

Planned planned_shape(const BuildOptions& options) {
  if (!options.shape_file.empty()) return {shape_in_file(options.shape_file, options.shape.kind)};
  const Planned planned = shape_of(options.shape, [&] { return count_distinct(options); });
  warn_of_little_memory(options.shape, planned.shape);
  return planned;
}

AnyFilter empty_filter(const BuildOptions& options, double& planned_keys) {
  if (!options.like.empty()) {
    const OpenFilter model(FilterFileOptions{options.like, options.hasher.key_file, options.verify_like});
    return AnyFilter(model->shape(), model->hasher());
  }
  const KeyHasher hasher = options.hasher.hasher();
  const Planned planned = planned_shape(options);
  planned_keys = planned.num_keys;
  try {
    return AnyFilter(planned.shape, hasher);
  } catch (const std::bad_alloc&) {
    throw std::runtime_error(
        fmt::format("not enough memory: the filter needs {}; give less --memory, fewer --keys or a higher "
                    "--false-positive-rate",
                    human_bytes(static_cast<double>(planned.shape.num_bytes()))));
  }
}

/// Whether the side table may grow: in a filter that has one and whose memory is not given but follows from keys and
/// rate.
bool may_side_table_grow(const BuildOptions& options, const AnyFilter& filter) {
  return filter.can_fill_up() && options.like.empty() && options.shape_file.empty() &&
         dleft_shape_flag(options.shape).empty() && !options.shape.wanted.memory_bytes;
}

std::uint64_t insert_keys(AnyFilter& filter, const BuildOptions& options) {
  if (!may_side_table_grow(options, filter))
    return insert_input(filter, options.input, options.records, options.quiet, options.output);
  const std::uint64_t planned = side_table_use(filter).capacity;
  const std::uint64_t num_keys =
      for_each_digest_batch(options.input, filter.hasher(), options.quiet,
                            [&](std::span<const Hash128> digests) {
                              if (insert_with_growing_side_table(filter, digests) != 0)
                                throw_full(filter, options.output);
                            })
          .num_keys;
  const SideTableUse use = side_table_use(filter);
  if (use.capacity != planned) {
    remark(options.quiet,
           fmt::format("the side table has grown from {} to {} entries, {}, because some keys are in the "
                       "filter more than {} times; give their number with --frequent-keys to plan for them",
                       planned, use.capacity,
                       human_bytes(16.0 * static_cast<double>(SpillTable::num_slots(use.capacity))),
                       dleft_common_key_count));
  }
  return num_keys;
}

ExitCode run_build(const BuildOptions& options) {
  refuse_input_as_output(options.input.files, options.output);
  const OutputFile output(options.output, options.force, options.quiet);
  double planned_keys = 0;
  AnyFilter filter = empty_filter(options, planned_keys);
  const std::uint64_t num_keys = insert_keys(filter, options);
  refuse_if_stopped(options.output);
  output.save(filter);

  const FilterStatistics statistics = filter.statistics();
  if (options.json) print_json({{"num_keys", num_keys}, {"filter", filter_to_json(filter, statistics)}});
  remark(options.quiet, "built a " + shape_text(filter.shape()));
  remark(options.quiet, fmt::format("{} keys read; {}", num_keys, state_text(filter, statistics)));
  if (filter.hasher().id() == HashId::xxh3_128 && options.like.empty() &&
      filter.hasher().seed_or_key_id() != default_seed) {
    remark(options.quiet, fmt::format("seed {}", filter.hasher().seed_or_key_id()));
  }
  const double surplus = statistics.estimated_num_keys - 3 * statistics.estimated_num_keys_standard_error;
  if (planned_keys > 0 && !(surplus <= planned_keys)) {
    remark(false,
           fmt::format("warning: planned for {:.0f} distinct keys, but there are {}; no key is lost, but the "
                       "false positive rate is now {}; rebuild with more --keys or --memory",
                       planned_keys,
                       std::isfinite(statistics.estimated_num_keys)
                           ? fmt::format("about {:.0f}", statistics.estimated_num_keys)
                           : "far more",
                       human_rate(statistics.estimated_false_positive_rate)));
  }
  return num_keys > 0 ? ExitCode::success : ExitCode::none;
}

ExitCode run_build_in_store(CommandLine app, const BuildOptions& options, const StoreOptions& store) {
  refuse_with_store(
      app, {"--output", "--sum", "--skip-bad", "--like", "--shape", "--key-file", "--force", "--threads"});
  refuse_input_as_output(options.input.files, store.state_path, "--state");
  const bool has_exact_shape =
      std::ranges::any_of(std::array{"--num-positions", "--width", "--remainder-bits", "--epsilon"},
                          [&](const char* name) { return app.get_option(name).is_given(); });
  return run_build_store(
      {options.input, store, options.json, options.quiet},
      {.kind = std::string(name_of(options.shape.kind_or_default())),
       .words = words_for_server(app),
       .num_keys = options.shape.wanted.num_keys,
       .memory_bytes = options.shape.wanted.memory_bytes,
       .seed = options.hasher.seed_given() ? std::optional(options.hasher.seed) : std::nullopt,
       .has_exact_shape = has_exact_shape});
}

}  // namespace

Run declare_build(CommandLine app) {
  const auto options = std::make_shared<BuildOptions>();
  const auto store = std::make_shared<StoreOptions>();
  add_details(app, R"(
      Give the size by any two of --keys, --false-positive-rate and --memory. Without a rate, it is 1%. If neither
      --keys nor --memory is given, the command first counts the keys, which must be in files. You can also give the
      exact shape instead.
      )");
  app.set_exit_status({.success = "if keys were inserted",
                       .none = "if the input had none (the command then writes an empty filter)"});
  add_file(app, "-o,--output", options->output,
           "Write the filter to this file ('-': standard output); required without --store");
  add_input_options(app, options->input);
  add_sum(app, options->records);
  const std::string planned = "Planned size";
  const std::string shape = "Exact shape";
  ShapeOptions& made = options->shape;
  add_kind(app, made.kind, "Structure to build (default: bloom; threshold if --threshold is above 1)");
  add_count(app, "-t,--threshold,--theta", made.wanted.threshold,
            "Largest count that queries will use (counting-bloom, blocked-counting-bloom, threshold)");
  add_update(app, made.wanted.update,
             "How insertions raise counters: conservative has lower errors; those of plain are known for any "
             "order of the keys");
  add_count(app, "-n,--keys", made.wanted.num_keys, "Number of distinct keys to plan for").group(planned);
  add_rate(app, "-p,--false-positive-rate", made.wanted.false_positive_rate,
           "Largest false positive rate (default: 1%)")
      .group(planned);
  add_size(app, "-m,--memory", made.wanted.memory_bytes, "Memory of the filter, which is never exceeded")
      .group(planned);
  Option positions =
      add_count(app, "--num-positions", made.num_positions, "Number of bits or counters").group(shape);
  Option hashes =
      add_count(app, "-k,--num-hashes", made.num_hashes, "Number of positions per key").group(shape);
  add_count(app, "--counter-bits", made.wanted.counter_bits,
            "Width of a counter: 1 to 8, 16, 32 or 64 (counting-bloom, blocked-counting-bloom), 0 to 4 "
            "(dleft), 8, 16, 32 or 64 "
            "(count-min)",
            {0})
      .group(shape);
  Option like = add_file(app, "--like", options->like,
                         "Use the shape and seed of this filter file, so that the two can be merged");
  add_no_verify(app, options->verify_like).needs(like).group(shape);
  Option json =
      add_file(app, "--shape", options->shape_file,
               "Use the shape in this file, which 'tally plan --json' or 'tally info --json' printed");
  like.group(shape);
  json.group(shape);
  for (Option source : {positions, hashes, like, json}) {
    for (const char* name : {"--keys", "--false-positive-rate", "--memory"})
      source.excludes(app.get_option(name));
  }
  std::vector<Option> dleft = add_dleft_plan_options(app, made.wanted);
  for (Option option : add_dleft_shape_options(app, made)) dleft.push_back(option);
  std::vector<Option> own = add_count_min_options(app, made);
  own.insert(own.end(), dleft.begin(), dleft.end());
  add_scheme_of_any_kind(app, made.scheme, fmt::format("({})", or_list(scheme_names(FilterKind::count_min))));
  add_hasher_options(app, options->hasher);
  for (Option source : {like, json}) {
    for (const char* name :
         {"--num-positions", "--num-hashes", "--counter-bits", "--threshold", "--update", "--scheme"}) {
      source.excludes(app.get_option(name));
    }
    for (Option option : own) source.excludes(option);
  }
  like.excludes(json).excludes(app.get_option("--kind")).excludes(app.get_option("--seed"));
  add_threads(app, options->input, "--threads",
              "the second one also fills the filter, and the first two a half each of a large one",
              "the file", "--sum");
  add_force(app, options->force);
  add_json(app, options->json);
  add_quiet(app, options->quiet);
  add_store(app, *store, StoreUse::write_or_make);
  add_store_state(app, *store);
  return [app, options, store] {
    if (store->is_given()) return run_build_in_store(app, *options, *store);
    refuse_without_store(app, {"--password-file", "--patience", "--wait", "--shards", "--state"});
    if (options->output.empty()) throw std::invalid_argument("--output is required; give a file, or --store");
    options->shape.has_weights = !options->records.sum_fields.empty();
    return run_build(*options);
  };
}

}  // namespace tally::cli
