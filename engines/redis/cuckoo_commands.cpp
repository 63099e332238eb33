#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "chain_lookups.hpp"
#include "chunk_commands.hpp"
#include "command.hpp"
#include "create_value.hpp"
#include "cuckoo_chain.hpp"
#include "open_key.hpp"
#include "replicated_command.hpp"
#include "tally/hashing/random_seed.hpp"

// CF.*: multisets of keys, with deletion and counts.

namespace tally::redis {
namespace {

constexpr const char* not_found = "ERR not found";

/// Creates a chain in an empty key, with a new seed.
CuckooChain& create(const Call& call, OpenKey& key, const CuckooChainOptions& options) {
  try {
    return create_value(call, key, std::make_unique<CuckooChain>(options, random_seed(), call));
  } catch (const std::invalid_argument&) {
    throw Refusal("ERR Could not create filter");
  } catch (const std::bad_alloc&) {
    throw Refusal("ERR Insufficient memory to create filter");
  }
}

std::uint64_t read_capacity(const Call& call, std::size_t argument) {
  const auto capacity = call.integer(argument);
  if (!capacity) throw Refusal("Bad capacity");
  return *capacity < 0 ? 0 : static_cast<std::uint64_t>(*capacity);
}

void check_capacity(const CuckooChainOptions& options) {
  if (options.capacity < 2 * std::uint64_t{options.bucket_size}) {
    throw Refusal("Capacity must be at least (BucketSize * 2)");
  }
}

/// An option with a whole number from `least` to `most`.
struct NumberOption {
  const char* name;
  long long least, most;
  std::uint32_t CuckooChainOptions::*value;
};

constexpr std::array<NumberOption, 3> number_options{
    {{"BUCKETSIZE", 1, 255, &CuckooChainOptions::bucket_size},
     {"MAXITERATIONS", 1, 65535, &CuckooChainOptions::max_iterations},
     {"EXPANSION", 0, 32768, &CuckooChainOptions::expansion}}};

void read_number(const Call& call, std::size_t argument, const NumberOption& option,
                 CuckooChainOptions& options) {
  const std::string name = option.name;
  const auto value = call.integer(argument);
  if (!value) throw Refusal("Couldn't parse " + name);
  if (*value < option.least || *value > option.most) {
    throw Refusal(name + ": value must be an integer between " + std::to_string(option.least) + " and " +
                  std::to_string(option.most) + ", inclusive.");
  }
  options.*option.value = static_cast<std::uint32_t>(*value);
}

void read_rate(const Call& call, std::size_t argument, CuckooChainOptions& options) {
  const auto rate = call.real(argument);
  if (!rate) throw Refusal("Couldn't parse ERROR");
  if (!(*rate > 0 && *rate < 1)) {
    throw Refusal("ERROR: value must be a number between 0 and 1, exclusive.");
  }
  options.false_positive_rate = *rate;
}

void reserve(Call& call) {
  if (call.size() % 2 == 0) throw WrongArity{};
  CuckooChainOptions options;
  options.capacity = read_capacity(call, 2);
  for (std::size_t i = 3; i < call.size(); i += 2) {
    const auto* option = std::ranges::find_if(
        number_options, [&](const NumberOption& number) { return call.is_word(i, number.name); });
    if (option != number_options.end()) {
      read_number(call, i + 1, *option, options);
    } else if (call.is_word(i, "ERROR")) {
      read_rate(call, i + 1, options);
    } else {
      throw Refusal("Unknown argument received");
    }
  }
  check_capacity(options);
  if (options.grows()) options.expansion = std::bit_ceil(options.expansion);
  OpenKey key(call, KeyAccess::write);
  if (key.find<CuckooChain>() != nullptr) throw Refusal("ERR item exists");
  create(call, key, options);
  call.ok();
}

CuckooChain& find_or_create(const Call& call, OpenKey& key, const CuckooChainOptions& options) {
  CuckooChain* chain = key.find<CuckooChain>();
  if (chain == nullptr) return create(call, key, options);
  chain->require_complete();
  return *chain;
}

/// What CF.ADDNX and CF.INSERTNX do with a key that is present: nothing.
enum class Repeats { stored, ignored };

/// Inserts the arguments from `first` on; nothing for a key that was present and is ignored. Replicas receive the keys that
/// were stored, so that they do the same whatever room they have.
std::vector<std::optional<CuckooInsert>> insert_all(const Call& call, CuckooChain& chain, std::size_t first,
                                                    Repeats repeats) {
  std::vector<std::optional<CuckooInsert>> results;
  results.reserve(call.size() - first);
  ReplicatedCommand command(call, call.size() - first + 2);
  command.add("NOCREATE");
  command.add("ITEMS");
  bool has_stored = false;
  for (std::size_t i = first; i < call.size(); ++i) {
    const std::string_view item = call.text(i);
    if (repeats == Repeats::ignored && chain.may_contain(item)) {
      results.emplace_back();
      continue;
    }
    results.emplace_back(chain.insert(item, call));
    if (results.back() != CuckooInsert::inserted) continue;
    command.add_argument(i);
    has_stored = true;
  }
  if (has_stored) command.send("TALLY.CF.INSERT");
  return results;
}

template <Repeats repeats>
void add(Call& call) {
  OpenKey key(call, KeyAccess::write);
  CuckooChain& chain = find_or_create(call, key, {});
  const auto result = insert_all(call, chain, 2, repeats).front();
  if (!result) return call.boolean(false);
  switch (*result) {
    case CuckooInsert::inserted:
      return call.boolean(true);
    case CuckooInsert::full:
      return call.error("Filter is full");
    case CuckooInsert::is_longest:
      return call.error("Maximum expansions reached");
    case CuckooInsert::no_room:
      return call.error(
          "ERR Insufficient memory to expand filter, or more than the module's option MAX-KEY-BYTES");
    case CuckooInsert::no_memory:
      return call.error(out_of_memory);
  }
}

struct InsertArguments {
  CuckooChainOptions options;
  bool creates = true;
  std::size_t first_item = 0;
};

InsertArguments parse_insert(const Call& call) {
  InsertArguments parsed;
  std::size_t i = 2;
  while (i < call.size() && !call.is_word(i, "ITEMS")) {
    if (call.is_word(i, "NOCREATE")) {
      parsed.creates = false;
      ++i;
    } else if (call.is_word(i, "CAPACITY")) {
      if (i + 1 == call.size()) throw WrongArity{};
      parsed.options.capacity = read_capacity(call, i + 1);
      i += 2;
    } else {
      throw Refusal("Unknown argument received");
    }
  }
  parsed.first_item = i + 1;
  if (parsed.first_item >= call.size()) throw WrongArity{};
  check_capacity(parsed.options);
  return parsed;
}

template <Repeats repeats>
void insert(Call& call) {
  const InsertArguments parsed = parse_insert(call);
  OpenKey key(call, KeyAccess::write);
  if (!parsed.creates && key.is_empty()) throw Refusal(not_found);
  CuckooChain& chain = find_or_create(call, key, parsed.options);
  const auto results = insert_all(call, chain, parsed.first_item, repeats);
  call.array(results.size());
  for (const auto& result : results) {
    const bool is_in = result == CuckooInsert::inserted;
    if (repeats == Repeats::stored && call.is_resp3()) {
      call.boolean(is_in);
    } else {
      call.signed_reply(!result ? 0 : is_in ? 1 : -1);
    }
  }
}

void count(Call& call) {
  const OpenKey key(call, KeyAccess::read);
  const CuckooChain* chain = chain_to_look_up<CuckooChain>(key);
  call.integer_reply(chain == nullptr ? 0 : chain->count(call.text(2)));
}

void remove(Call& call) {
  OpenKey key(call, KeyAccess::write);
  if (!key.has<CuckooChain>()) throw Refusal("Not found");
  const bool is_removed = key.get<CuckooChain>("Not found").remove(call.text(2));
  if (is_removed) call.replicate_as("TALLY.CF.DEL");
  call.boolean(is_removed);
}

void info(Call& call) {
  const OpenKey key(call, KeyAccess::read);
  const CuckooChain& chain = key.get<CuckooChain>(not_found);
  call.map(11);
  call.entry("Size", chain.memory_bytes());
  call.entry("Number of buckets", chain.num_buckets());
  call.entry("Number of filters", chain.num_filters());
  call.entry("Number of items inserted", chain.num_keys());
  call.entry("Number of items deleted", chain.num_removes());
  call.entry("Bucket size", chain.options().bucket_size);
  call.entry("Expansion rate", chain.options().expansion);
  call.entry("Max iterations", chain.options().max_iterations);
  // Other modules do not have these. They are the last, because clients may read the others by position.
  call.simple("Error rate");
  call.real_reply(chain.options().false_positive_rate);
  call.entry("Items in side tables", chain.num_spilled());
  call.entry("Room in side tables", chain.spill_capacity());
}

constexpr ChunkReplies chunk_replies{.ends_with_null = true,
                                     .bad_position = "Invalid position",
                                     .exists = "ERR item exists",
                                     .bad_header = "Invalid header",
                                     .bad_chunk = "Couldn't load chunk!"};

void scan_dump(Call& call) {
  const auto position = call.integer(2);
  const OpenKey key(call, KeyAccess::read);
  CuckooChain& chain = key.get<CuckooChain>(not_found);
  if (!position || (*position < 0 && !chain.has_begun_dump())) throw Refusal(chunk_replies.bad_position);
  if (chain.num_keys() != 0) return reply_with_chunk(call, chain, *position, chunk_replies);
  call.array(2);
  call.integer_reply(0);
  call.null();
}

void load_chunk(Call& call) {
  const auto position = call.integer(2);
  const bool is_empty = position && *position < 0 && call.text(3).empty();
  if (!position || (*position < 1 && !is_empty)) throw Refusal(chunk_replies.bad_position);
  OpenKey key(call, KeyAccess::write);
  load_chunk_of<CuckooChain>(call, key, *position, chunk_replies);
}

constexpr std::array commands{
    Command{"CF.RESERVE", entry<reserve, 3, any_number>, "write deny-oom", KeyUse::insert,
            "key capacity [BUCKETSIZE size] [MAXITERATIONS iterations] [EXPANSION expansion] [ERROR rate]",
            "Make a filter that deletes and counts, for this many items: OK", time_of_structure},
    Command{"CF.ADD", entry<add<Repeats::stored>, 3>, "write deny-oom", KeyUse::insert, "key item",
            "Add an item, again if it is there: 1", constant_time},
    Command{"CF.ADDNX", entry<add<Repeats::ignored>, 3>, "write deny-oom", KeyUse::insert, "key item",
            "Add an item if it is not there: 1 if it is new, 0 if it may have been there", constant_time},
    Command{"CF.INSERT", entry<insert<Repeats::stored>, 4, any_number>, "write deny-oom", KeyUse::insert,
            "key [CAPACITY capacity] [NOCREATE] ITEMS item ...",
            "Add items, to a new filter if there is none: for every item 1, or -1 if the filter is full",
            time_per_item},
    Command{"CF.INSERTNX", entry<insert<Repeats::ignored>, 4, any_number>, "write deny-oom", KeyUse::insert,
            "key [CAPACITY capacity] [NOCREATE] ITEMS item ...",
            "Add items that are not there: as CF.INSERT, and 0 for an item that may have been there",
            time_per_item},
    Command{"CF.EXISTS", entry<exists<CuckooChain>, 3>, "readonly fast", KeyUse::read, "key item",
            "Ask for an item: 1 if it may be in the filter, 0 if it is not", constant_time},
    Command{"CF.MEXISTS", entry<exist_several<CuckooChain>, 3, any_number>, "readonly fast", KeyUse::read,
            "key item ...", "Ask for items: for every item the reply of CF.EXISTS", time_per_item},
    Command{"CF.COUNT", entry<count, 3>, "readonly fast", KeyUse::read, "key item",
            "Count how often an item is in the filter; never too low", constant_time},
    Command{"CF.DEL", entry<remove, 3>, "write fast", KeyUse::remove, "key item",
            "Delete an item once: 1 if it was deleted, 0 if it was not in the filter", constant_time},
    Command{"CF.INFO", entry<info, 2>, "readonly fast", KeyUse::read, "key",
            "Show the parameters of a filter", constant_time},
    Command{"CF.SCANDUMP", entry<scan_dump, 3>, "readonly fast", KeyUse::read, "key position",
            "Copy a filter in pieces: the next position and a chunk of the filter", time_of_structure},
    Command{"CF.LOADCHUNK", entry<load_chunk, 4>, "write deny-oom", KeyUse::update, "key position chunk",
            "Load a chunk of a copied filter: OK", time_of_structure}};

}  // namespace

std::span<const Command> cuckoo_commands() noexcept { return commands; }

}  // namespace tally::redis
