#include <array>
#include <string>

#include "command.hpp"
#include "filter_items.hpp"
#include "filter_value.hpp"
#include "item_list.hpp"
#include "open_key.hpp"
#include "packed_operations.hpp"
#include "refusal.hpp"

// TALLY.PACKED and TALLY.PACKEDREAD: many items in one argument, as digests that the client has made.

namespace tally::redis {
namespace {

void run_packed(Call& call) {
  const PackedOperation& operation = packed_operation(call, 2);
  OpenKey key(call, KeyAccess::write);
  PackedReply reply;
  operation.run(call, operation.find(key), 3, reply);
  reply_with_numbers(call, reply.bytes());
}

void read_packed_counts(const Call& call, const AnyFilter& filter) {
  require_counts(filter);
  const std::vector<Count> counts = counts_of(filter, ItemList::of_digests(call, 3));
  call.array(counts.size());
  for (const Count& found : counts) {
    const auto value = static_cast<long long>(found.value);
    call.signed_reply(found.saturated ? -value : value);
  }
}

void read_packed(Call& call) {
  const bool counts = call.is_word(2, "COUNT");
  if (!counts && !call.is_word(2, "QUERY")) {
    throw Refusal("ERR '" + std::string(call.text(2).substr(0, 100)) +
                  "' is not an operation; must be COUNT or QUERY");
  }
  const OpenKey key(call, KeyAccess::read);
  const AnyFilter& filter = key.get<FilterValue>(missing_filter).filter();
  if (counts) return read_packed_counts(call, filter);
  const Answers answers = answers_of(filter, ItemList::of_digests(call, 3));
  std::string letters(answers.size(), '0');
  for (std::size_t i = 0; i < letters.size(); ++i) letters[i] = answers.span()[i] ? '1' : '0';
  call.bytes(letters);
}

constexpr std::array packed_rows{
    Command{"TALLY.PACKED", entry<run_packed, 4, any_number>, "write deny-oom", KeyUse::read_and_update,
            "key " TALLY_PACKED_OPERATIONS, "Change a key by many items at once: an array of numbers",
            time_per_item},
    Command{"TALLY.PACKEDREAD", entry<read_packed, 4>, "readonly", KeyUse::read,
            "key (COUNT | QUERY) digests",
            "Ask for many items at once: an array of their counts, or a string of 1 and 0", time_per_item}};

}  // namespace

std::span<const Command> packed_commands() noexcept { return packed_rows; }

}  // namespace tally::redis
