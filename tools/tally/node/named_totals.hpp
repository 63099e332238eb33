#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "node/node_totals.hpp"

namespace tally::cli {

/// A total, as metrics (`tally_node_NAME_total`) and JSON (the member NAME) present it.
struct NamedTotal {
  std::string_view name;
  std::string_view help;
  std::uint64_t NodeTotals::*number;
};

inline constexpr std::array<NamedTotal, 12> named_totals{{
    {"versions_sent", "Versions of its summary that were sent.", &NodeTotals::num_versions_sent},
    {"copies_stored", "Full copies of it that were stored on the server.", &NodeTotals::num_copies_stored},
    {"copies_fetched", "Full copies of peers that were fetched.", &NodeTotals::num_copies_fetched},
    {"heartbeats_sent", "Messages that only confirm the last version.", &NodeTotals::num_heartbeats_sent},
    {"requests_sent", "Requests for full copies: versions that were lost.", &NodeTotals::num_requests_sent},
    {"messages_received", "Messages of other nodes.", &NodeTotals::num_received},
    {"versions_lost", "Times that the copy of a peer fell behind, as a message did not arrive.",
     &NodeTotals::num_gaps},
    {"versions_repaired", "Times that such a copy has caught up.", &NodeTotals::num_gaps_closed},
    {"lookups", "Keys that were asked for.", &NodeTotals::num_lookups},
    {"lookups_maybe", "Those of them that some peer may have.", &NodeTotals::num_lookups_maybe},
    {"name_conflicts", "Messages of another node with the same name.", &NodeTotals::num_name_conflicts},
    {"strangers_removed", "Peers that made room for new ones.", &NodeTotals::num_strangers_removed},
}};

}  // namespace tally::cli
