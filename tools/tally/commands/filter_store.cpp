#include "commands/filter_store.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <functional>
#include <stdexcept>

#include "cli/signals.hpp"
#include "files/filter_file.hpp"
#include "input/key_loop.hpp"
#include "input/printed_key.hpp"
#include "store/reply_lists.hpp"
#include "store/report.hpp"
#include "store/session.hpp"
#include "store/unit_writer.hpp"
#include "tally/hashing/random_seed.hpp"
#include "tally/hashing/shard.hpp"
#include "text/key_json.hpp"

namespace tally::cli {
namespace {

constexpr std::size_t keys_per_question = 16384;

/// What TALLY.CREATE gets for a shard with this many keys and bytes.
std::vector<std::string> create_words(const StoreFilterSize& size, std::optional<std::uint64_t> num_keys,
                                      std::optional<std::uint64_t> memory_bytes) {
  std::vector<std::string> words{"--kind", size.kind};
  words.insert(words.end(), size.words.begin(), size.words.end());
  if (num_keys) words.insert(words.end(), {"--keys", std::to_string(*num_keys)});
  if (memory_bytes) words.insert(words.end(), {"--memory", std::to_string(*memory_bytes)});
  return words;
}

/// How many shards, each for how many keys.
SharePlan shares_of_filter(const FilterStoreOptions& options, const StoreFilterSize& size,
                           StoreSession& session) {
  if (!size.num_keys) {
    std::uint64_t least = 1;
    if (size.memory_bytes) least = (*size.memory_bytes - 1) / most_bytes_of_shard + 1;
    if (least > max_num_shards) {
      throw std::invalid_argument(fmt::format("--memory: {} is too large for a store; must be at most {}",
                                              *size.memory_bytes, max_num_shards * most_bytes_of_shard));
    }
    return {.num_shares = session.balanced(static_cast<std::uint32_t>(least), options.store)};
  }
  const auto bytes_of = [&](std::uint64_t num_keys) -> std::uint64_t {
    if (size.memory_bytes) return *size.memory_bytes / *size.num_keys * num_keys;
    return plan_on_server(session.cluster(), session.name(), create_words(size, num_keys, {})).num_bytes;
  };
  return session.plan(*size.num_keys, options.store, bytes_of);
}

redis_client::StoreDescription describe_filter(const FilterStoreOptions& options, const StoreFilterSize& size,
                                               StoreSession& session) {
  SharePlan plan = shares_of_filter(options, size, session);
  std::optional<std::uint64_t> num_keys;
  std::optional<std::uint64_t> memory_bytes;
  if (size.num_keys) num_keys = plan.keys_per_share;
  if (size.memory_bytes) memory_bytes = *size.memory_bytes / plan.num_shares;
  const ServerPlan shape =
      plan_on_server(session.cluster(), session.name(), create_words(size, num_keys, memory_bytes));
  plan.bytes_per_share = shape.num_bytes;
  redis_client::StoreDescription description{.kind = "filter",
                                             .num_shards = plan.num_shares,
                                             .seed = size.seed.value_or(random_seed()),
                                             .create = {"TALLY.CREATE"},
                                             .options = {}};
  std::string_view left = shape.options;
  while (!left.empty()) {
    const std::size_t length = std::min(left.find(' '), left.size());
    description.create.emplace_back(left.substr(0, length));
    left.remove_prefix(std::min(length + 1, left.size()));
  }
  description.create.insert(description.create.end(), {"--seed", std::to_string(description.seed)});
  description.options["--kind"] = shape.kind;
  if (size.num_keys) description.options["--keys"] = std::to_string(*size.num_keys);
  description.options["--shards"] = std::to_string(plan.num_shares);
  description.options["--seed"] = std::to_string(description.seed);
  remark(options.quiet, plan_text(session.name(), plan));
  remark(options.quiet, fmt::format("each shard is a {} filter of {}{}", shape.kind,
                                    human_bytes(static_cast<double>(shape.num_bytes)),
                                    shape.false_positive_rate.empty()
                                        ? ""
                                        : fmt::format(", false positive rate {}",
                                                      human_rate(std::stod(shape.false_positive_rate)))));
  return description;
}

/// What the replies of TALLY.BATCH to ADD and REMOVE say together.
struct Changes {
  std::uint64_t num_new_or_removed = 0;
  std::uint64_t num_saturated = 0;
  std::uint64_t num_refused = 0;

  void take(const InputUnit::Numbers& reply) {
    if (reply.size() < 2) throw redis_client::StoreError("the reply of TALLY.BATCH has an unknown form");
    num_new_or_removed += reply[0];
    num_saturated += reply[1];
    num_refused += reply.size() - 2;
  }
};

/// Sends the input, and counts what the replies say.
template <class Finish>
ExitCode change_store(const FilterStoreOptions& options, StoreSession& session,
                      const redis_client::Store& store, const char* operation, bool may_count_twice,
                      Finish finish) {
  Output output;
  Changes changes;
  UnitWriter writer(session.cluster(), store, options.store, options.input, options.quiet, output,
                    {.operation =
                         [operation](const InputUnit& unit, std::uint32_t shard) {
                           return redis_client::Cluster::Arguments{operation, unit.packed(shard)};
                         },
                     .text =
                         [&](const InputUnit& unit) {
                           for (std::uint32_t shard = 0; shard < unit.num_shards(); ++shard) {
                             if (!unit.of_shard(shard).empty()) changes.take(unit.reply(shard));
                           }
                           return std::string();
                         },
                     .may_count_twice = may_count_twice});
  run_units(options.input, options.store, options.quiet, store, writer);
  Json json = totals_json(writer, session);
  json["interrupted"] = stop_requested();
  const ExitCode code = finish(changes, writer, json);
  if (options.json) print_json(json);
  output.finish();
  return code;
}

std::uint64_t lines_of(const UnitWriter& writer) {
  const UnitWriter::Totals& totals = writer.totals();
  return totals.num_lines - totals.num_skipped + totals.num_resumed_lines;
}

ExitCode add_to(const FilterStoreOptions& options, StoreSession& session, const redis_client::Store& store) {
  return change_store(
      options, session, store, "ADD", true,
      [&](const Changes& changes, const UnitWriter& writer, Json& json) {
        json.update(Json{{"num_new", changes.num_new_or_removed},
                         {"num_saturated", changes.num_saturated},
                         {"num_full", changes.num_refused}});
        remark(options.quiet,
               fmt::format("{}; {} keys were new", totals_text(writer, session), changes.num_new_or_removed));
        if (changes.num_refused > 0) {
          remark(false,
                 fmt::format(
                     "{} keys were refused and are not in the store: it is full; make one with more --keys, "
                     "and add everything to that",
                     changes.num_refused));
          return ExitCode::error;
        }
        return lines_of(writer) > 0 ? ExitCode::success : ExitCode::none;
      });
}

/// Reads the input in parts, and calls use(unit) for each.
template <class Use>
void for_each_unit(const FilterStoreOptions& options, const InputOptions& input,
                   const redis_client::Store& store, Use use) {
  InputUnit unit(store.num_shards());
  const auto ask = [&] {
    if (unit.size() > 0) use(unit);
    unit = InputUnit(store.num_shards());
  };
  const bool is_stream = identity_of(input.files).empty();
  for_each_batch(input, store.hasher(), options.quiet,
                 [&](Texts, Texts texts, std::span<const Hash128> digests) {
                   for (std::size_t i = 0; i < texts.size(); ++i) {
                     unit.add(texts[i], digests[i], store.shard_of(digests[i]));
                   }
                   const bool may_pause = is_stream && texts.size() < KeyReader::max_keys_a_call;
                   if (may_pause || unit.size() >= keys_per_question) ask();
                 });
  ask();
}

}  // namespace

std::vector<std::string> words_for_server(CommandLine app) {
  constexpr std::array with_value{"--threshold",
                                  "--update",
                                  "--false-positive-rate",
                                  "--num-positions",
                                  "--num-hashes",
                                  "--counter-bits",
                                  "--scheme",
                                  "--frequent-keys",
                                  "--lifetime-operations",
                                  "--failure-probability",
                                  "--max-doublings",
                                  "--num-subtables",
                                  "--buckets-per-subtable",
                                  "--cells-per-bucket",
                                  "--lines-per-subtable",
                                  "--remainder-bits",
                                  "--spill-capacity",
                                  "--moves",
                                  "--epsilon",
                                  "--total-count",
                                  "--width",
                                  "--depth",
                                  "--copies"};
  constexpr std::array flags{"--unique-keys", "--slow-cells"};
  std::vector<std::string> words;
  for (const char* const name : with_value) {
    if (!app.has_option(name) || !app.get_option(name).is_given()) continue;
    words.insert(words.end(), {name, app.values_of(name).back()});
  }
  for (const char* const name : flags) {
    if (app.has_option(name) && app.get_option(name).is_given()) words.emplace_back(name);
  }
  return words;
}

void take_filter_argument(const StoreOptions& store, std::string& filter, InputOptions& input) {
  if (!store.is_given()) {
    if (filter.empty()) throw std::invalid_argument("filter is required; give a filter file, or --store");
    return;
  }
  if (!filter.empty()) input.files.insert(input.files.begin(), std::exchange(filter, ""));
}

ExitCode run_build_store(const FilterStoreOptions& options, const StoreFilterSize& size) {
  if (!size.num_keys && !size.memory_bytes && !size.has_exact_shape) {
    throw std::invalid_argument(
        "--store: the size is missing, because other runs will add keys too; give --keys for all of them, or "
        "--memory");
  }
  StoreSession session(options.store, options.quiet);
  // A run that was killed has made the store.
  const bool may_exist = !options.store.state_path.empty();
  const redis_client::Store& store = session.open_or_make(
      "filter", {}, [&] { return describe_filter(options, size, session); }, !may_exist);
  return add_to(options, session, store);
}

ExitCode run_add_store(const FilterStoreOptions& options) {
  StoreSession session(options.store, options.quiet);
  return add_to(options, session, session.open("filter"));
}

ExitCode run_remove_store(const FilterStoreOptions& options) {
  StoreSession session(options.store, options.quiet);
  const redis_client::Store& store = session.open("filter");
  return change_store(
      options, session, store, "REMOVE", false,
      [&](const Changes& changes, const UnitWriter& writer, Json& json) {
        const std::uint64_t num_removed = changes.num_new_or_removed + changes.num_saturated;
        json.update(Json{{"num_removed", num_removed}, {"num_refused", changes.num_refused}});
        std::string text = fmt::format("{}; removed {} keys", totals_text(writer, session), num_removed);
        if (changes.num_refused > 0)
          text += fmt::format(", refused {} that are certainly not in the store", changes.num_refused);
        remark(options.quiet, text);
        return changes.num_refused == 0 && lines_of(writer) > 0 ? ExitCode::success : ExitCode::none;
      });
}

ExitCode run_query_store(const FilterStoreOptions& options, const SelectionOptions& selection,
                         std::optional<std::uint64_t> at_least) {
  StoreSession session(options.store, options.quiet);
  const redis_client::Store& store = session.open("filter");
  SelectedKeys selected(selection, options.input);
  for_each_unit(options, selected.input(), store, [&](const InputUnit& unit) {
    if (at_least) {
      const std::vector<ShardCount> counts = count_unit(session.cluster(), store, unit);
      for (std::size_t i = 0; i < unit.size(); ++i) {
        selected.take(unit.text(i), counts[i].is_saturated || counts[i].value >= *at_least);
      }
    } else {
      const std::vector<bool> answers = query_unit(session.cluster(), store, unit);
      for (std::size_t i = 0; i < unit.size(); ++i) selected.take(unit.text(i), answers[i]);
    }
  });
  return selected.finish("num_keys");
}

ExitCode run_count_store(const FilterStoreOptions& options, bool line_buffered) {
  StoreSession session(options.store, options.quiet);
  const redis_client::Store& store = session.open("filter");
  Output output({options.input.nul_separated && !options.json, line_buffered});
  PrintedKey printed(options.input, options.json);
  bool any = false;
  const InputOptions input = printed.follow(options.input, output);
  for_each_unit(options, input, store, [&](const InputUnit& unit) {
    const std::vector<ShardCount> counts = count_unit(session.cluster(), store, unit);
    for (std::size_t i = 0; i < unit.size(); ++i) {
      any = any || counts[i].value > 0;
      if (options.json) {
        Json line = printed.json(unit.text(i));
        line.update(Json{{"count", counts[i].value}, {"is_saturated", counts[i].is_saturated}});
        output.write_record(json_line(line));
      } else {
        output.write_key((counts[i].is_saturated ? ">=" : "") + std::to_string(counts[i].value),
                         unit.text(i));
      }
    }
  });
  output.finish();
  return any ? ExitCode::success : ExitCode::none;
}

}  // namespace tally::cli
