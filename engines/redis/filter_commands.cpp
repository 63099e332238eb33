#include <array>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "command.hpp"
#include "filter_items.hpp"
#include "filter_value.hpp"
#include "item_list.hpp"
#include "open_key.hpp"
#include "replicated_command.hpp"
#include "shape_words.hpp"
#include "step_costs.hpp"
#include "tally/hashing/random_seed.hpp"
#include "tally/sketches/count_min_bound.hpp"

// TALLY.*: filters and sketches of every kind, planned as by `tally plan`.

namespace tally::redis {
namespace {

constexpr const char* merge_elsewhere =
    "merge exports with `tally merge`, or start the server with a larger one";

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    text.append(i == 0 ? "" : " ").append(i % 2 == 0 ? "--" : "").append(words[i]);
  }
  return text;
}

void create(Call& call) {
  const ChosenShape chosen = choose_shape(call, 2);
  OpenKey key(call, KeyAccess::write);
  if (!key.is_empty()) throw Refusal("ERR the key exists; delete it first, or give another name");
  const std::uint64_t bytes = chosen.shape.num_bytes();
  if (bytes > call.max_key_bytes())
    throw Refusal("ERR the structure is too large: " + too_large(bytes, call));
  call.require_memory_for(bytes);
  const std::uint64_t seed = chosen.seed.value_or(random_seed());
  ReplicatedCommand command(call);
  for (const std::string& word : words_of(chosen.shape)) command.add(word);
  command.add("seed");
  command.add(std::to_string(seed));
  key.set(std::make_unique<FilterValue>(AnyFilter(chosen.shape, seed)));
  command.send("TALLY.CREATE");
  call.ok();
}

void optional_real(const Call& call, const std::optional<double>& value) {
  value ? call.real_reply(*value) : call.null();
}

void plan_structure(Call& call) {
  const ChosenShape chosen = choose_shape(call, 1);
  const std::uint64_t bytes = chosen.shape.num_bytes();
  const std::string options = joined(words_of(chosen.shape));
  std::optional<double> bits_per_key;
  if (chosen.num_keys) bits_per_key = 8 * static_cast<double>(bytes) / static_cast<double>(*chosen.num_keys);
  call.map(8);
  call.simple("kind");
  call.simple(name_of(chosen.shape.kind()).data());
  call.simple("options");
  call.bytes(options);
  call.entry("bytes", bytes);
  call.simple("keys");
  chosen.num_keys ? call.integer_reply(*chosen.num_keys) : call.null();
  call.simple("bits per key");
  optional_real(call, bits_per_key);
  call.simple("false positive rate");
  optional_real(call, chosen.false_positive_rate);
  call.simple("reason");
  call.bytes(chosen.reason);
  call.simple("warnings");
  call.array(chosen.warnings.size());
  for (const std::string& warning : chosen.warnings) call.bytes(warning);
}

void add(Call& call) {
  OpenKey key(call, KeyAccess::write);
  FilterValue& value = key.get<FilterValue>(missing_filter);
  const auto items = ItemList::of_texts(call, 2, value.filter().hasher());
  const AddedItems added(call, value, items);
  call.array(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) call.simple(added.word(i));
}

const char* word_of(RemoveResult result) {
  switch (result) {
    case RemoveResult::removed:
      return "removed";
    case RemoveResult::saturated:
      return "saturated";
    case RemoveResult::refused:
      break;
  }
  return "refused";
}

void remove(Call& call) {
  OpenKey key(call, KeyAccess::write);
  FilterValue& value = key.get<FilterValue>(missing_filter);
  require_removals(value.filter());
  const auto items = ItemList::of_texts(call, 2, value.filter().hasher());
  const std::vector<RemoveResult> results = remove_all(value, items);
  call.array(results.size());
  for (const RemoveResult result : results) call.simple(word_of(result));
}

void count(Call& call) {
  const OpenKey key(call, KeyAccess::read);
  const AnyFilter& filter = key.get<FilterValue>(missing_filter).filter();
  require_counts(filter);
  const std::vector<Count> counts = counts_of(filter, ItemList::of_texts(call, 2, filter.hasher()));
  call.array(counts.size());
  for (const Count& found : counts) {
    if (found.saturated) call.simple((">=" + std::to_string(found.value)).c_str());
    else call.integer_reply(found.value);
  }
}

void query(Call& call) {
  const OpenKey key(call, KeyAccess::read);
  const AnyFilter& filter = key.get<FilterValue>(missing_filter).filter();
  const Answers answers = answers_of(filter, ItemList::of_texts(call, 2, filter.hasher()));
  call.array(answers.size());
  for (const bool answer : answers.span()) call.boolean(answer);
}

void grow_once(Call& call) {
  OpenKey key(call, KeyAccess::write);
  FilterValue& value = key.get<FilterValue>(missing_filter);
  const AnyFilter& filter = value.filter();
  require_kind(filter.can_grow(), filter, "grow", &KindTraits::can_grow);
  const std::optional<std::uint64_t> bytes = filter.bytes_after_growth();
  if (!bytes) throw Refusal("ERR it has no doubling left; create the key with more --max-doublings");
  if (*bytes > call.max_key_bytes()) throw Refusal("ERR it would be too large: " + too_large(*bytes, call));
  call.require_step(growth_bytes(filter),
                    "make a key with the capacity that you expect, or start the server with a larger one");
  call.require_memory_for(*bytes);
  if (!value.filter_to_change().try_grow()) throw Refusal("ERR it cannot grow");
  call.replicate_as("TALLY.GROW");
  call.ok();
}

void merge(Call& call) {
  OpenKey key(call, KeyAccess::write);
  FilterValue* const destination = key.find<FilterValue>();
  if (destination != nullptr) destination->require_complete();
  std::vector<const AnyFilter*> sources;
  for (std::size_t i = 2; i < call.size(); ++i) {
    // The value stays where it is when the key is closed: no other command runs before the end of this one.
    sources.push_back(&OpenKey(call, KeyAccess::read, i)
                           .get<FilterValue>("ERR a source does not exist; name existing keys")
                           .filter());
  }
  // All sources or none.
  const AnyFilter& first = destination != nullptr ? destination->filter() : *sources.front();
  std::uint64_t num_bytes = first.shape().num_bytes();
  const std::uint64_t cost = first.can_fill_up() ? step_cost::cell_merge : 1;
  for (std::size_t i = destination != nullptr ? 0 : 1; i < sources.size(); ++i) {
    num_bytes += cost * sources[i]->shape().num_bytes();
  }
  call.require_step(num_bytes, merge_elsewhere);
  call.require_memory_for(first.shape().num_bytes());
  AnyFilter sum(first);
  try {
    for (std::size_t i = destination != nullptr ? 0 : 1; i < sources.size(); ++i) {
      if (sum.merge(*sources[i])) continue;
      throw Refusal("ERR the items of all keys together do not fit; merge into a larger structure");
    }
  } catch (const std::invalid_argument& error) {
    throw Refusal("ERR the keys differ: " + std::string(error.what()) +
                  "; create them with the same options and the same --seed");
  }
  if (destination != nullptr) destination->filter_to_change() = std::move(sum);
  else key.set(std::make_unique<FilterValue>(std::move(sum)));
  call.replicate_as("TALLY.MERGE");
  call.ok();
}

void info(Call& call) {
  const OpenKey key(call, KeyAccess::read);
  const FilterValue& value = key.get<FilterValue>(missing_filter);
  const AnyFilter& filter = value.filter();
  const FilterShape shape = filter.shape();
  const FilterTotals totals = filter.totals();
  const std::optional<std::uint64_t> grown = filter.bytes_after_growth();
  const auto* const cells = std::get_if<DLeftShape>(&shape.shape);
  const std::string options = joined(words_of(shape));
  const std::string seed = std::to_string(filter.hasher().seed_or_key_id());
  call.map(11);
  call.simple("kind");
  call.simple(name_of(shape.kind()).data());
  call.simple("options");
  call.bytes(options);
  call.simple("seed");
  call.bytes(seed);
  call.entry("bytes", shape.num_bytes());
  call.simple("bytes after growth");
  grown ? call.integer_reply(*grown) : call.null();
  call.entry("doublings", cells == nullptr ? 0 : cells->num_doublings);
  call.entry("insertions", totals.num_insertions);
  call.entry("removals", totals.num_removes);
  call.entry("refused removals", totals.num_refused_removes);
  call.entry("full insertions", totals.num_full);
  call.entry("memory", value.memory_bytes());
}

/// Names and numbers of a map.
class Fields {
 public:
  void add(const char* name, std::uint64_t value) { fields_.push_back({name, value, 0, false}); }
  void add_real(const char* name, double value) { fields_.push_back({name, 0, value, true}); }
  void reply(const Call& call) const {
    call.map(fields_.size());
    for (const Field& field : fields_) {
      call.simple(field.name);
      field.is_real ? call.real_reply(field.real) : call.integer_reply(field.whole);
    }
  }

 private:
  struct Field {
    const char* name;
    std::uint64_t whole;
    double real;
    bool is_real;
  };
  std::vector<Field> fields_;
};

void stats(Call& call) {
  const OpenKey key(call, KeyAccess::read);
  const AnyFilter& filter = key.get<FilterValue>(missing_filter).filter();
  const FilterShape shape = filter.shape();
  const bool has_counters = shape.counter_bits() > 1 && !filter.can_fill_up();
  call.require_step(
      (has_counters ? step_cost::statistics_of_counters : step_cost::statistics) * shape.num_bytes(),
      "see TALLY.INFO, read an export with `tally info`, or start the server with a larger one");
  const FilterStatistics statistics = filter.statistics();
  Fields fields;
  fields.add("positions", statistics.num_positions);
  fields.add("positions in use", statistics.num_nonzero);
  fields.add_real("load", statistics.fill_ratio());
  fields.add("saturated", statistics.num_saturated);
  fields.add("insertions", statistics.num_insertions);
  fields.add("removals", statistics.num_removes);
  fields.add("refused removals", statistics.num_refused_removes);
  fields.add("full insertions", filter.totals().num_full);
  if (const auto bound = filter.count_min_bound()) {
    const auto total = static_cast<double>(statistics.num_insertions);
    fields.add_real("largest error", bound->epsilon * total);
    fields.add_real("probability of a larger error", bound->failure_probability);
  } else {
    fields.add_real("estimated keys", statistics.estimated_num_keys);
    fields.add_real("standard error of the keys", statistics.estimated_num_keys_standard_error);
    fields.add_real("false positive rate", statistics.estimated_false_positive_rate);
  }
  const auto add_side_table = [&](std::uint64_t num_keys, std::uint64_t num_spilled, std::uint64_t capacity) {
    fields.add("items", num_keys);
    fields.add("side table entries", num_spilled);
    fields.add("side table capacity", capacity);
  };
  if (const auto own = filter.dleft_statistics())
    add_side_table(own->table.num_keys, own->table.num_spilled, own->table.spill_capacity);
  if (const auto own = filter.compact_statistics())
    add_side_table(own->num_keys, own->num_spilled, own->spill_capacity);
  fields.reply(call);
}

constexpr std::array commands{
    Command{"TALLY.CREATE", entry<create, 3, any_number>, "write deny-oom", KeyUse::insert, "key option ...",
            "Make a filter or a sketch: OK", time_of_structure},
    Command{"TALLY.PLAN", entry<plan_structure, 2, any_number>, "readonly", KeyUse::none, "option ...",
            "Show the structure that TALLY.CREATE would make with these options", constant_time},
    Command{"TALLY.ADD", entry<add, 3, any_number>, "write deny-oom", KeyUse::insert, "key item ...",
            "Add items: for every item new, seen, reached, saturated or full", time_per_item},
    Command{"TALLY.REMOVE", entry<remove, 3, any_number>, "write", KeyUse::remove, "key item ...",
            "Remove items: for every item removed, saturated or refused", time_per_item},
    Command{"TALLY.COUNT", entry<count, 3, any_number>, "readonly", KeyUse::read, "key item ...",
            "Show for every item its count, or >=N", time_per_item},
    Command{"TALLY.QUERY", entry<query, 3, any_number>, "readonly", KeyUse::read, "key item ...",
            "Ask for items: for every item 1 if it may be in the filter, 0 if it is not", time_per_item},
    Command{"TALLY.MERGE", entry<merge, 3, any_number>, "write deny-oom", KeyUse::merge,
            "destination source ...", "Add the items of all sources to the destination: OK",
            "O(N * S) where N is the number of sources and S the size of a structure"},
    Command{"TALLY.GROW", entry<grow_once, 2>, "write deny-oom", KeyUse::update, "key",
            "Make a d-left filter twice as large: OK", time_of_structure},
    Command{"TALLY.INFO", entry<info, 2>, "readonly fast", KeyUse::read, "key",
            "Show the exact options, the seed, the memory and the totals", constant_time},
    Command{"TALLY.STATS", entry<stats, 2>, "readonly", KeyUse::read, "key",
            "Show the load, and the error rates at this load", time_of_structure}};

}  // namespace

std::span<const Command> filter_commands() noexcept { return commands; }

}  // namespace tally::redis
