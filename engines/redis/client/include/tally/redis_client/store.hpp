#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tally/hashing/key_hasher.hpp"
#include "tally/redis_client/cluster.hpp"

namespace tally::redis_client {

/// The servers and what this client wants do not fit together: other options, another type of key, an error of a command.
/// The message says what to do.
struct StoreError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What all clients of one structure that is divided among shards must know. It is the text of the key that has the name of
/// the structure; the shards are the keys name:{0}, name:{1} and so on.
struct StoreDescription {
  std::string kind;              ///< "over", "top" or "filter"
  std::uint32_t num_shards = 1;  ///< 1 to 16384; never changes
  std::uint64_t seed = 0;
  /// The command that makes a shard, without its key, which comes after the first word. It changes nothing if the shard is
  /// there.
  std::vector<std::string> create;
  /// What the structure was made with, such as {"--keys", "1000000"}, for comparison.
  std::map<std::string, std::string> options;

  std::string text() const;
  /// Throws StoreError for a text that is not of this form.
  static StoreDescription parse(std::string_view text, std::string_view name);

  friend bool operator==(const StoreDescription&, const StoreDescription&) = default;
};

/// One structure on many servers. Every key is in one shard, which follows from its digest.
class Store {
 public:
  /// Nothing if this name has no key. Throws StoreError if it has another type, and Unavailable.
  static std::optional<Store> open(Cluster& cluster, std::string name);
  /// Makes the description, unless another client has been faster: then this is what that one made. Makes all shards that
  /// are missing.
  static Store make(Cluster& cluster, std::string name, const StoreDescription& description);

  const std::string& name() const noexcept { return name_; }
  const StoreDescription& description() const noexcept { return description_; }
  std::uint32_t num_shards() const noexcept { return description_.num_shards; }
  KeyHasher hasher() const noexcept { return description_.seed; }
  std::uint32_t shard_of(Hash128 digest) const noexcept;
  std::string key_of(std::uint32_t shard) const;

  /// Whether an error of create_shard says that the shard is there.
  static bool says_that_it_exists(std::string_view error) noexcept;
  /// Whether an error of another command says that it is not there.
  static bool says_that_it_is_missing(std::string_view error) noexcept;

  /// The commands that make the description and a shard.
  Cluster::Arguments create_description() const;
  Cluster::Arguments create_shard(std::uint32_t shard) const;

 private:
  Store(std::string name, StoreDescription description);

  std::string name_;
  StoreDescription description_;
};

}  // namespace tally::redis_client
