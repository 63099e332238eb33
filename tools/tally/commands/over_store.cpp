#include "commands/over_store.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <vector>

#include "cli/signals.hpp"
#include "input/key_loop.hpp"
#include "input/printed_key.hpp"
#include "store/report.hpp"
#include "store/session.hpp"
#include "store/unit_writer.hpp"
#include "tally/hashing/random_seed.hpp"
#include "tally/planner.hpp"
#include "tally/planner/plan_shares.hpp"
#include "text/key_json.hpp"

namespace tally::cli {
namespace {

StoreWords words_of(const OverStoreOptions& options) {
  StoreWords words{{"N", std::to_string(options.threshold)}};
  if (options.window) words["--window"] = duration_text(*options.window);
  if (options.num_slots) words["--slots"] = std::to_string(*options.num_slots);
  if (options.num_keys) words["--keys"] = std::to_string(*options.num_keys);
  if (options.memory_bytes) words["--memory"] = std::to_string(*options.memory_bytes);
  if (options.false_positive_rate)
    words["--false-positive-rate"] = fmt::format("{}", *options.false_positive_rate);
  if (options.update) words["--update"] = name_of(*options.update);
  if (options.hasher.seed_given()) words["--seed"] = std::to_string(options.hasher.seed);
  if (options.store.num_shards) words["--shards"] = std::to_string(*options.store.num_shards);
  return words;
}

/// How many shards, and for how many keys each is planned.
SharePlan shards_of(const OverStoreOptions& options, const StoreSession& session) {
  if (!options.num_keys) return {.num_shares = session.balanced(1, options.store)};
  const auto bytes_of = [&](std::uint64_t num_keys) {
    return num_bytes(plan_threshold({.num_keys = num_keys,
                                     .false_positive_rate = options.false_positive_rate.value_or(0.01),
                                     .threshold = options.threshold}));
  };
  return session.plan(*options.num_keys, options.store, bytes_of);
}

redis_client::StoreDescription describe(const OverStoreOptions& options, const StoreSession& session) {
  const SharePlan plan = shards_of(options, session);
  redis_client::StoreDescription description{
      .kind = "over",
      .num_shards = plan.num_shares,
      .seed = options.hasher.seed_given() ? options.hasher.seed : random_seed(),
      .create = {"TALLY.OVERCREATE", std::to_string(options.threshold)},
      .options = words_of(options)};
  const auto add = [&](const char* name, const std::string& value) {
    description.create.insert(description.create.end(), {name, value});
  };
  add("SEED", std::to_string(description.seed));
  if (options.window) add("WINDOW", fmt::format("{}us", *options.window / 1000));
  if (options.num_slots) add("SLOTS", std::to_string(*options.num_slots));
  if (options.num_keys) add("KEYS", std::to_string(plan.keys_per_share));
  if (options.memory_bytes) add("MEMORY", std::to_string(*options.memory_bytes / plan.num_shares));
  if (options.false_positive_rate)
    add("FALSE-POSITIVE-RATE", fmt::format("{}", *options.false_positive_rate));
  if (options.update) add("UPDATE", std::string(name_of(*options.update)));
  description.options["--shards"] = std::to_string(plan.num_shares);
  description.options["--seed"] = std::to_string(description.seed);
  remark(options.quiet, plan_text(session.name(), plan));
  return description;
}

/// The keys of these numbers, as they are printed.
std::string text_of_keys(const OverStoreOptions& options, PrintedKey& printed, const InputUnit& unit,
                         const std::vector<std::uint32_t>& numbers) {
  std::string text;
  for (const std::uint32_t number : numbers) {
    if (options.json) text += json_line(printed.json(unit.text(number)));
    else text.append(unit.text(number)) += separator_of(options.input);
  }
  return text;
}

/// Of the unit, by their numbers in it, in order. Throws StoreError for a reply that names a key which is not there.
std::vector<std::uint32_t> reached(const InputUnit& unit, std::uint32_t shard,
                                   const InputUnit::Numbers& reply) {
  std::vector<std::uint32_t> numbers;
  for (const std::uint64_t index : reply) {
    if (index >= unit.of_shard(shard).size()) {
      throw redis_client::StoreError("the reply of TALLY.BATCH names a key that was not sent");
    }
    numbers.push_back(unit.of_shard(shard)[index]);
  }
  return numbers;
}

}  // namespace

ExitCode run_over_store(const OverStoreOptions& options) {
  // Lines of files that are on their way together have different headers.
  if (options.json && options.input.prints_lines && FieldSelector(options.input.fields).needs_header()) {
    throw std::invalid_argument(
        "--line, --json and names of fields are all given with --store; give numbers of fields, or leave "
        "--json out");
  }
  StoreSession session(options.store, options.quiet);
  const redis_client::Store& store =
      session.open_or_make("over", words_of(options), [&] { return describe(options, session); });
  const bool is_json = options.json;
  Output output(
      {.nul_separated = options.input.nul_separated && !is_json, .line_buffered = options.line_buffered});
  PrintedKey printed(options.input, is_json);
  std::uint64_t num_printed = 0;
  UnitWriter::Actions actions;
  const std::string threshold = std::to_string(options.threshold);
  actions.operation = [&](const InputUnit& unit, std::uint32_t shard) {
    return redis_client::Cluster::Arguments{"OVER", threshold, unit.packed(shard)};
  };
  actions.text = [&](const InputUnit& unit) {
    std::vector<std::uint32_t> numbers;
    for (std::uint32_t shard = 0; shard < unit.num_shards(); ++shard) {
      const std::vector<std::uint32_t> own = reached(unit, shard, unit.reply(shard));
      numbers.insert(numbers.end(), own.begin(), own.end());
    }
    std::ranges::sort(numbers);
    num_printed += numbers.size();
    return text_of_keys(options, printed, unit, numbers);
  };
  // What a lost batch had reported is reported, whatever it says now; what it reports besides is new.
  actions.repaired = [&](InputUnit& unit, std::uint32_t shard, const InputUnit::Numbers& again) {
    InputUnit::Numbers added;
    std::ranges::set_difference(again, unit.reply(shard), std::back_inserter(added));
    if (unit.is_printed) {
      num_printed += added.size();
      return text_of_keys(options, printed, unit, reached(unit, shard, added));
    }
    unit.reply(shard).insert(unit.reply(shard).end(), added.begin(), added.end());
    return std::string();
  };
  const auto start = std::chrono::steady_clock::now();
  UnitWriter writer(session.cluster(), store, options.store, options.input, options.quiet, output, actions);
  run_units(printed.follow(options.input, output), options.store, options.quiet, store, writer);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (options.json) {
    Json summary = totals_json(writer, session);
    summary.update(
        Json{{"num_printed", num_printed}, {"seconds", seconds}, {"interrupted", stop_requested()}});
    output.write_record(json_line(Json{{"summary", summary}}));
  }
  output.finish();
  remark(options.quiet,
         fmt::format("{}, {} printed at {} {}; {:.2f} s", totals_text(writer, session), num_printed,
                     options.threshold, options.threshold == 1 ? "time" : "times", seconds));
  return num_printed > 0 ? ExitCode::success : ExitCode::none;
}

}  // namespace tally::cli
