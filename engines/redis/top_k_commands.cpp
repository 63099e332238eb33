#include <array>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "command.hpp"
#include "create_value.hpp"
#include "open_key.hpp"
#include "replicated_command.hpp"
#include "tally/hashing/random_seed.hpp"
#include "top_k_items.hpp"
#include "top_k_value.hpp"

// TOPK.*: the most frequent items.

namespace tally::redis {
namespace {

constexpr const char* no_memory = "ERR Insufficient memory to create topk data structure";
constexpr long long greatest_k = CountedKeys::max_capacity;
constexpr long long greatest_width = 0xffffffff;
constexpr long long greatest_depth = 1024;  // what a CountMinShape may have

std::uint64_t read_size(const Call& call, std::size_t argument, const char* name, long long greatest) {
  const auto value = call.integer(argument);
  if (!value || *value < 1 || *value > greatest) throw Refusal(std::string("TopK: invalid ") + name);
  return static_cast<std::uint64_t>(*value);
}

void reserve(Call& call) {
  if (call.size() != 3 && call.size() != 6) throw WrongArity{};
  OpenKey key(call, KeyAccess::write);
  if (!key.is_empty()) throw Refusal("TopK: key already exists");
  TopKOptions options;
  options.k = read_size(call, 2, "k", greatest_k);
  if (call.size() == 6) {
    options.width = read_size(call, 3, "width", greatest_width);
    options.depth = read_size(call, 4, "depth", greatest_depth);
    const auto decay = call.real(5);
    if (!decay || !(*decay > 0 && *decay <= 1)) {
      throw Refusal("TopK: invalid decay value. must be '<= 1' & '> 0'");
    }
    options.decay = *decay;
  }
  try {
    create_value(call, key, std::make_unique<TopKValue>(options, random_seed(), call));
  } catch (const std::invalid_argument&) {
    throw Refusal(no_memory);
  } catch (const std::bad_alloc&) {
    throw Refusal(no_memory);
  }
  call.ok();
}

/// Adds the items at every `step`-th argument from 2 on, with their increments, and replies with what left the list. If the
/// memory is used up on the way, the remaining items have error replies, and replicas receive the others only.
void add_and_reply(const Call& call, TopKValue& value, std::size_t step,
                   const std::vector<std::uint64_t>& increments) {
  (void)require_room_in_list(call, value, 2, step);
  std::vector<std::optional<std::string>> left;
  left.reserve(increments.size());
  ReplicatedCommand command(call, call.size());
  try {
    for (std::size_t i = 0; i < increments.size(); ++i) {
      const std::size_t first = 2 + i * step;
      left.push_back(value.add(call.text(first), increments[i]));
      for (std::size_t at = first; at < first + step; ++at) command.add_argument(at);
    }
  } catch (const std::bad_alloc&) {  // what was added before stays
  }
  if (!command.is_empty()) command.send(step == 1 ? "TALLY.TOPK.ADD" : "TALLY.TOPK.INCRBY");
  call.array(increments.size());
  for (std::size_t i = 0; i < increments.size(); ++i) {
    if (i >= left.size()) {
      call.error("ERR Insufficient memory");
    } else if (left[i]) {
      call.bytes(*left[i]);
    } else {
      call.null();
    }
  }
}

void add(Call& call) {
  OpenKey key(call, KeyAccess::write);
  add_and_reply(call, key.get<TopKValue>(missing_list), 1, std::vector<std::uint64_t>(call.size() - 2, 1));
}

void increase(Call& call) {
  if (call.size() % 2 != 0) throw WrongArity{};
  OpenKey key(call, KeyAccess::write);
  TopKValue& value = key.get<TopKValue>(missing_list);
  std::vector<std::uint64_t> increments;
  increments.reserve(call.size() / 2);
  for (std::size_t i = 3; i < call.size(); i += 2) {
    const auto increment = call.integer(i);
    if (!increment || *increment < 0 || *increment > greatest_increment) {
      throw Refusal(
          "TopK: increment must be an integer greater or equal to 0 and smaller or equal to 100,000");
    }
    increments.push_back(static_cast<std::uint64_t>(*increment));
  }
  add_and_reply(call, value, 2, increments);
}

void query(Call& call) {
  const OpenKey key(call, KeyAccess::read);
  const TopKValue& value = key.get<TopKValue>(missing_list);
  call.array(call.size() - 2);
  for (std::size_t i = 2; i < call.size(); ++i) call.boolean(value.is_listed(call.text(i)));
}

void count(Call& call) {
  const OpenKey key(call, KeyAccess::read);
  const TopKValue& value = key.get<TopKValue>(missing_list);
  call.array(call.size() - 2);
  for (std::size_t i = 2; i < call.size(); ++i) call.integer_reply(value.count(call.text(i)));
}

void list(Call& call) {
  const bool with_count = call.size() == 3;
  const OpenKey key(call, KeyAccess::read);
  const TopKValue& value = key.get<TopKValue>(missing_list);
  if (with_count && !call.is_word(2, "WITHCOUNT")) throw Refusal("WITHCOUNT keyword expected");
  const std::vector<KeyCount> items = value.list();
  call.array(with_count ? 2 * items.size() : items.size());
  for (const KeyCount& item : items) {
    call.bytes(item.key);
    if (with_count) call.integer_reply(item.count);
  }
}

void info(Call& call) {
  const OpenKey key(call, KeyAccess::read);
  const TopKOptions& options = key.get<TopKValue>(missing_list).options();
  call.map(4);
  call.entry("k", options.k);
  call.entry("width", options.width);
  call.entry("depth", options.depth);
  call.simple("decay");
  call.real_reply(options.decay);
}

constexpr std::array commands{
    Command{"TOPK.RESERVE", entry<reserve, 3, 6>, "write deny-oom", KeyUse::insert,
            "key k [width depth decay]",
            "Make a list of the k most frequent items (defaults: 8, 7 and 0.9): OK", time_of_structure},
    Command{"TOPK.ADD", entry<add, 3, any_number>, "write deny-oom", KeyUse::read_and_update, "key item ...",
            "Count items: for every item the one that it pushed out of the list, or nil", time_per_item},
    Command{"TOPK.INCRBY", entry<increase, 4, any_number>, "write deny-oom", KeyUse::read_and_update,
            "key (item increment) ...", "Count items by increments of 0 to 100000: the reply of TOPK.ADD",
            time_per_item},
    Command{"TOPK.QUERY", entry<query, 3, any_number>, "readonly", KeyUse::read, "key item ...",
            "Ask for items: for every item 1 if it is in the list, else 0", time_per_item},
    Command{"TOPK.COUNT", entry<count, 3, any_number>, "readonly", KeyUse::read, "key item ...",
            "Show the count of every item", time_per_item},
    Command{"TOPK.LIST", entry<list, 2, 3>, "readonly", KeyUse::read, "key [WITHCOUNT]",
            "List the items, the highest count first; with their counts",
            "O(k log k) where k is the length of the list"},
    Command{"TOPK.INFO", entry<info, 2>, "readonly", KeyUse::read, "key",
            "Show k, the width, the depth and the decay", constant_time}};

}  // namespace

std::span<const Command> top_k_commands() noexcept { return commands; }

}  // namespace tally::redis
