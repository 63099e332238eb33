#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bloom_chain.hpp"
#include "chain_lookups.hpp"
#include "chunk_commands.hpp"
#include "command.hpp"
#include "create_value.hpp"
#include "open_key.hpp"
#include "replicated_command.hpp"
#include "tally/hashing/random_seed.hpp"

// BF.*: sets of keys.

namespace tally::redis {
namespace {

constexpr const char* not_found = "ERR not found";

/// Creates a chain in an empty key, with a new seed.
BloomChain& create(const Call& call, OpenKey& key, const BloomChainOptions& options) {
  try {
    return create_value(call, key, std::make_unique<BloomChain>(options, random_seed(), call));
  } catch (const std::invalid_argument&) {
    throw Refusal("ERR could not create filter");
  } catch (const std::bad_alloc&) {
    throw Refusal(out_of_memory);
  }
}

/// An expansion larger than 2^32 - 1 means the same: the second filter would be too large.
std::uint32_t expansion_of(long long value) {
  return static_cast<std::uint32_t>(std::min<long long>(value, ~std::uint32_t{0}));
}

void reserve(Call& call) {
  BloomChainOptions options;
  const auto rate = call.real(2);
  if (!rate) throw Refusal("ERR bad error rate");
  if (!(*rate > 0 && *rate < 1)) throw Refusal("ERR (0 < error rate range < 1) ");
  const auto capacity = call.integer(3);
  if (!capacity) throw Refusal("ERR bad capacity");
  if (*capacity < 1) throw Refusal("ERR (capacity should be larger than 0)");
  options.false_positive_rate = *rate;
  options.capacity = static_cast<std::uint64_t>(*capacity);
  bool grows = true;
  std::size_t expansion_at = 0;
  for (std::size_t i = 4; i < call.size(); ++i) {
    if (call.is_word(i, "NONSCALING")) grows = false;
    if (expansion_at == 0 && call.is_word(i, "EXPANSION")) expansion_at = i + 1;
  }
  if (expansion_at != 0) {
    if (expansion_at == call.size()) throw Refusal("ERR no expansion");
    const auto expansion = call.integer(expansion_at);
    if (!expansion) throw Refusal("ERR bad expansion");
    if (*expansion < 1) throw Refusal("ERR expansion should be greater or equal to 1");
    if (!grows) throw Refusal("Nonscaling filters cannot expand");
    options.expansion = expansion_of(*expansion);
  }
  if (!grows) options.expansion = 0;
  OpenKey key(call, KeyAccess::write);
  if (key.find<BloomChain>() != nullptr) throw Refusal("ERR item exists");
  create(call, key, options);
  call.ok();
}

void reply_to_insert(const Call& call, ChainInsert result) {
  switch (result) {
    case ChainInsert::inserted:
      return call.boolean(true);
    case ChainInsert::seen:
      return call.boolean(false);
    case ChainInsert::full:
      return call.error("ERR non scaling filter is full");
    case ChainInsert::no_room:
      return call.error("ERR problem inserting into filter");
    case ChainInsert::no_memory:
      return call.error(out_of_memory);
  }
}

/// Inserts the arguments from `first` on. As in other modules, the first key that finds the filter full ends the array.
/// Replicas receive the keys that were new, so that they do the same whatever room they have.
std::vector<ChainInsert> insert_all(const Call& call, BloomChain& chain, std::size_t first) {
  std::vector<ChainInsert> results;
  results.reserve(call.size() - first);
  ReplicatedCommand command(call, call.size() - first);
  for (std::size_t i = first; i < call.size(); ++i) {
    results.push_back(chain.insert(call.text(i), call));
    if (results.back() == ChainInsert::inserted) command.add_argument(i);
    if (results.back() == ChainInsert::full) break;
  }
  if (!command.is_empty()) command.send("TALLY.BF.MADD");
  return results;
}

BloomChain& find_or_create(const Call& call, OpenKey& key, const BloomChainOptions& options) {
  BloomChain* chain = key.find<BloomChain>();
  if (chain == nullptr) return create(call, key, options);
  chain->require_complete();
  return *chain;
}

void insert_and_reply(const Call& call, BloomChain& chain, std::size_t first) {
  const std::vector<ChainInsert> results = insert_all(call, chain, first);
  call.array(results.size());
  for (const ChainInsert result : results) reply_to_insert(call, result);
}

void add(Call& call) {
  OpenKey key(call, KeyAccess::write);
  BloomChain& chain = find_or_create(call, key, {});
  reply_to_insert(call, insert_all(call, chain, 2).front());
}

void add_several(Call& call) {
  OpenKey key(call, KeyAccess::write);
  BloomChain& chain = find_or_create(call, key, {});
  insert_and_reply(call, chain, 2);
}

struct InsertArguments {
  BloomChainOptions options;
  bool creates = true;
  std::size_t first_item = 0;
};

/// A letter or two distinguish the options, so abbreviations pass, as in other modules.
InsertArguments parse_insert(const Call& call) {
  InsertArguments parsed;
  double rate = parsed.options.false_positive_rate;
  auto capacity = static_cast<long long>(parsed.options.capacity);
  long long expansion = parsed.options.expansion;
  bool grows = true;
  for (std::size_t i = 2; i < call.size() && parsed.first_item == 0; ++i) {
    const std::string_view option = call.text(i);
    const auto letter = [&](std::size_t at) {
      return at < option.size() ? static_cast<char>(option[at] | 0x20) : '\0';
    };
    const bool has_value = letter(0) == 'e' || letter(0) == 'c';
    if (has_value && ++i == call.size()) throw WrongArity{};
    if (letter(0) == 'i') {
      parsed.first_item = i + 1;
    } else if (letter(0) == 'c') {
      const auto value = call.integer(i);
      if (!value) throw Refusal("Bad capacity");
      capacity = *value;
    } else if (letter(0) == 'e' && letter(1) == 'r') {
      const auto value = call.real(i);
      if (!value) throw Refusal("Bad error rate");
      rate = *value;
    } else if (letter(0) == 'e') {
      const auto value = call.integer(i);
      if (!value) throw Refusal("Bad expansion");
      expansion = *value;
    } else if (letter(0) == 'n' && letter(2) == 'c') {
      parsed.creates = false;
    } else if (letter(0) == 'n') {
      grows = false;
    } else {
      throw Refusal("Unknown argument received");
    }
  }
  if (parsed.first_item == 0 || parsed.first_item == call.size()) throw WrongArity{};
  if (!(rate > 0 && rate < 1) || capacity < 1 || expansion < 1) throw Refusal("Bad argument received");
  parsed.options = {rate, static_cast<std::uint64_t>(capacity), grows ? expansion_of(expansion) : 0};
  return parsed;
}

void insert(Call& call) {
  const InsertArguments parsed = parse_insert(call);
  OpenKey key(call, KeyAccess::write);
  if (!parsed.creates && key.is_empty()) throw Refusal(not_found);
  insert_and_reply(call, find_or_create(call, key, parsed.options), parsed.first_item);
}

void card(Call& call) {
  const OpenKey key(call, KeyAccess::read);
  if (key.is_empty()) return call.integer_reply(0);
  call.integer_reply(key.get<BloomChain>(not_found).num_keys());
}

void info(Call& call) {
  const OpenKey key(call, KeyAccess::read);
  const BloomChain& chain = key.get<BloomChain>(not_found);
  const auto expansion = [&] {
    if (!chain.options().grows()) return call.null();
    call.integer_reply(chain.options().expansion);
  };
  struct Field {
    const char* word;
    const char* name;
    std::uint64_t value;
  };
  const std::array<Field, 5> fields{{{"CAPACITY", "Capacity", chain.capacity()},
                                     {"SIZE", "Size", chain.memory_bytes()},
                                     {"FILTERS", "Number of filters", chain.num_filters()},
                                     {"ITEMS", "Number of items inserted", chain.num_keys()},
                                     {"EXPANSION", "Expansion rate", 0}}};
  const auto value = [&](const Field& field) {
    if (&field == &fields.back()) return expansion();
    call.integer_reply(field.value);
  };
  if (call.size() == 2) {
    call.map(fields.size());
    for (const Field& field : fields) {
      call.simple(field.name);
      value(field);
    }
    return;
  }
  for (const Field& field : fields) {
    if (!call.is_word(2, field.word)) continue;
    if (call.is_resp3()) {
      call.map(1);
      call.simple(field.name);
    } else {
      call.array(1);
    }
    return value(field);
  }
  throw Refusal("Invalid information value");
}

void scan_dump(Call& call) {
  const auto position = call.integer(2);
  const OpenKey key(call, KeyAccess::read);
  BloomChain& chain = key.get<BloomChain>(not_found);
  if (!position) throw Refusal("Second argument must be numeric");
  reply_with_chunk(call, chain, *position);
}

void load_chunk(Call& call) {
  const auto position = call.integer(2);
  if (!position) throw Refusal("ERR Second argument must be numeric");
  OpenKey key(call, KeyAccess::write);
  load_chunk_of<BloomChain>(call, key, *position);
}

constexpr std::array commands{
    Command{"BF.RESERVE", entry<reserve, 4, 7>, "write deny-oom", KeyUse::insert,
            "key rate capacity [EXPANSION expansion] [NONSCALING]",
            "Make a filter for this many items with this false positive rate: OK", time_of_structure},
    Command{"BF.ADD", entry<add, 3>, "write deny-oom", KeyUse::insert, "key item",
            "Add an item: 1 if it is new, 0 if it may have been added before", constant_time},
    Command{"BF.MADD", entry<add_several, 3, any_number>, "write deny-oom", KeyUse::insert, "key item ...",
            "Add items: for every item the reply of BF.ADD", time_per_item},
    Command{
        "BF.INSERT", entry<insert, 4, any_number>, "write deny-oom", KeyUse::insert,
        "key [CAPACITY capacity] [ERROR rate] [EXPANSION expansion] [NOCREATE] [NONSCALING] ITEMS item ...",
        "Add items as BF.MADD, to a filter made with these options (defaults: 100, 0.01 and 2) if there is "
        "none",
        time_per_item},
    Command{"BF.EXISTS", entry<exists<BloomChain>, 3>, "readonly fast", KeyUse::read, "key item",
            "Ask for an item: 1 if it may have been added, 0 if it was not", constant_time},
    Command{"BF.MEXISTS", entry<exist_several<BloomChain>, 3, any_number>, "readonly fast", KeyUse::read,
            "key item ...", "Ask for items: for every item the reply of BF.EXISTS", time_per_item},
    Command{"BF.CARD", entry<card, 2>, "readonly fast", KeyUse::read, "key", "Count the items that were new",
            constant_time},
    Command{"BF.INFO", entry<info, 2, 3>, "readonly fast", KeyUse::read,
            "key [CAPACITY | SIZE | FILTERS | ITEMS | EXPANSION]",
            "Show the parameters of a filter, or one of them", constant_time},
    Command{"BF.SCANDUMP", entry<scan_dump, 3>, "readonly fast", KeyUse::read, "key position",
            "Copy a filter in pieces: the next position and a chunk of the filter", time_of_structure},
    Command{"BF.LOADCHUNK", entry<load_chunk, 4>, "write deny-oom", KeyUse::update, "key position chunk",
            "Load a chunk of a copied filter: OK", time_of_structure}};

}  // namespace

std::span<const Command> bloom_commands() noexcept { return commands; }

}  // namespace tally::redis
