#include "over_arguments.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <string_view>

#include "option_value.hpp"
#include "refusal.hpp"
#include "tally/hashing/random_seed.hpp"
#include "tally/planner.hpp"

namespace tally::redis {
namespace {

using A = OverArguments;
using V = const OptionValue&;
struct Option {
  std::string_view name;
  bool A::*is_given;  ///< nullptr: not a property of the key
  void (*read)(A& arguments, V value);
};

constexpr std::array<std::string_view, 2> updates{"plain", "conservative"};

std::int64_t milliseconds_of(V value) {
  constexpr std::uint64_t most = max_time / nanoseconds_per_millisecond;
  return static_cast<std::int64_t>(value.count(0, most));
}

constexpr Option options[] = {
    {"window", &A::has_window, [](A& a, V v) { a.options.window = v.duration(); }},
    {"slots", &A::has_slots, [](A& a, V v) { a.options.num_slots = v.small_count(1, 1000); }},
    {"memory", &A::has_memory, [](A& a, V v) { a.options.memory_bytes = v.size(); }},
    {"keys", &A::has_keys, [](A& a, V v) { a.options.num_keys = v.count(1, std::uint64_t{1} << 56); }},
    {"false-positive-rate", &A::has_rate, [](A& a, V v) { a.options.false_positive_rate = v.rate(); }},
    {"update", &A::has_update,
     [](A& a, V v) { a.options.update = CounterUpdate{static_cast<std::uint8_t>(v.choice(updates))}; }},
    {"seed", &A::has_seed, [](A& a, V v) { a.options.seed = v.count(0); }},
    {"time", nullptr, [](A& a, V v) { a.milliseconds = milliseconds_of(v); }},
};

constexpr std::string_view properties =
    " is not an option; must be WINDOW, SLOTS, MEMORY, KEYS, FALSE-POSITIVE-RATE, UPDATE, SEED";

/// Reads options from argument 3 on, up to `end`. `last_words` are the options and words beside `properties`.
void read_options(const Call& call, std::size_t end, bool allows_time, const char* last_words, A& arguments) {
  for (std::size_t i = 3; i < end; i += 2) {
    std::string_view word = call.text(i);
    if (word.starts_with("--")) word.remove_prefix(2);
    const Option* option = nullptr;
    for (const Option& row : options) {
      if (is_same_word(row.name, word) && (allows_time || row.is_given != nullptr)) option = &row;
    }
    if (option == nullptr) {
      throw Refusal("ERR '" + std::string(call.text(i).substr(0, 100)) + "'" + std::string(properties) +
                    last_words);
    }
    if (i + 1 == call.size()) throw Refusal("ERR --" + std::string(option->name) + ": its value is missing");
    option->read(arguments, {option->name, call.text(i + 1)});
    if (option->is_given != nullptr) arguments.*option->is_given = true;
  }
}

void check(const A& arguments) {
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

}  // namespace

std::uint64_t threshold_at(const Call& call, std::size_t argument) {
  return OptionValue{"N", call.text(argument)}.count();
}

std::int64_t milliseconds_at(const Call& call, std::size_t argument) {
  return milliseconds_of({"time", call.text(argument)});
}

OverArguments read_arguments_with_items(const Call& call) {
  OverArguments arguments;
  arguments.options.threshold = threshold_at(call, 2);
  std::size_t items = 3;
  while (items < call.size() && !call.is_word(items, "ITEMS")) items += 2;
  read_options(call, std::min(items, call.size()), true, ", TIME or ITEMS", arguments);
  arguments.first_item = items + 1;
  if (arguments.first_item >= call.size()) {
    throw Refusal("ERR ITEMS is missing; give it, and one item or more");
  }
  return arguments;
}

OverArguments read_arguments_without_items(const Call& call) {
  OverArguments arguments;
  arguments.options.threshold = threshold_at(call, 2);
  read_options(call, call.size(), false, "", arguments);
  return arguments;
}

void require_same(const OverArguments& arguments, const OverOptions& own) {
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

std::unique_ptr<OverValue> make_over_value(const Call& call, const OverArguments& arguments) {
  check(arguments);
  OverOptions wanted = arguments.options;
  if (!arguments.has_seed) wanted.seed = random_seed();
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

}  // namespace tally::redis
