#include <array>
#include <charconv>
#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command.hpp"
#include "open_key.hpp"
#include "option_value.hpp"
#include "over_value.hpp"
#include "replicated_command.hpp"
#include "server_memory.hpp"
#include "tally/hashing/random_seed.hpp"
#include "tally/planner.hpp"

// TALLY.OVER*: the items that have reached a count just now, as `tally over` prints them.

namespace tally::redis {
namespace {

constexpr const char* missing = "ERR the key does not exist; create it with TALLY.OVER";
constexpr std::int64_t nanoseconds_per_millisecond = 1'000'000;

/// The arguments of TALLY.OVERINSERT, and which of the options are given.
struct Arguments {
  OverOptions options;
  bool has_window = false, has_slots = false, has_memory = false, has_keys = false, has_rate = false,
       has_update = false, has_seed = false;
  std::optional<std::int64_t> milliseconds;
  std::size_t first_item = 0;
};

using A = Arguments;
using V = const OptionValue&;
struct Option {
  std::string_view name;
  bool A::*is_given;  ///< nullptr: not a property of the key
  void (*read)(A& arguments, V value);
};

constexpr std::array<std::string_view, 2> updates{"plain", "conservative"};

constexpr Option options[] = {
    {"window", &A::has_window, [](A& a, V v) { a.options.window = v.duration(); }},
    {"slots", &A::has_slots, [](A& a, V v) { a.options.num_slots = v.small_count(1, 1000); }},
    {"memory", &A::has_memory, [](A& a, V v) { a.options.memory_bytes = v.size(); }},
    {"keys", &A::has_keys, [](A& a, V v) { a.options.num_keys = v.count(1, std::uint64_t{1} << 56); }},
    {"false-positive-rate", &A::has_rate, [](A& a, V v) { a.options.false_positive_rate = v.rate(); }},
    {"update", &A::has_update,
     [](A& a, V v) { a.options.update = CounterUpdate{static_cast<std::uint8_t>(v.choice(updates))}; }},
    {"seed", &A::has_seed, [](A& a, V v) { a.options.seed = v.count(0); }},
    {"time", nullptr,
     [](A& a, V v) {
       constexpr std::uint64_t most = max_time / nanoseconds_per_millisecond;
       a.milliseconds = static_cast<std::int64_t>(v.count(0, most));
     }},
};

std::uint64_t threshold_of(const Call& call) { return OptionValue{"N", call.text(2)}.count(); }

Arguments read_arguments(const Call& call) {
  Arguments arguments;
  arguments.options.threshold = threshold_of(call);
  std::size_t i = 3;
  for (; i < call.size() && !call.is_word(i, "ITEMS"); i += 2) {
    std::string_view word = call.text(i);
    if (word.starts_with("--")) word.remove_prefix(2);
    const Option* option = nullptr;
    for (const Option& row : options) {
      if (is_same_word(row.name, word)) option = &row;
    }
    if (option == nullptr) {
      throw Refusal(
          "ERR '" + std::string(call.text(i).substr(0, 100)) +
          "' is not an option; must be WINDOW, SLOTS, MEMORY, KEYS, FALSE-POSITIVE-RATE, UPDATE, SEED, "
          "TIME or ITEMS");
    }
    if (i + 1 == call.size()) throw Refusal("ERR --" + std::string(option->name) + ": its value is missing");
    option->read(arguments, {option->name, call.text(i + 1)});
    if (option->is_given != nullptr) arguments.*option->is_given = true;
  }
  arguments.first_item = i + 1;
  if (arguments.first_item >= call.size())
    throw Refusal("ERR ITEMS is missing; give it, and one item or more");
  return arguments;
}

void check(const Arguments& arguments) {
  const OverOptions& given = arguments.options;
  if (given.window && (given.num_keys || given.false_positive_rate || arguments.has_update)) {
    throw Refusal(
        "ERR --keys, --false-positive-rate and --update cannot be combined with --window; give --memory");
  }
  if (!given.window && arguments.has_slots)
    throw Refusal("ERR --slots is only for --window; give --window too");
  if (!given.window && given.threshold > max_threshold_limit) {
    throw Refusal("ERR N: " + std::to_string(given.threshold) + " is too large; must be at most " +
                  std::to_string(max_threshold_limit));
  }
}

void require_same(const Arguments& arguments, const OverOptions& own) {
  const OverOptions& given = arguments.options;
  const auto require = [](bool is_same, const char* name) {
    if (is_same) return;
    throw Refusal(std::string("ERR ") + name +
                  " is not that of the key; give the same as when it was made, or another key");
  };
  require(given.threshold == own.threshold, "N");
  require(!arguments.has_window || given.window == own.window, "--window");
  require(!arguments.has_slots || given.num_slots == own.num_slots, "--slots");
  require(!arguments.has_memory || given.memory_bytes == own.memory_bytes, "--memory");
  require(!arguments.has_keys || given.num_keys == own.num_keys, "--keys");
  require(!arguments.has_rate || given.false_positive_rate == own.false_positive_rate,
          "--false-positive-rate");
  require(!arguments.has_update || given.update == own.update, "--update");
  require(!arguments.has_seed || given.seed == own.seed, "--seed");
}

std::unique_ptr<OverValue> make_value(const Call& call, const OverOptions& wanted) {
  const std::uint64_t max_bytes = call.max_key_bytes();
  try {
    if (wanted.memory_bytes && *wanted.memory_bytes > max_bytes) {
      throw Refusal("ERR --memory: it is more than " + std::to_string(max_bytes) +
                    ", the module's option MAX-KEY-BYTES");
    }
    if (wanted.window || wanted.memory_bytes) {
      call.require_memory_for(wanted.memory_bytes.value_or(default_window_bytes));
    }
    if (wanted.num_keys && !wanted.memory_bytes) {
      const ThresholdShape shape =
          plan_threshold({.num_keys = wanted.num_keys,
                          .false_positive_rate = wanted.false_positive_rate.value_or(0.01),
                          .threshold = wanted.threshold});
      if (num_bytes(shape) > max_bytes) {
        throw Refusal("ERR --keys: they take " + std::to_string(num_bytes(shape)) +
                      " bytes; must be at most " + std::to_string(max_bytes) +
                      ", the module's option MAX-KEY-BYTES; give fewer, or --memory");
      }
      call.require_memory_for(num_bytes(shape));
    }
    return std::make_unique<OverValue>(OverStream(wanted));
  } catch (const std::invalid_argument& error) {
    throw Refusal("ERR " + std::string(error.what()));
  }
}

void add_options(ReplicatedCommand& command, const OverOptions& own) {
  for (const auto& [name, value] : own.list()) {
    if (name == "N" || value.empty()) continue;
    if (own.window ? name == "update" : name == "slots") continue;
    command.add(name);
    // The list has a window in nanoseconds.
    command.add(name == "window" ? std::to_string(*own.window / 1000) + "us" : value);
  }
}

/// Throws Refusal if the items make the stream larger than the limits allow.
void require_room(const Call& call, const OverStream& stream, std::size_t num_items) {
  if (stream.options().memory_bytes || stream.options().window) return;
  if (stream.memory_bytes_with(num_items) > call.max_key_bytes()) {
    throw Refusal("ERR the key would take more than " + std::to_string(call.max_key_bytes()) +
                  " bytes, the module's option MAX-KEY-BYTES; make one with --memory");
  }
  const std::uint64_t new_filters = stream.bytes_of_new_filters(num_items);
  if (new_filters > 0) call.require_memory_for(new_filters);
}

/// Adds the items and replies with those that have reached N. Replicas receive the time, and for a new key its options.
void insert(const Call& call, OpenKey& key, const Arguments& arguments) {
  OverValue* value = key.find<OverValue>();
  std::unique_ptr<OverValue> made;
  if (value != nullptr) {
    value->require_complete();
    require_same(arguments, value->stream().options());
  } else {
    check(arguments);
    OverOptions wanted = arguments.options;
    if (!arguments.has_seed) wanted.seed = random_seed();
    made = make_value(call, wanted);
    value = made.get();
  }
  OverStream& stream = value->stream_to_change();
  const OverOptions& own = stream.options();
  if (arguments.milliseconds && !own.window) {
    throw Refusal("ERR --time is only for a key with --window; leave it out");
  }
  const std::size_t num_items = call.size() - arguments.first_item;
  require_room(call, stream, num_items);
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  const std::int64_t milliseconds = arguments.milliseconds.value_or(now.count());
  std::vector<Hash128> digests;
  digests.reserve(num_items);
  for (std::size_t i = arguments.first_item; i < call.size(); ++i) {
    digests.push_back(stream.hasher()(call.text(i)));
  }
  ReplicatedCommand command(call);
  command.add(std::to_string(own.threshold));
  if (made != nullptr) add_options(command, own);
  if (own.window) {
    command.add("time");
    command.add(std::to_string(milliseconds));
  }
  command.add("ITEMS");
  command.add_arguments(arguments.first_item);
  const std::span<const ReachedKey> reached = [&] {
    const ReservedMemory reserved(stream.most_bytes_to_add(num_items));
    return stream.add(digests, milliseconds * nanoseconds_per_millisecond);
  }();
  if (made != nullptr) key.set(std::move(made));
  command.send("TALLY.OVERINSERT");
  call.array(reached.size());
  for (const ReachedKey& item : reached) call.bytes(call.text(arguments.first_item + item.index));
}

void over(Call& call) {
  Arguments arguments;
  arguments.options.threshold = threshold_of(call);
  arguments.first_item = 3;
  OpenKey key(call, KeyAccess::write);
  insert(call, key, arguments);
}

void over_insert(Call& call) {
  const Arguments arguments = read_arguments(call);
  OpenKey key(call, KeyAccess::write);
  insert(call, key, arguments);
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
    Command{"TALLY.OVERINFO", entry<over_info, 2>, "readonly", KeyUse::read, "key",
            "Show the totals, the memory and the error rates", constant_time}};

}  // namespace

std::span<const Command> over_commands() noexcept { return commands; }

}  // namespace tally::redis
