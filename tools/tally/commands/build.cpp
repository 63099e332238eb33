#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <stdexcept>

#include "cli/documents.hpp"
#include "commands/commands.hpp"
#include "files/filter_file.hpp"
#include "files/side_table.hpp"
#include "input/input_is_output.hpp"
#include "input/key_loop.hpp"
#include "shape/build.hpp"
#include "tally/planner/plan_dleft.hpp"

namespace tally::cli {

namespace {

AnyFilter empty_filter(const BuildOptions& options, double& planned_keys) {
  if (!options.like.empty()) {
    const OpenFilter model(FilterFileOptions{options.like, options.hasher.key_file, options.verify_like});
    return AnyFilter(model->shape(), model->hasher());
  }
  const KeyHasher hasher = options.hasher.hasher();
  const Planned planned = shape_of(options);
  planned_keys = planned.num_keys;
  try {
    return AnyFilter(planned.shape, hasher);
  } catch (const std::bad_alloc&) {
    throw std::runtime_error(
        fmt::format("not enough memory: asked for {}; ask for less with --memory, fewer --keys "
                    "or a higher --false-positive-rate",
                    human_bytes(static_cast<double>(planned.shape.num_bytes()))));
  }
}

/// A d-left filter is planned for keys and a rate, and its memory follows: the side table too may take what it needs.
bool may_side_table_grow(const BuildOptions& options, const AnyFilter& filter) {
  return filter.kind() == FilterKind::dleft && options.like.empty() && options.shape_file.empty() &&
         options.dleft_shape.given().empty() && !options.memory_bytes;
}

std::uint64_t insert_keys(AnyFilter& filter, const BuildOptions& options) {
  if (!may_side_table_grow(options, filter))
    return insert_input(filter, options.input, options.records, options.quiet, options.output);
  const std::uint64_t planned = side_table_use(filter).capacity;
  const std::uint64_t num_keys =
      for_each_batch(options.input, filter.hasher(), options.quiet,
                     [&](std::span<const std::string_view>, std::span<const Hash128> digests) {
                       if (insert_with_growing_side_table(filter, digests) != 0)
                         throw_full(filter, options.output);
                     });
  const SideTableUse use = side_table_use(filter);
  if (use.capacity != planned) {
    remark(
        options.quiet,
        fmt::format(
            "the side table has grown from {} to {} entries, {}: keys are in it more than {} times; say how "
            "many with --frequent-keys, and it is planned for them",
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
           fmt::format("warning: planned for {:.0f} distinct keys, and there are {}; no key is lost, but the "
                       "error is now {}; rebuild with more --keys or --memory",
                       planned_keys,
                       std::isfinite(statistics.estimated_num_keys)
                           ? fmt::format("about {:.0f}", statistics.estimated_num_keys)
                           : "far more",
                       human_rate(statistics.estimated_false_positive_rate)));
  }
  return num_keys > 0 ? ExitCode::success : ExitCode::none;
}

}  // namespace

Run declare_build(CommandLine app) {
  const auto options = std::make_shared<BuildOptions>();
  add_details(
      app,
      "Say how large by any two of --keys, --false-positive-rate and --memory; with one of them, or with "
      "none, "
      "the rate is 1%, and the keys are counted first if they are in files. Or give the shape itself. "
      "Exit status: 0, 1 if the input held no keys (an empty filter is written), 2 after an error.");
  add_file(app, "-o,--output", options->output, "Write the filter here ('-': standard output)").required();
  add_input_options(app, options->input);
  add_sum(app, options->records);
  add_skip_bad(app, options->records);
  const std::string planned = "Planned size";
  const std::string shape = "Exact shape";
  add_choice(app, "--kind", options->kind,
             "What it can do (default: bloom; threshold if --threshold is above 1)",
             {"bloom", "blocked-bloom", "counting-bloom", "threshold", "dleft", "count-min"});
  add_count(app, "-t,--threshold,--theta", options->threshold,
            "Largest count it will be asked for (counting-bloom, threshold)");
  add_choice(app, "--update", options->update,
             "How counters rise: conservative errs less, plain can be predicted", {"plain", "conservative"});
  add_count(app, "-n,--keys", options->num_keys, "Distinct keys to plan for").group(planned);
  add_rate(app, "-p,--false-positive-rate", options->false_positive_rate, "How often an absent key may pass")
      .group(planned);
  add_size(app, "-m,--memory", options->memory_bytes, "Memory of the filter, never exceeded").group(planned);
  Option positions =
      add_count(app, "--num-positions", options->num_positions, "Bits, or counters").group(shape);
  Option hashes = add_count(app, "-k,--num-hashes", options->num_hashes, "Positions a key has").group(shape);
  add_count(app, "--counter-bits", options->counter_bits,
            "Width of a counter: 1 to 8, 16, 32 or 64 (counting-bloom), 0 to 4 (dleft), 8, 16, 32 or 64 "
            "(count-min)",
            {0})
      .group(shape);
  Option like =
      add_file(app, "--like", options->like, "Shape and seed of this filter file: the two will merge");
  add_no_verify(app, options->verify_like).needs(like).group(shape);
  Option json = add_file(app, "--shape", options->shape_file,
                         "Shape in a file that 'tally plan --json' or 'tally info --json' printed");
  like.group(shape);
  json.group(shape);
  for (Option source : {positions, hashes, like, json}) {
    for (const char* name : {"--keys", "--false-positive-rate", "--memory"})
      source.excludes(app.get_option(name));
  }
  std::vector<Option> dleft = add_dleft_plan_options(app, options->dleft_plan);
  for (Option option : add_dleft_shape_options(app, options->dleft_shape)) dleft.push_back(option);
  std::vector<Option> own = add_count_min_options(app, options->count_min);
  own.insert(own.end(), dleft.begin(), dleft.end());
  add_scheme(app, options->scheme, SchemesOf::all_structures);
  add_hasher_options(app, options->hasher);
  for (Option source : {like, json}) {
    for (const char* name :
         {"--num-positions", "--num-hashes", "--counter-bits", "--threshold", "--update", "--scheme"}) {
      source.excludes(app.get_option(name));
    }
    for (Option option : own) source.excludes(option);
  }
  like.excludes(json).excludes(app.get_option("--kind")).excludes(app.get_option("--seed"));
  add_force(app, options->force);
  add_json(app, options->json);
  add_quiet(app, options->quiet);
  return [options] { return run_build(*options); };
}

}  // namespace tally::cli
