#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/sample_filters.hpp"
#include "support/sample_summaries.hpp"
#include "tally/serialization/sketch_files.hpp"
#include "tally/sets/hash_set.hpp"
#include "tally/sets/recent_keys.hpp"
#include "tally/sketches/count_min_window.hpp"
#include "tally/sketches/space_saving.hpp"
#include "tally/sketches/top_keys.hpp"
#include "tally/storage/bit_array.hpp"
#include "tally/storage/cell_table.hpp"
#include "tally/storage/counter_array.hpp"
#include "tally/summaries/replica.hpp"
#include "tally/summaries/set.hpp"
#include "tally/summaries/squid/counting_digest.hpp"

/// All there is to know of an object, to be compared: two that are described alike answer alike from then on.
namespace tally::test {

using Bytes = std::vector<std::byte>;
using Numbers = std::vector<std::uint64_t>;

inline Numbers numbers_of(std::span<const std::uint64_t> words) { return {words.begin(), words.end()}; }

inline Bytes describe_all(const FilterView& filter) { return serialize(filter); }

inline auto describe_all(const BitArray& bits) { return std::pair(bits.size(), numbers_of(bits.words())); }
inline auto describe_all(const CounterArray& counters) {
  return std::pair(Numbers{counters.size(), counters.counter_bits()}, numbers_of(counters.words()));
}
inline auto describe_all(const CellTable& cells) {
  return std::pair(Numbers{cells.num_buckets(), cells.cells_per_bucket(), cells.cell_bits()},
                   numbers_of(cells.words()));
}
inline auto describe_all(const SpillTable& spills) {
  return std::pair(Numbers{spills.capacity(), spills.size(), spills.total()}, numbers_of(spills.words()));
}
template <class Scheme>
auto describe_all(const detail::DLeftTable<Scheme>& table) {
  return std::tuple(Numbers{table.num_fingerprints(), table.shape().num_doublings},
                    describe_all(table.cells()), describe_all(table.spills()));
}

inline auto describe_all(const DigestShard& shard) {
  return std::pair(Numbers{shard.size(), shard.num_lines()}, numbers_of(shard.words()));
}
inline auto describe_all(const HashSet& set) {
  return std::pair(Numbers{set.size(), set.num_bytes()}, set.image());
}
/// It shows no memory: a copy of it is asked.
inline auto describe_all(const RecentKeys& keys) {
  RecentKeys copy = keys;
  Numbers answers = {keys.num_forgotten(), keys.num_bytes()};
  for (const Hash128 digest : sample_keys(1, 40)) answers.push_back(copy.insert(digest));
  answers.push_back(copy.num_forgotten());
  return answers;
}

inline auto describe_all(const CountedKeys& keys) {
  std::vector<std::string> bytes;
  for (std::uint32_t i = 0; i < keys.size(); ++i) bytes.push_back(keys.key_bytes(i));
  std::vector<CountedKeys::Entry> entries(keys.entries().begin(), keys.entries().end());
  std::vector<bool> is_found;
  for (const CountedKeys::Entry& entry : entries)
    is_found.push_back(keys.find(entry.digest) != CountedKeys::none);
  return std::tuple(keys.capacity(), bytes, entries, is_found);
}
template <class Rows>
auto describe_all(const TopKeys<Rows>& top) {
  return std::tuple(describe_all(top.candidates()), describe_all(top.sketch()), top.total_count(),
                    top.floor());
}
inline auto describe_all(const SpaceSaving& top) {
  return std::tuple(describe_all(top.candidates()), top.total_count(), top.floor());
}
template <class Rows>
auto describe_all(const CountMinWindow<Rows>& window) {
  return std::pair(describe_all(window.newer()), describe_all(window.older()));
}

inline auto describe_all(const SummaryTable& table) {
  return std::pair(std::string(table.layout().scheme_name()), numbers_of(table.words()));
}
inline auto describe_all(const SummaryStatus& status) {
  return Numbers{status.held.epoch,
                 status.held.sequence,
                 status.newest.epoch,
                 status.newest.sequence,
                 status.digest,
                 status.num_nonzero,
                 status.has_diverged,
                 status.is_contradicted,
                 static_cast<std::uint64_t>(status.as_of.time_since_epoch().count())};
}
inline auto describe_all(const SummaryPublisher& publisher) {
  return std::tuple(publisher.full(sample_time), publisher.heartbeat(sample_time), publisher.num_bytes());
}
template <class Filter>
auto describe_all(const DirectorySummary<Filter>& directory) {
  const PendingChanges pending = directory.pending();
  return std::tuple(
      describe_all(directory.filter()), describe_all(directory.publisher()), numbers_of(directory.words()),
      Numbers{pending.num_keys, pending.num_inserted, pending.num_removed, pending.num_changed_units});
}
inline auto describe_all(const SummaryReplica& replica) {
  return std::tuple(describe_all(replica.status()), replica.publisher(), replica.request(sample_time),
                    replica.table() ? describe_all(*replica.table()) : std::pair<std::string, Numbers>{});
}
inline auto describe_all(const PeerTable& table) {
  Numbers numbers = {table.num_columns(), table.num_bytes()};
  const std::uint64_t end = table.num_bytes() == 0 ? 0 : table.num_columns();
  for (std::uint64_t column = 0; column < end; ++column) {
    for (std::uint64_t unit = 0; unit < table.layout().num_units(); ++unit) {
      numbers.push_back(table.get(static_cast<PeerTable::Column>(column), unit));
    }
  }
  return numbers;
}
inline auto describe_all(const SummarySet& set) {
  std::vector<std::tuple<std::string, Numbers, Numbers, Bytes>> peers;
  set.for_each_peer([&](SummarySet::Peer peer) {
    Numbers units;
    const SummaryLayout* const layout = set.layout(peer);
    for (std::uint64_t i = 0; layout != nullptr && i < layout->num_units(); ++i)
      units.push_back(set.unit(peer, i));
    peers.emplace_back(set.name(peer), describe_all(set.status(peer)), std::move(units),
                       set.request(peer, sample_time));
  });
  return std::pair(set.num_bytes(), std::move(peers));
}
inline Bytes describe_all(const SquidDigest& digest) { return digest.to_bytes(); }
inline auto describe_all(const CountingSquidDigest& digest) {
  return std::tuple(digest.digest().to_bytes(), digest.num_keys(), digest.num_saturated_removes());
}

/// As a function object, for any of them.
inline constexpr auto describes = [](const auto& object) { return describe_all(object); };

}  // namespace tally::test
