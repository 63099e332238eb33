#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

#include "cli/options.hpp"
#include "tally/redis_client/store.hpp"
#include "text/duration.hpp"

namespace tally::cli {

/// The options of a command that counts in a store.
struct StoreOptions {
  std::string url;  ///< empty: no store
  std::string password_file;
  std::optional<std::uint32_t> num_shards;
  std::uint32_t num_replicas = 0;
  Nanoseconds patience = 60 * nanoseconds_per_second;
  std::string state_path;

  bool is_given() const noexcept { return !url.empty(); }
};

/// --store and what belongs to it. A command that only reads has no more than --password-file and --patience.
enum class StoreUse { read, write, write_or_make };
void add_store(CommandLine app, StoreOptions& options, StoreUse use);
/// --state of a command that has one only for a store.
void add_store_state(CommandLine app, StoreOptions& options);

/// Throws std::invalid_argument that names the option, for one that a store does not support.
void refuse_with_store(CommandLine app, std::initializer_list<const char*> names);
/// The same for one that means nothing without a store.
void refuse_without_store(CommandLine app, std::initializer_list<const char*> names);

/// Puts the first line of the file into the address; nothing without a file. Throws std::invalid_argument if that is empty,
/// or if the address, which `flag` gave, has a password already, and std::system_error that names the file.
void take_password_file(const std::string& path, const char* flag, redis_client::Address& address);

/// The servers and the name of --store, with the password of --password-file.
redis_client::StoreAddress store_address(const StoreOptions& options);
redis_client::Cluster::Options cluster_options(const StoreOptions& options, bool quiet);

}  // namespace tally::cli
