// What `tally over 10 --store` takes on clusters of many sizes: on paper, from the planner and from costs that
// benchmarks/time_cluster has measured. Prints a table of docs/cluster.md.
//
// usage: cluster_on_paper [SERVER_NS_PER_KEY SERVER_NS_PER_BATCH WRITER_NS_PER_KEY WRITER_NS_PER_BATCH]

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>

#include "tally/hashing/shard.hpp"
#include "tally/planner.hpp"
#include "tally/planner/plan_shares.hpp"

namespace {

constexpr std::uint32_t threshold = 10;
constexpr double share_of_reported_keys = 0.05;
constexpr double bytes_per_reported_key = 16;  // a digest in a set that is 0.8 full
constexpr double max_keys_per_unit = 1 << 20;  // of a writer, for all shards
constexpr double bytes_per_sight = 16;
constexpr std::uint64_t max_bytes_per_shard = std::uint64_t{512} << 20;  // the most that a migration moves

struct Costs {
  double server_ns_per_key = 55;  // of a master that has a replica
  double server_ns_per_batch = 13000;
  double writer_ns_per_key = 60;
  double writer_ns_per_batch = 15000;
};

std::uint64_t bytes_of(std::uint64_t num_keys) {
  const auto filter = tally::num_bytes(
      tally::plan_threshold({.num_keys = num_keys, .false_positive_rate = 0.01, .threshold = threshold}));
  return filter + static_cast<std::uint64_t>(share_of_reported_keys * bytes_per_reported_key *
                                             static_cast<double>(num_keys));
}

void print_row(const Costs& costs, std::uint32_t num_masters, std::uint64_t num_keys) {
  tally::ShareRequirements wanted{
      .num_keys = num_keys, .max_bytes_per_share = std::uint64_t{64} << 20, .multiple_of = num_masters};
  tally::SharePlan plan;
  try {
    plan = tally::plan_shares(wanted, bytes_of);
  } catch (const std::invalid_argument&) {
    wanted.max_bytes_per_share = max_bytes_per_shard;
    plan = tally::plan_shares(wanted, bytes_of);
  }
  if (plan.num_shares < 4 * num_masters) {
    wanted.num_shares = std::min(4 * num_masters, tally::max_num_shards / num_masters * num_masters);
    plan = tally::plan_shares(wanted, bytes_of);
  }
  const double shards_per_master = static_cast<double>(plan.num_shares) / num_masters;
  const double keys_per_batch =
      std::min(max_keys_per_unit / plan.num_shares, plan.num_shares > 128 ? 1024.0 : 4096.0);
  const double server_ns = costs.server_ns_per_key + costs.server_ns_per_batch / keys_per_batch;
  const double writer_ns = costs.writer_ns_per_key + costs.writer_ns_per_batch / keys_per_batch;
  const double sights_per_second = num_masters * 1e9 / server_ns;
  fmt::print(
      "| {} | {:.0e} | {} | {:.0f} MB | {:.1f} GB | {:.0f} | {:.1f} M/s | {:.0f} MB/s | {:.0f} M/s | {:.0f} "
      "|\n",
      num_masters, static_cast<double>(num_keys), plan.num_shares,
      static_cast<double>(plan.bytes_per_share) / 1e6,
      static_cast<double>(plan.bytes_per_share) * shards_per_master / 1e9, keys_per_batch, 1e3 / server_ns,
      bytes_per_sight * 1e3 / server_ns, sights_per_second / 1e6, sights_per_second * writer_ns / 1e9);
}

}  // namespace

int main(int argc, char** argv) {
  Costs costs;
  if (argc == 5) costs = {std::atof(argv[1]), std::atof(argv[2]), std::atof(argv[3]), std::atof(argv[4])};
  fmt::print(
      "| masters | keys | shards | each | a master | keys a batch | a master counts | it receives | all "
      "count | cores of writers |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
  print_row(costs, 3, 100'000'000);
  print_row(costs, 10, 10'000'000'000);
  print_row(costs, 100, 100'000'000'000);
  print_row(costs, 1000, 1'000'000'000'000);
  return 0;
}
