// What fleets of `tally node` of many sizes take: on paper, from the lengths of copies and deltas by the formulas, and from what a
// server takes to send one message to one node, which benchmarks/time_nodes has measured. Prints a table of docs/node.md.
//
// usage: nodes_on_paper [NUM_KEYS [SERVER_NS_PER_MESSAGE]]

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "tally/planner.hpp"
#include "tally/theory/summary_cache.hpp"

namespace {

constexpr double message_bytes = 128 + 5 + 16;  // header, name and MAC
// The server writes longer messages in pieces of about this size.
constexpr double bytes_per_piece = 16384;
constexpr double seconds_per_percent = 60;  // 1% of the keys is replaced in this time

struct Fleet {
  double copy_bytes = 0;
  double delta_bytes = 0;
  double server_seconds_per_message = 0;
};

Fleet fleet_of(std::uint64_t num_keys, double server_ns) {
  const tally::BloomShape shape = tally::plan_bloom({.num_keys = num_keys, .false_positive_rate = 0.01});
  const std::uint64_t num_replaced = num_keys / 100;
  const double flipped =
      tally::theory::flipped_share(shape.num_bits, shape.num_hashes, num_keys, num_replaced, num_replaced);
  return {.copy_bytes = static_cast<double>(shape.num_bits) / 8 + message_bytes,
          .delta_bytes = tally::theory::rice_delta_bits(shape.num_bits, flipped) / 8 + message_bytes,
          .server_seconds_per_message = server_ns / 1e9};
}

void print_row(const Fleet& fleet, double num_nodes, double heartbeat_seconds) {
  const double num_pairs = num_nodes * (num_nodes - 1);
  const double messages = num_pairs / heartbeat_seconds;
  const double pieces = num_pairs / seconds_per_percent * std::ceil(fleet.delta_bytes / bytes_per_piece);
  fmt::print("| {:.0f} | {:.2f} GB | {:.0f} GB | {:.0f} s | {:.0f} MB/s | {:.1f}% |\n", num_nodes,
             num_nodes * fleet.copy_bytes / 1e9, num_pairs * fleet.copy_bytes / 1e9, heartbeat_seconds,
             (num_pairs / seconds_per_percent * fleet.delta_bytes + messages * message_bytes) / 1e6,
             100 * (messages + pieces) * fleet.server_seconds_per_message);
}

// Of which the messages take `share` of what the server can do or its network can carry.
double most_nodes(double per_pair_and_second, double limit) { return std::sqrt(limit / per_pair_and_second); }

}  // namespace

int main(int argc, char** argv) {
  const auto num_keys = static_cast<std::uint64_t>(argc > 1 ? std::atof(argv[1]) : 1e6);
  const Fleet fleet = fleet_of(num_keys, argc > 2 ? std::atof(argv[2]) : 220);
  fmt::print(
      "| nodes | copies in a node | a mass start reads | heartbeat | the server sends | processor of the "
      "server |\n"
      "| --- | --- | --- | --- | --- | --- |\n");
  for (const double num_nodes : {32.0, 100.0, 300.0, 1000.0, 3000.0})
    print_row(fleet, num_nodes, num_nodes > 300 ? 60 : 5);
  const double delta_rate = fleet.delta_bytes / seconds_per_percent + message_bytes / 60;
  fmt::print(
      "1 Gbit/s carries {:.0f} nodes, 10 Gbit/s {:.0f}; half a processor carries the heartbeats of {:.0f} at "
      "5 s.\n",
      most_nodes(delta_rate, 1e9 / 8), most_nodes(delta_rate, 1e10 / 8),
      most_nodes(fleet.server_seconds_per_message / 5, 0.5));
  return 0;
}
