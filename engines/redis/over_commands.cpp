#include <array>
#include <memory>
#include <string>
#include <utility>

#include "command.hpp"
#include "item_list.hpp"
#include "open_key.hpp"
#include "over_arguments.hpp"
#include "over_operation.hpp"
#include "over_value.hpp"
#include "replicated_command.hpp"

// TALLY.OVER*: the items that have reached a count just now, as `tally over` prints them.

namespace tally::redis {
namespace {

constexpr const char* missing = "ERR the key does not exist; create it with TALLY.OVER";

/// Adds the items and replies with those that have reached N. Replicas receive the time, and for a new key its options.
void insert(const Call& call, OpenKey& key, const OverArguments& arguments) {
  OverValue* value = key.find<OverValue>();
  std::unique_ptr<OverValue> made;
  if (value != nullptr) {
    value->require_complete();
    require_same(arguments, value->stream().options());
  } else {
    made = make_over_value(call, arguments);
    value = made.get();
  }
  const OverOptions& own = value->stream().options();
  const OverOperation operation(call, *value, call.size() - arguments.first_item, arguments.milliseconds);
  const auto items = ItemList::of_texts(call, arguments.first_item, value->stream().hasher());
  ReplicatedCommand command(call);
  command.add(std::to_string(own.threshold));
  if (made != nullptr) add_options(command, own);
  if (operation.replicated_milliseconds()) {
    command.add("time");
    command.add(std::to_string(*operation.replicated_milliseconds()));
  }
  command.add("ITEMS");
  command.add_arguments(arguments.first_item);
  const std::span<const ReachedKey> reached = operation.run(*value, items.digests());
  if (made != nullptr) key.set(std::move(made));
  command.send("TALLY.OVERINSERT");
  call.array(reached.size());
  for (const ReachedKey& item : reached) call.bytes(call.text(arguments.first_item + item.index));
}

void over(Call& call) {
  OverArguments arguments;
  arguments.options.threshold = threshold_at(call, 2);
  arguments.first_item = 3;
  OpenKey key(call, KeyAccess::write);
  insert(call, key, arguments);
}

void over_insert(Call& call) {
  const OverArguments arguments = read_arguments_with_items(call);
  OpenKey key(call, KeyAccess::write);
  insert(call, key, arguments);
}

void over_create(Call& call) {
  const OverArguments arguments = read_arguments_without_items(call);
  OpenKey key(call, KeyAccess::write);
  if (const OverValue* const value = key.find<OverValue>()) {
    value->require_complete();
    require_same(arguments, value->stream().options());
    return call.ok();
  }
  std::unique_ptr<OverValue> made = make_over_value(call, arguments);
  ReplicatedCommand command(call);
  command.add(std::to_string(made->stream().options().threshold));
  add_options(command, made->stream().options());
  key.set(std::move(made));
  command.send("TALLY.OVERCREATE");
  call.ok();
}

void over_info(Call& call) {
  const OpenKey key(call, KeyAccess::read);
  const OverStream& stream = key.get<OverValue>(missing).stream();
  const OverOptions& own = stream.options();
  if (const auto* const counts = std::get_if<ThresholdStream>(&stream.stream())) {
    const ThresholdStreamStatistics now = counts->statistics();
    call.map(10);
    call.entry("N", own.threshold);
    call.entry("items", now.num_keys);
    call.entry("distinct items", now.num_distinct_keys);
    call.entry("reported", now.num_reported);
    call.entry("possible repeats", now.num_possible_repeats);
    call.simple("counts exactly");
    call.boolean(now.counts_exactly);
    call.entry("filters", now.num_generations);
    call.entry("bytes", now.memory_bytes);
    call.simple("false positive rate");
    call.real_reply(now.false_positive_rate);
    call.simple("planned false positive rate");
    call.real_reply(now.planned_false_positive_rate);
    return;
  }
  const auto& sums = std::get<SumStream>(stream.stream());
  const CountMinBound bound = sums.bound();
  call.map(11);
  call.entry("N", own.threshold);
  call.entry("window in milliseconds", static_cast<std::uint64_t>(*own.window / nanoseconds_per_millisecond));
  call.entry("slots", own.num_slots);
  call.entry("items", sums.num_records());
  call.entry("items in the window", sums.total());
  call.entry("reported", sums.num_reported());
  call.entry("possible repeats", sums.num_possible_repeats());
  call.entry("late items left out", sums.clock().num_left_out());
  call.entry("bytes", sums.memory_bytes());
  call.simple("largest error");
  call.real_reply(bound.epsilon * static_cast<double>(sums.total()));
  call.simple("probability of a larger error");
  call.real_reply(bound.failure_probability);
}

constexpr std::array commands{
    Command{"TALLY.OVER", entry<over, 4, any_number>, "write deny-oom", KeyUse::read_and_update,
            "key N item ...", "Count items: those that have just reached the count N", time_per_item},
    Command{"TALLY.OVERINSERT", entry<over_insert, 5, any_number>, "write deny-oom", KeyUse::read_and_update,
            "key N [WINDOW window] [SLOTS slots] [MEMORY memory] [KEYS keys] [FALSE-POSITIVE-RATE rate] "
            "[UPDATE update] [SEED seed] [TIME time] ITEMS item ...",
            "Count items as TALLY.OVER, with a key made with these options if there is none", time_per_item},
    Command{"TALLY.OVERCREATE", entry<over_create, 3, any_number>, "write deny-oom", KeyUse::insert,
            "key N [WINDOW window] [SLOTS slots] [MEMORY memory] [KEYS keys] [FALSE-POSITIVE-RATE rate] "
            "[UPDATE update] [SEED seed]",
            "Make a key as TALLY.OVERINSERT, without items, if there is none: OK", time_of_structure},
    Command{"TALLY.OVERINFO", entry<over_info, 2>, "readonly", KeyUse::read, "key",
            "Show the totals, the memory and the error rates", constant_time}};

}  // namespace

std::span<const Command> over_commands() noexcept { return commands; }

}  // namespace tally::redis
