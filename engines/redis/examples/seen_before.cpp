// Tells for every line of standard input whether any program has seen it before: one structure on all masters of a Redis
// Cluster, in which each line counts once, whatever fails.
//
// usage: seen_before redis://HOST:PORT/NAME

#include <tally/hashing/random_seed.hpp>
#include <tally/redis_client/batch_writer.hpp>

#include <exception>
#include <iostream>
#include <string>

using namespace tally::redis_client;

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: seen_before redis://HOST:PORT/NAME\n";
    return 2;
  }
  try {
    const StoreAddress address = parse_store_address(argv[1]);
    Cluster cluster({.servers = address.servers});
    // Whoever comes first makes the store; all others get what it made.
    const std::uint64_t seed = tally::random_seed();
    const Store store = Store::make(cluster, address.name,
                                    {.kind = "over",
                                     .num_shards = 12,
                                     .seed = seed,
                                     .create = {"TALLY.OVERCREATE", "1", "SEED", std::to_string(seed)},
                                     .options = {{"N", "1"}}});
    BatchWriter writer(cluster, store, std::to_string(tally::random_seed()), {}, 1 << 20, {});
    for (std::string line; std::getline(std::cin, line);) {
      const tally::Hash128 digest = store.hasher()(line);
      const std::uint32_t shard = store.shard_of(digest);
      // One line a batch, to keep the example short: some thousand take hardly longer.
      writer.send(shard, {.operation = {"OVER", "1", packed({&digest, 1})},
                          .num_items = 1,
                          .done = [&](const BatchWriter::Numbers& reached) {
                            std::cout << line << (reached.empty() ? ": seen before\n" : ": new\n");
                          }});
      while (writer.num_unanswered() > 0) cluster.step(Connection::second);
      writer.release(shard);
    }
    writer.end();
  } catch (const std::exception& error) {
    std::cerr << "seen_before: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
