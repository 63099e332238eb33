#include "tally/redis_client/store.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "tally/hashing/shard.hpp"
#include "tally/redis_client/reply_text.hpp"

namespace tally::redis_client {
namespace {

constexpr std::string_view first_line = "tally-store 1";
constexpr std::uint32_t most_shards = num_hash_slots;
constexpr std::array<std::string_view, 3> commands_that_create{"TALLY.CREATE", "TALLY.OVERCREATE",
                                                               "TALLY.TOPK.RESERVE"};

[[noreturn]] void refuse_text(std::string_view name, std::string_view why) {
  throw StoreError("the key '" + std::string(name) +
                   "' is not the description of a store: " + std::string(why) + "; give another name");
}

std::string_view take_until(std::string_view& text, char end) {
  const std::size_t size = std::min(text.find(end), text.size());
  const std::string_view taken = text.substr(0, size);
  text.remove_prefix(std::min(size + 1, text.size()));
  return taken;
}

template <class Number>
Number number_in(std::string_view text, Number least, Number most, std::string_view name) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least || number > most) {
    refuse_text(name, "'" + std::string(text) + "' is not a number from " + std::to_string(least) + " to " +
                          std::to_string(most));
  }
  return number;
}

}  // namespace

std::string StoreDescription::text() const {
  std::string lines(first_line);
  lines += "\nkind " + kind;
  lines += "\nshards " + std::to_string(num_shards);
  lines += "\nseed " + std::to_string(seed);
  lines += "\ncreate";
  for (const std::string& word : create) lines += " " + word;
  for (const auto& [name, value] : options) lines.append("\noption ").append(name).append(" ").append(value);
  return lines + "\n";
}

StoreDescription StoreDescription::parse(std::string_view text, std::string_view name) {
  StoreDescription description;
  description.num_shards = 0;
  if (take_until(text, '\n') != first_line)
    refuse_text(name, "it does not begin with '" + std::string(first_line) + "'");
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    const std::string_view word = take_until(line, ' ');
    if (word == "kind") {
      description.kind = line;
    } else if (word == "shards") {
      description.num_shards = number_in<std::uint32_t>(line, 1, most_shards, name);
    } else if (word == "seed") {
      description.seed = number_in<std::uint64_t>(line, 0, ~std::uint64_t{0}, name);
    } else if (word == "create") {
      while (!line.empty()) description.create.emplace_back(take_until(line, ' '));
    } else if (word == "option") {
      const std::string option(take_until(line, ' '));
      description.options[option] = line;
    } else {
      refuse_text(name, "it has an unknown line '" + std::string(word) + "'");
    }
  }
  if (description.num_shards == 0) refuse_text(name, "the number of shards is missing");
  if (description.create.empty() ||
      std::ranges::find(commands_that_create, description.create.front()) == commands_that_create.end()) {
    refuse_text(name, "the command that makes a shard is missing or unknown");
  }
  return description;
}

Store::Store(std::string name, StoreDescription description)
    : name_(std::move(name)), description_(std::move(description)) {}

std::uint32_t Store::shard_of(Hash128 digest) const noexcept {
  return tally::shard_of(digest, description_.num_shards);
}

std::string Store::key_of(std::uint32_t shard) const { return name_ + ":{" + std::to_string(shard) + "}"; }

Cluster::Arguments Store::create_description() const { return {"SET", name_, description_.text(), "NX"}; }

Cluster::Arguments Store::create_shard(std::uint32_t shard) const {
  Cluster::Arguments words = description_.create;
  words.insert(words.begin() + 1, key_of(shard));
  return words;
}

bool Store::says_that_it_exists(std::string_view error) noexcept {
  return error.starts_with("ERR the key exists") || error.starts_with("TopK: key already exists");
}

bool Store::says_that_it_is_missing(std::string_view error) noexcept {
  return error.starts_with("ERR the key does not exist") || error.starts_with("TopK: key does not exist");
}

std::optional<Store> Store::open(Cluster& cluster, std::string name) {
  const Reply reply = cluster.call(name, {"GET", name});
  if (reply->type == REDIS_REPLY_NIL) return std::nullopt;
  if (is_error(*reply)) throw StoreError("the store '" + name + "': " + std::string(text_of(*reply)));
  StoreDescription description = StoreDescription::parse(text_of(*reply), name);
  return Store(std::move(name), std::move(description));
}

Store Store::make(Cluster& cluster, std::string name, const StoreDescription& description) {
  const Store wanted(name, description);
  const Reply made = cluster.call(name, wanted.create_description());
  if (is_error(*made)) throw StoreError("the store '" + name + "': " + std::string(text_of(*made)));
  std::optional<Store> store = open(cluster, std::move(name));
  if (!store) throw StoreError("the store '" + wanted.name() + "' was deleted while it was made; try again");
  std::string error;
  for (std::uint32_t shard = 0; shard < store->num_shards(); ++shard) {
    const std::size_t lane = cluster.lane_of(store->key_of(shard));
    cluster.send(lane, store->create_shard(shard), [&error, shard, &store](const Reply& reply) {
      // A filter that is there is one that another client has made: its seed and shape are those of the description.
      const std::string_view text = text_of(*reply);
      if (is_error(*reply) && !says_that_it_exists(text) && error.empty()) {
        error = "the shard '" + store->key_of(shard) + "' cannot be made: " + std::string(text);
      }
    });
  }
  while (!cluster.is_idle()) cluster.step(Connection::second / 10);
  if (!error.empty()) throw StoreError(error);
  return *std::move(store);
}

}  // namespace tally::redis_client
