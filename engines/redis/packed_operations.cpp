#include "packed_operations.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "filter_items.hpp"
#include "filter_value.hpp"
#include "item_list.hpp"
#include "over_arguments.hpp"
#include "over_operation.hpp"
#include "over_value.hpp"
#include "refusal.hpp"
#include "replicated_command.hpp"
#include "server_memory.hpp"
#include "top_k_items.hpp"
#include "top_k_value.hpp"

namespace tally::redis {
namespace {

constexpr const char* missing_over = "ERR the key does not exist; create it with TALLY.OVERCREATE";
constexpr std::size_t numbers_before_refused = 2;

std::size_t num_digests_at(const Call& call, std::size_t argument) {
  return std::min(call.text(argument).size() / ItemList::bytes_per_digest, ItemList::max_digests);
}

template <class Value>
AnyValue& value_of_key(const OpenKey& key, const char* missing) {
  return key.get<Value>(missing);
}

void run_add(const Call& call, AnyValue& any, std::size_t first, PackedReply& reply) {
  const ItemList items = ItemList::of_digests(call, first);
  reply.reserve(numbers_before_refused + items.size());
  const AddedItems added(call, static_cast<FilterValue&>(any), items);
  std::size_t num_new = 0;
  std::size_t num_saturated = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    num_new += added.is_new(i) ? 1 : 0;
    num_saturated += added.is_saturated(i) ? 1 : 0;
  }
  reply.add(num_new);
  reply.add(num_saturated);
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (added.is_full(i)) reply.add(i);
  }
}

void run_remove(const Call& call, AnyValue& any, std::size_t first, PackedReply& reply) {
  auto& value = static_cast<FilterValue&>(any);
  require_removals(value.filter());
  const ItemList items = ItemList::of_digests(call, first);
  reply.reserve(numbers_before_refused + items.size());
  const std::vector<RemoveResult> results = remove_all(value, items);
  const auto num = [&](RemoveResult result) {
    return static_cast<std::size_t>(std::ranges::count(results, result));
  };
  reply.add(num(RemoveResult::removed));
  reply.add(num(RemoveResult::saturated));
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i] == RemoveResult::refused) reply.add(i);
  }
}

void run_over(const Call& call, AnyValue& any, std::size_t first, PackedReply& reply) {
  auto& value = static_cast<OverValue&>(any);
  OverArguments arguments;
  arguments.options.threshold = threshold_at(call, first);
  require_same(arguments, value.stream().options());
  if (call.size() > first + 2) {
    if (!call.is_word(first + 2, "TIME")) {
      throw Refusal("ERR '" + std::string(call.text(first + 2).substr(0, 100)) +
                    "' is not an option of OVER; must be TIME");
    }
    arguments.milliseconds = milliseconds_at(call, first + 3);
  }
  const ItemList items = ItemList::of_digests(call, first + 1);
  const OverOperation operation(call, value, items.size(), arguments.milliseconds);
  reply.reserve(items.size());
  ReplicatedCommand command(call);
  command.add("OVER");
  command.add(std::to_string(arguments.options.threshold));
  command.add_argument(first + 1);
  if (operation.replicated_milliseconds()) {
    command.add("TIME");
    command.add(std::to_string(*operation.replicated_milliseconds()));
  }
  for (const ReachedKey& item : operation.run(value, items.digests())) reply.add(item.index);
  command.send("TALLY.PACKED");
}

void run_top(const Call& call, AnyValue& any, std::size_t first, PackedReply&) {
  auto& value = static_cast<TopKValue&>(any);
  const std::size_t num_items = (call.size() - first) / 2;
  if (num_items > ItemList::max_digests) {
    throw Refusal("ERR TOP has " + std::to_string(num_items) +
                  " items; must have 1 to 65536; send more than that in several commands");
  }
  std::vector<std::uint64_t> increments;
  increments.reserve(num_items);
  for (std::size_t i = first + 1; i < call.size(); i += 2) {
    const auto increment = call.integer(i);
    if (!increment || *increment < 1 || *increment > greatest_increment) {
      throw Refusal("ERR the increment of item " + std::to_string(increments.size()) + " is '" +
                    std::string(call.text(i).substr(0, 100)) + "'; must be 1 to 100000");
    }
    increments.push_back(static_cast<std::uint64_t>(*increment));
  }
  const std::uint64_t item_bytes = require_room_in_list(call, value, first, 2);
  ReplicatedCommand command(call, 2 * num_items);
  command.add_arguments(first);
  {
    const ReservedMemory reserved(value.most_bytes_to_add(num_items, item_bytes));
    for (std::size_t i = 0; i < num_items; ++i) value.count_up(call.text(first + 2 * i), increments[i]);
  }
  command.send("TALLY.TOPK.INCRBY");
}

bool is_one(std::size_t num_arguments) { return num_arguments == 1; }

constexpr std::array operations{
    PackedOperation{
        "ADD", "digests", is_one,
        [](const OpenKey& key) -> AnyValue& { return value_of_key<FilterValue>(key, missing_filter); },
        run_add,
        [](const Call& call, std::size_t first) {
          return numbers_before_refused + num_digests_at(call, first);
        }},
    PackedOperation{
        "REMOVE", "digests", is_one,
        [](const OpenKey& key) -> AnyValue& { return value_of_key<FilterValue>(key, missing_filter); },
        run_remove,
        [](const Call& call, std::size_t first) {
          return numbers_before_refused + num_digests_at(call, first);
        }},
    PackedOperation{
        "OVER", "N digests, and TIME milliseconds or nothing",
        [](std::size_t num_arguments) { return num_arguments == 2 || num_arguments == 4; },
        [](const OpenKey& key) -> AnyValue& { return value_of_key<OverValue>(key, missing_over); }, run_over,
        [](const Call& call, std::size_t first) { return num_digests_at(call, first + 1); }},
    PackedOperation{
        "TOP", "items, each with its increment",
        [](std::size_t num_arguments) { return num_arguments >= 2 && num_arguments % 2 == 0; },
        [](const OpenKey& key) -> AnyValue& { return value_of_key<TopKValue>(key, missing_list); }, run_top,
        [](const Call&, std::size_t) { return std::size_t{0}; }}};

}  // namespace

const PackedOperation& packed_operation(const Call& call, std::size_t argument) {
  for (const PackedOperation& operation : operations) {
    if (!call.is_word(argument, operation.word)) continue;
    if (operation.takes(call.size() - argument - 1)) return operation;
    throw Refusal("ERR the number of arguments of " + std::string(operation.word) + " is wrong; give " +
                  operation.arguments);
  }
  throw Refusal("ERR '" + std::string(call.text(argument).substr(0, 100)) +
                "' is not an operation; must be ADD, REMOVE, OVER or TOP");
}

}  // namespace tally::redis
