#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <fstream>
#include <memory>
#include <optional>
#include <system_error>

#include "commands.hpp"
#include "count_min_options.hpp"
#include "distinct_estimate.hpp"
#include "dleft_options.hpp"
#include "documents.hpp"
#include "filter_file.hpp"
#include "key_loop.hpp"
#include "options.hpp"
#include "shape_json.hpp"
#include "signals.hpp"
#include "tally/planner.hpp"

namespace tally::cli {

namespace {

constexpr double default_rate = 0.01;

struct BuildOptions {
  std::string output;
  InputOptions input;
  RecordOptions records;

  std::string kind;
  std::optional<std::uint64_t> num_keys;
  std::optional<double> false_positive_rate;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint64_t> threshold;
  std::string update;

  std::optional<std::uint64_t> num_positions;
  std::optional<std::uint32_t> num_hashes;
  std::optional<std::uint32_t> counter_bits;
  DLeftPlanOptions dleft_plan;
  DLeftShapeOptions dleft_shape;
  CountMinOptions count_min;
  std::string like;
  std::string shape_file;

  std::string scheme;
  HasherOptions hasher;
  bool force = false;
  bool json = false;
  bool quiet = false;

  bool is_planned() const { return num_keys || false_positive_rate || memory_bytes; }
  std::string dleft_flag(FilterKind of_kind) const {
    if (dleft_shape.num_subtables) return "--num-subtables";
    if (!dleft_shape.given().empty()) return dleft_shape.given();
    DLeftPlanOptions own = dleft_plan;
    if (of_kind == FilterKind::count_min) own.failure_probability.reset();  // it has that, too
    return own.given();
  }
  CounterUpdate counter_update() const {
    return update == "conservative" ? CounterUpdate::conservative : CounterUpdate::plain;
  }
};

/// What is built, and for how many keys (0: not planned for a number).
struct Planned {
  FilterShape shape;
  double num_keys = 0;
};

[[noreturn]] void refuse(const std::string& message) { throw std::invalid_argument(message); }

FilterKind kind_of(const BuildOptions& options) {
  if (!options.kind.empty()) return filter_kind(options.kind);
  return options.threshold.value_or(1) > 1 ? FilterKind::threshold : FilterKind::bloom;
}

std::uint16_t scheme_of(const BuildOptions& options, FilterKind kind) {
  if (kind == FilterKind::blocked_bloom) {
    if (!options.scheme.empty()) refuse("--scheme: a blocked-bloom filter has its own; leave it out");
    return BlockedScheme::file_id;
  }
  if (kind == FilterKind::dleft) {
    return options.scheme.empty() ? RotationBuckets::file_id : bucket_scheme_id(options.scheme);
  }
  if (kind == FilterKind::count_min) {
    return options.scheme.empty() ? DefaultRows::file_id : row_scheme_id(options.scheme);
  }
  return options.scheme.empty() ? DefaultScheme::file_id : scheme_id(options.scheme);
}

void refuse_flags_of_other_kinds(const BuildOptions& options, FilterKind kind) {
  const bool counts = kind == FilterKind::counting_bloom || kind == FilterKind::threshold;
  const auto check = [&](bool given, const char* flag, bool has, const char* fix) {
    if (given && !has) refuse(fmt::format("{}: a {} filter has none; {}", flag, name_of(kind), fix));
  };
  check(options.threshold.has_value(), "--threshold", counts, "give --kind threshold or counting-bloom");
  const bool is_dleft = kind == FilterKind::dleft;
  const bool is_sketch = kind == FilterKind::count_min;
  if (!is_dleft && options.counter_bits == 0u) refuse("--counter-bits: '0' is too small; must be at least 1");
  check(
      options.counter_bits.has_value(), "--counter-bits",
      is_dleft || is_sketch || kind == FilterKind::counting_bloom,
      "give --kind counting-bloom, dleft or count-min (a threshold filter's width follows from --threshold)");
  check(!options.update.empty(), "--update", is_sketch || kind == FilterKind::threshold,
        "give --kind threshold or count-min");
  const std::string dleft_flag = options.dleft_flag(kind);
  check(!dleft_flag.empty(), dleft_flag.c_str(), is_dleft,
        dleft_flag == "--failure-probability" ? "give --kind dleft or count-min" : "give --kind dleft");
  check(!options.records.sum_fields.empty(), "--sum", is_sketch, "give --kind count-min");
  const std::string sketch_flag = options.count_min.given();
  check(!sketch_flag.empty(), sketch_flag.c_str(), is_sketch, "give --kind count-min");
  if (is_sketch &&
      (options.num_keys || options.false_positive_rate || options.num_positions || options.num_hashes)) {
    refuse(
        "--keys, --false-positive-rate, --num-positions, --num-hashes: the size of a count-min sketch "
        "follows "
        "from --epsilon and --failure-probability, or --memory, or --width and --depth");
  }
  if (!is_dleft) return;
  if (options.num_positions || options.num_hashes) {
    refuse(
        "--num-positions, --num-hashes: a dleft filter has cells in subtables; give --buckets-per-subtable "
        "and "
        "so on, or --keys, or --shape");
  }
  if (options.counter_bits && options.dleft_shape.given().empty()) {
    refuse(
        "--counter-bits: the planner chooses those of a dleft filter; give --remainder-bits and so on, too");
  }
}

FilterShape explicit_dleft_shape(const BuildOptions& options) {
  const std::string shape_flag = options.dleft_shape.given();
  if (options.is_planned()) {
    refuse(fmt::format("{}: --keys, --false-positive-rate and --memory plan a shape; leave either out",
                       shape_flag));
  }
  DLeftPlanOptions plan_only = options.dleft_plan;
  plan_only.max_doublings.reset();
  if (!plan_only.given().empty()) {
    refuse(fmt::format("{}: it is for the planner, and {} spells the shape out; leave either out",
                       plan_only.given(), shape_flag));
  }
  FilterShape shape;
  shape.scheme_id = scheme_of(options, FilterKind::dleft);
  shape.shape = options.dleft_shape.shape(options.counter_bits, options.dleft_plan.max_doublings.value_or(0));
  check_shape(shape);
  return shape;
}

template <class Request>
Request request_of(const BuildOptions& options, std::uint64_t num_keys) {
  Request request;
  request.num_keys = num_keys;
  request.false_positive_rate = options.false_positive_rate.value_or(0);
  request.memory_bytes = options.memory_bytes.value_or(0);
  // One of keys and memory alone: the rate is the other thing known.
  if (!options.false_positive_rate && (num_keys == 0 || !options.memory_bytes))
    request.false_positive_rate = default_rate;
  return request;
}

DLeftRequest dleft_request(const BuildOptions& options, std::uint64_t num_keys) {
  auto request = request_of<DLeftRequest>(options, num_keys);
  options.dleft_plan.apply_to(request);
  request.num_subtables = options.dleft_shape.num_subtables.value_or(0);
  if (options.memory_bytes && options.scheme == MultiplierBuckets::name) {
    refuse(
        "--memory: the scheme 'multiplier' has powers of two of buckets; give --keys and a rate, or a shape");
  }
  return request;
}

FilterShape sketch_shape(const BuildOptions& options) {
  return options.count_min.shape(scheme_of(options, FilterKind::count_min),
                                 {.memory_bytes = options.memory_bytes,
                                  .failure_probability = options.dleft_plan.failure_probability,
                                  .counter_bits = options.counter_bits,
                                  .update = options.counter_update()});
}

FilterShape explicit_shape(const BuildOptions& options, FilterKind kind) {
  if (!options.num_positions || !options.num_hashes) {
    refuse("--num-positions and --num-hashes make a shape together; give both, or --keys, or --memory");
  }
  FilterShape shape;
  shape.scheme_id = scheme_of(options, kind);
  if (kind == FilterKind::counting_bloom) {
    shape.shape = CountingBloomShape{.num_counters = *options.num_positions,
                                     .num_hashes = *options.num_hashes,
                                     .counter_bits = options.counter_bits.value_or(4),
                                     .max_threshold = options.threshold.value_or(1)};
  } else if (kind == FilterKind::threshold) {
    shape.shape = ThresholdShape{.num_counters = *options.num_positions,
                                 .num_hashes = *options.num_hashes,
                                 .threshold = options.threshold.value_or(1),
                                 .update = options.counter_update()};
  } else {
    shape.shape = BloomShape{.num_bits = *options.num_positions, .num_hashes = *options.num_hashes};
  }
  check_shape(shape);
  return shape;
}

// Reads the keys once to tell how many are distinct; the build then reads them again.
double count_distinct(const BuildOptions& options) {
  const std::vector<std::string> files =
      options.input.files.empty() ? std::vector<std::string>{"-"} : options.input.files;
  off_t standard_input_start = 0;
  for (const std::string& file : files) {
    struct stat status {};
    const int failed = file == "-" ? fstat(STDIN_FILENO, &status) : stat(file.c_str(), &status);
    if (failed != 0) throw std::system_error(errno, std::generic_category(), file);
    if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
      refuse(fmt::format(
          "--keys: '{}' cannot be read twice to count its keys; say how many distinct keys to plan for "
          "with --keys, or how much memory to use with --memory",
          file == "-" ? "standard input" : file));
    }
    if (file == "-") standard_input_start = lseek(STDIN_FILENO, 0, SEEK_CUR);
  }
  DistinctEstimate estimate;
  const auto insert = [&](std::span<const std::string_view>, std::span<const Hash128> digests) {
    for (const Hash128 digest : digests) estimate.insert(digest);
  };
  const std::uint64_t num_lines =
      for_each_batch(options.input, KeyHasher(default_seed), options.quiet, insert);
  refuse_if_stopped(options.output);
  if (lseek(STDIN_FILENO, standard_input_start, SEEK_SET) < 0) {
  }  // not used, or no file
  remark(options.quiet,
         fmt::format("counted {} keys, about {:.0f} of them distinct", num_lines, estimate.estimate()));
  return std::max(1.0, std::min(estimate.upper_limit(), static_cast<double>(num_lines)));
}

Planned planned_shape(const BuildOptions& options, FilterKind kind) {
  if (options.num_keys && options.memory_bytes && options.false_positive_rate) {
    refuse(
        "--false-positive-rate: keys and memory are given, so the rate follows; leave one of the three out");
  }
  std::uint64_t num_keys = options.num_keys.value_or(0);
  if (!options.num_keys && !options.memory_bytes)
    num_keys = static_cast<std::uint64_t>(std::ceil(count_distinct(options)));
  const double rate = request_of<BloomRequest>(options, num_keys).false_positive_rate;
  Planned planned;
  planned.shape.scheme_id = scheme_of(options, kind);
  const auto keys_of = [&](const auto& shape) {
    return rate > 0 && num_keys == 0 ? planned_num_keys(shape, rate) : num_keys;
  };
  const auto take = [&](const auto& shape) {
    planned.shape.shape = shape;
    planned.num_keys = static_cast<double>(keys_of(shape));
  };
  if (kind == FilterKind::bloom) {
    take(plan_bloom(request_of<BloomRequest>(options, num_keys)));
  } else if (kind == FilterKind::blocked_bloom) {
    const BloomShape shape = plan_blocked_bloom(request_of<BloomRequest>(options, num_keys));
    planned.shape.shape = shape;
    planned.num_keys = static_cast<double>(num_keys != 0 ? num_keys : planned_num_keys_blocked(shape, rate));
  } else if (kind == FilterKind::counting_bloom) {
    auto request = request_of<CountingBloomRequest>(options, num_keys);
    request.max_threshold = options.threshold.value_or(1);
    request.counter_bits = options.counter_bits.value_or(0);
    take(plan_counting_bloom(request));
  } else if (kind == FilterKind::dleft) {
    const DLeftRequest request = dleft_request(options, num_keys);
    take(plan_dleft(request));
    planned.num_keys = std::ldexp(planned.num_keys, static_cast<int>(request.max_doublings));
  } else {
    auto request = request_of<ThresholdRequest>(options, num_keys);
    request.threshold = options.threshold.value_or(1);
    request.update = options.counter_update();
    take(plan_threshold(request));
  }
  planned.shape = round_to_scheme(planned.shape, options.memory_bytes ? Rounding::down : Rounding::up);
  return planned;
}

Json read_json(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::system_error(errno, std::generic_category(), path);
  try {
    return Json::parse(file);
  } catch (const nlohmann::json::exception& error) {
    refuse(fmt::format("--shape: '{}' is no JSON: {}", path, error.what()));
  }
}

Planned shape_of(const BuildOptions& options) {
  if (!options.shape_file.empty()) return {shape_from_json(read_json(options.shape_file), options.kind)};
  const FilterKind kind = kind_of(options);
  refuse_flags_of_other_kinds(options, kind);
  if (kind == FilterKind::count_min) return {sketch_shape(options)};
  if (!options.dleft_shape.given().empty()) return {explicit_dleft_shape(options)};
  if (options.num_positions || options.num_hashes) return {explicit_shape(options, kind)};
  return planned_shape(options, kind);
}

AnyFilter empty_filter(const BuildOptions& options, double& planned_keys) {
  if (!options.like.empty()) {
    const OpenFilter model(FilterFileOptions{options.like, options.hasher.key_file});
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

ExitCode run_build(const BuildOptions& options) {
  check_overwrite(options.output, options.force);
  double planned_keys = 0;
  AnyFilter filter = empty_filter(options, planned_keys);
  const std::uint64_t num_keys =
      insert_input(filter, options.input, options.records, options.quiet, options.output);
  refuse_if_stopped(options.output);
  save_filter(filter, options.output, options.force ? Overwrite::replace : Overwrite::refuse);

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

Run declare_build(CLI::App& app) {
  const auto options = std::make_shared<BuildOptions>();
  add_details(
      app,
      "Say how large by any two of --keys, --false-positive-rate and --memory; with one of them, or with "
      "none, "
      "the rate is 1%, and the keys are counted first if they are in files. Or give the shape itself. "
      "Exit status: 0, 1 if the input held no keys (an empty filter is written), 2 after an error.");
  add_file(app, "-o,--output", options->output, "Write the filter here ('-': standard output)")->required();
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
  add_count(app, "-n,--keys", options->num_keys, "Distinct keys to plan for")->group(planned);
  add_rate(app, "-p,--false-positive-rate", options->false_positive_rate, "How often an absent key may pass")
      ->group(planned);
  add_size(app, "-m,--memory", options->memory_bytes, "Memory of the filter, never exceeded")->group(planned);
  CLI::Option* positions =
      add_count(app, "--num-positions", options->num_positions, "Bits, or counters")->group(shape);
  CLI::Option* hashes =
      add_count(app, "-k,--num-hashes", options->num_hashes, "Positions a key has")->group(shape);
  add_count(app, "--counter-bits", options->counter_bits,
            "Width of a counter: 1 to 8, 16, 32 or 64 (counting-bloom), 0 to 4 (dleft), 8, 16, 32 or 64 "
            "(count-min)",
            {0})
      ->group(shape);
  CLI::Option* like =
      add_file(app, "--like", options->like, "Shape and seed of this filter file: the two will merge");
  CLI::Option* json = add_file(app, "--shape", options->shape_file,
                               "Shape in a file that 'tally plan --json' or 'tally info --json' printed");
  like->group(shape);
  json->group(shape);
  for (CLI::Option* source : {positions, hashes, like, json}) {
    for (const char* name : {"--keys", "--false-positive-rate", "--memory"})
      source->excludes(app.get_option(name));
  }
  std::vector<CLI::Option*> dleft = add_dleft_plan_options(app, options->dleft_plan);
  for (CLI::Option* option : add_dleft_shape_options(app, options->dleft_shape)) dleft.push_back(option);
  std::vector<CLI::Option*> own = add_count_min_options(app, options->count_min);
  own.insert(own.end(), dleft.begin(), dleft.end());
  add_scheme(app, options->scheme, SchemesOf::all_structures);
  add_hasher_options(app, options->hasher);
  for (CLI::Option* source : {like, json}) {
    for (const char* name :
         {"--num-positions", "--num-hashes", "--counter-bits", "--threshold", "--update", "--scheme"}) {
      source->excludes(app.get_option(name));
    }
    for (CLI::Option* option : own) source->excludes(option);
  }
  like->excludes(json)->excludes(app.get_option("--kind"))->excludes(app.get_option("--seed"));
  add_force(app, options->force);
  add_json(app, options->json);
  add_quiet(app, options->quiet);
  return [options] { return run_build(*options); };
}

}  // namespace tally::cli
