#include "store/options.hpp"

#include <fmt/core.h>

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>

#include "cli/secret_file.hpp"
#include "cli/signals.hpp"
#include "tally/hashing/shard.hpp"
#include "text/output.hpp"

namespace tally::cli {
void add_store(CommandLine app, StoreOptions& options, StoreUse use) {
  const std::string heading = "Store";
  const Option store = app.add_option("--store", options.url, R"(
      Count on Redis servers with Tally's module: redis://[[user]:password@]host[:port][,host[:port]...]/name or
      unix:///path/name, also a Redis Cluster. All runs with the same store share it; docs/cluster.md
      )")
                           .type_name("URL");
  store.group(heading);
  add_file(app, "--password-file", options.password_file, "Password for --store: the first line of this file")
      .group(heading);
  add_duration(app, "--patience", options.patience,
               "End with an error if a server of --store has not answered for this time (default: 1m)")
      .group(heading);
  if (use == StoreUse::read) return;
  add_count(app, "--wait", options.num_replicas, R"(
      With --store: a batch counts as written when this many replicas of each master have it. A failover then loses
      nothing (default: 0)
      )",
            {0, 100})
      .group(heading);
  if (use != StoreUse::write_or_make) return;
  add_count(app, "--shards", options.num_shards,
            "Number of shards of a new store, which never changes (default: planned for its masters)",
            {1, max_num_shards})
      .group(heading);
}

void add_store_state(CommandLine app, StoreOptions& options) {
  add_file(app, "--state", options.state_path, R"(
      With --store: keep what is not yet counted in this file. A run that was killed is continued by the next one with
      the same file
      )")
      .group("Store");
}

void refuse_with_store(CommandLine app, std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    if (!app.get_option(name).is_given()) continue;
    throw std::invalid_argument(fmt::format("{} cannot be combined with --store; leave one out", name));
  }
}

void refuse_without_store(CommandLine app, std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    if (app.get_option(name).is_given())
      throw std::invalid_argument(
          fmt::format("{} is only for --store; give --store, or leave {} out", name, name));
  }
}

void take_password_file(const std::string& path, const char* flag, redis_client::Address& address) {
  if (path.empty()) return;
  if (!address.password.empty()) {
    throw std::invalid_argument(
        fmt::format("{} has a password, and --password-file is given too; leave one out", flag));
  }
  address.password = secret_in("--password-file", path);
}

redis_client::StoreAddress store_address(const StoreOptions& options) {
  redis_client::StoreAddress address;
  try {
    address = redis_client::parse_store_address(options.url);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("--store: {}", error.what()));
  }
  for (redis_client::Address& server : address.servers) {
    take_password_file(options.password_file, "--store", server);
  }
  return address;
}

redis_client::Cluster::Options cluster_options(const StoreOptions& options, bool quiet) {
  return {.servers = store_address(options).servers,
          .num_replicas = options.num_replicas,
          .patience = options.patience,
          .is_hurried = stop_requested,
          .say = [quiet](std::string_view text) { remark(quiet, text); }};
}

}  // namespace tally::cli
