#include "commands/top_store.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cli/signals.hpp"
#include "store/reply_lists.hpp"
#include "store/report.hpp"
#include "store/session.hpp"
#include "store/unit_writer.hpp"
#include "tally/hashing/random_seed.hpp"
#include "text/key_json.hpp"

namespace tally::cli {
namespace {

constexpr double default_error = 1.0 / 16384;
constexpr std::uint64_t rows_of_sketch = 5;
constexpr std::uint64_t counters_per_key = 8;  // and row

StoreWords words_of(const TopOptions& options, const StoreOptions& store) {
  StoreWords words;
  if (options.error) words["--error"] = fmt::format("{}", *options.error);
  if (options.hasher.seed_given()) words["--seed"] = std::to_string(options.hasher.seed);
  if (store.num_shards) words["--shards"] = std::to_string(*store.num_shards);
  return words;
}

/// A count is too high by at most 1/k of what is counted in its shard (TOPK.RESERVE).
redis_client::StoreDescription describe(const TopOptions& options, const StoreOptions& store,
                                        const StoreSession& session) {
  const std::uint32_t num_shards = session.balanced(1, store);
  const double error = options.error.value_or(default_error);
  const auto keys_for_error = static_cast<std::uint64_t>(std::ceil(1 / (error * num_shards)));
  const std::uint64_t num_keys = std::max<std::uint64_t>({keys_for_error, options.num_keys, 100});
  redis_client::StoreDescription description{
      .kind = "top",
      .num_shards = num_shards,
      .seed = options.hasher.seed_given() ? options.hasher.seed : random_seed(),
      .create = {"TALLY.TOPK.RESERVE", std::to_string(num_keys), std::to_string(num_keys * counters_per_key),
                 std::to_string(rows_of_sketch), "1"},
      .options = words_of(options, store)};
  description.options["--shards"] = std::to_string(num_shards);
  description.options["--seed"] = std::to_string(description.seed);
  description.options["--error"] = fmt::format("{}", error);
  remark(options.quiet,
         fmt::format("made the store '{}': {} shards of {} keys each", session.name(), num_shards, num_keys));
  return description;
}

/// The keys of a shard and how often they are in the unit.
redis_client::Cluster::Arguments counts_of(const InputUnit& unit, std::uint32_t shard, KeyType type) {
  constexpr std::uint64_t most_increment = 100'000;
  std::unordered_map<std::string_view, std::uint64_t> counts;
  for (const std::uint32_t index : unit.of_shard(shard)) ++counts[unit.text(index)];
  redis_client::Cluster::Arguments words{"TOP"};
  for (const std::uint32_t index : unit.of_shard(shard)) {  // in the order of the input
    const auto found = counts.find(unit.text(index));
    for (; found->second > 0; found->second -= std::min(found->second, most_increment)) {
      words.push_back(stored_key(type, found->first));
      words.push_back(std::to_string(std::min(found->second, most_increment)));
    }
  }
  return words;
}

}  // namespace

ExitCode run_top_store(const TopOptions& options, const StoreOptions& store_options) {
  StoreSession session(store_options, options.quiet);
  const redis_client::Store& store = session.open_or_make(
      "top", words_of(options, store_options), [&] { return describe(options, store_options, session); });
  const std::vector<std::string>& create = store.description().create;
  const std::uint64_t keys_per_shard = create.size() > 1 ? std::strtoull(create[1].c_str(), nullptr, 10) : 0;
  if (options.num_keys > keys_per_shard) {
    throw std::invalid_argument(
        fmt::format("K: '{}' has the {} most frequent keys of each shard; give at most that many",
                    store.name(), keys_per_shard));
  }
  Output output({.nul_separated = options.input.nul_separated && !options.json, .line_buffered = false});
  const auto start = std::chrono::steady_clock::now();
  const KeyType type = options.input.key_type;
  UnitWriter writer(session.cluster(), store, store_options, options.input, options.quiet, output,
                    {.operation = [type](const InputUnit& unit, std::uint32_t shard) {
                      return counts_of(unit, shard, type);
                    }});
  run_units(options.input, store_options, options.quiet, store, writer);
  std::vector<CountedText> keys = read_top_lists(session.cluster(), store);
  const std::size_t num_printed = std::min<std::size_t>(keys.size(), options.num_keys);
  std::ranges::partial_sort(
      keys, keys.begin() + static_cast<std::ptrdiff_t>(num_printed),
      [](const auto& a, const auto& b) { return a.count != b.count ? a.count > b.count : a.key < b.key; });
  keys.resize(num_printed);
  for (CountedText& key : keys) key.key = shown_key(type, key.key);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (const CountedText& key : keys) {
    if (options.json) {
      Json line = key_json(key.key);
      line["count"] = key.count;
      output.write_record(json_line(line));
    } else {
      output.write_key(std::to_string(key.count), key.key);
    }
  }
  if (options.json) {
    Json summary = totals_json(writer, session);
    summary.update(Json{{"num_keys", keys.size()}, {"seconds", seconds}, {"interrupted", stop_requested()}});
    output.write_record(json_line(Json{{"summary", summary}}));
  }
  output.finish();
  remark(options.quiet, fmt::format("{}; {} keys of all runs; {:.2f} s", totals_text(writer, session),
                                    keys.size(), seconds));
  return keys.empty() ? ExitCode::none : ExitCode::success;
}

}  // namespace tally::cli
