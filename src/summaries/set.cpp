#include "tally/summaries/set.hpp"

#include <stdexcept>
#include <utility>

#include "summaries/apply.hpp"
#include "tally/detail/parameter_error.hpp"
#include "tally/summaries/delta.hpp"
#include "tally/summaries/replica.hpp"

namespace tally {

namespace {

constexpr std::string_view structure = "SummarySet";

// One copy in its group. `require_room(bytes)` throws if the group may not have this memory.
template <class RequireRoom>
struct ColumnUnits {
  PeerTable& table;
  PeerTable::Column column;
  RequireRoom require_room;

  template <class Each>
  void reserve(Each each) {
    require_room(table.peak_bytes_of_reserve(column, each));
    table.reserve(column, each);
  }
  std::uint32_t get(std::uint64_t unit) const noexcept { return table.get(column, unit); }
  void put(std::uint64_t unit, std::uint32_t value) noexcept { table.put(column, unit, value); }
};

[[noreturn]] void throw_no_room(const std::string& what, std::uint64_t value, std::uint64_t most,
                                const std::string& limit) {
  throw NoRoomForPeer(std::string(structure) + ": " + what + " is " + std::to_string(value) +
                      "; must be at most " + std::to_string(most) + " (" + limit + ")");
}

// A copy that alone exceeds the memory of all is refused before any work.
SummaryTerms terms_of_one_peer_in(SummaryTerms terms) {
  terms.max_bytes_per_peer = std::min(terms.max_bytes_per_peer, terms.max_total_bytes);
  return terms;
}

}  // namespace

SummarySet::SummarySet(const SummaryTerms& terms) : terms_(terms_of_one_peer_in(terms)) {}

SummarySet::Applied SummarySet::apply(std::span<const std::byte> message) {
  return apply(read_summary_message(message));
}

SummarySet::Applied SummarySet::apply(const SummaryMessage& message) {
  require_authentic(terms_, message);
  require_terms(terms_, message.layout, message.publisher);
  const auto known = by_name_.find(message.publisher);
  const bool is_new = known == by_name_.end();
  if (message.kind == SummaryMessageKind::request)
    return {is_new ? 0 : known->second, ApplyResult::unchanged};
  if (is_new && message.kind != SummaryMessageKind::full) return {0, ApplyResult::unknown};
  if (is_new && by_name_.size() >= terms_.max_peers) {
    throw_no_room("number of peers with '" + std::string(message.publisher) + "'", by_name_.size() + 1,
                  terms_.max_peers, "max_peers");
  }
  const Peer peer = is_new ? add(message.publisher) : known->second;
  try {
    return {peer, take(message, peer)};
  } catch (...) {
    if (is_new) remove(message.publisher);
    drop_empty_groups();
    throw;
  }
}

SummarySet::Peer SummarySet::add(std::string_view publisher) {
  if (unused_.empty()) {
    unused_.reserve(peers_.size() + 1);  // so that remove needs no memory
    peers_.emplace_back();
    unused_.push_back(static_cast<Peer>(peers_.size() - 1));
  }
  const Peer peer = unused_.back();
  peers_[peer].name = publisher;
  by_name_.emplace(publisher, peer);
  unused_.pop_back();
  return peer;
}

ApplyResult SummarySet::take(const SummaryMessage& message, Peer peer) {
  Entry& entry = peers_[peer];
  const SummaryLayout* const held = layout(peer);
  const auto units_in = [&](Group& group, PeerTable::Column column) {
    const auto require = [this, &group](std::uint64_t num_bytes) { require_room(group, num_bytes); };
    return ColumnUnits<decltype(require)>{group.table, column, require};
  };
  const auto each_unit = [&](auto visit) {
    (void)detail::read_units(message, [&](std::uint64_t unit, std::uint32_t) { visit(unit); });
  };
  const auto units = [&] { return units_in(*entry.group, entry.column); };
  const auto fresh_units = [&] {
    if (held != nullptr && *held == message.layout) {
      units().reserve(each_unit);
      entry.group->table.clear(entry.column);
      return units();
    }
    Group& group = group_for(message.layout);
    group.owners.reserve(group.table.end_of_columns_grown());
    const PeerTable::Column column = group.table.add_column();
    try {
      units_in(group, column).reserve(each_unit);
    } catch (...) {
      group.table.free_column(column);
      throw;
    }
    if (group.owners.size() <= column) group.owners.resize(column + 1);  // within the reserved memory
    leave_group(entry);
    group.owners[column] = peer;
    entry.group = &group;
    entry.column = column;
    drop_empty_groups();
    return units();
  };
  const ApplyResult result = detail::apply_message(message, entry.status, held, units, fresh_units);
  entry.last_layout = message.layout;
  return result;
}

SummarySet::Group& SummarySet::group_for(const SummaryLayout& layout) {
  for (const auto& group : groups_) {
    if (group->table.layout() == layout) return *group;
  }
  groups_.push_back(std::make_unique<Group>(Group{PeerTable(layout), {}}));
  return *groups_.back();
}

void SummarySet::require_room(const Group& group, std::uint64_t group_bytes) const {
  const std::uint64_t needed = num_bytes() - group.table.num_bytes() + group_bytes;
  if (needed <= terms_.max_total_bytes) return;
  throw_no_room("total bytes of all copies", needed, terms_.max_total_bytes, "max_total_bytes");
}

void SummarySet::leave_group(Entry& entry) noexcept {
  if (entry.group != nullptr) entry.group->table.free_column(entry.column);
  entry.group = nullptr;
}

void SummarySet::drop_empty_groups() noexcept {
  std::erase_if(groups_, [](const auto& group) { return group->table.num_columns() == 0; });
}

std::optional<SummarySet::Peer> SummarySet::find(std::string_view publisher) const {
  const auto found = by_name_.find(publisher);
  if (found == by_name_.end()) return std::nullopt;
  return found->second;
}

bool SummarySet::remove(std::string_view publisher) {
  const auto found = by_name_.find(publisher);
  if (found == by_name_.end()) return false;
  const Peer peer = found->second;
  leave_group(peers_[peer]);
  drop_empty_groups();
  peers_[peer] = Entry{};
  unused_.push_back(peer);
  by_name_.erase(found);
  return true;
}

// Processes windows of (layout, key): first their positions and the prefetches, then the answers.
std::vector<SummarySet::Found> SummarySet::ask(std::span<const Hash128> digests) const {
  constexpr std::size_t window = 64;
  std::vector<Found> found;
  std::vector<std::uint64_t> positions;
  std::vector<PeerTable::Column> passing;
  PeerTable::Scratch scratch;
  struct Item {
    const Group* group;
    std::uint32_t key;
    std::size_t first_position;
  };
  std::array<Item, window> items;
  std::size_t num_items = 0;
  const auto answer = [&] {
    for (std::size_t i = 0; i < num_items; ++i) {
      passing.clear();
      items[i].group->table.find_passing(positions.data() + items[i].first_position, scratch, passing);
      for (const PeerTable::Column column : passing) {
        found.push_back({items[i].key, items[i].group->owners[column]});
      }
    }
    num_items = 0;
    positions.clear();
  };
  for (const auto& group : groups_) {
    const SummaryPositions& scheme = group->table.positions();
    for (std::uint32_t key = 0; key < digests.size(); ++key) {
      const std::size_t first = positions.size();
      positions.resize(first + scheme.num_hashes());
      scheme.find(digests[key], positions.data() + first);
      group->table.prefetch(positions.data() + first);
      items[num_items++] = {group.get(), key, first};
      if (num_items == window) answer();
    }
  }
  answer();
  std::sort(found.begin(), found.end());
  return found;
}

double SummarySet::estimated_false_positive_rate(Peer peer) const {
  const SummaryLayout* const held = layout(peer);
  return held == nullptr ? 0 : summary_false_positive_rate(*held, status(peer).num_nonzero);
}

const SummaryLayout* SummarySet::layout(Peer peer) const noexcept {
  const Group* const group = peers_[peer].group;
  return group == nullptr ? nullptr : &group->table.layout();
}

std::uint32_t SummarySet::unit(Peer peer, std::uint64_t i) const {
  const Entry& entry = peers_.at(peer);
  return entry.group == nullptr ? 0 : entry.group->table.get(entry.column, i);
}

std::vector<std::byte> SummarySet::request(Peer peer, SummaryTime now) const {
  const Entry& entry = peers_.at(peer);
  return request_message({entry.name, entry.status.newest, entry.status.digest, now, signing_key(terms_)},
                         entry.last_layout);
}

std::vector<std::byte> SummarySet::request_of_unknown(const SummaryMessage& heard, SummaryTime now) const {
  return request_message({heard.publisher, heard.version, 0, now, signing_key(terms_)}, heard.layout);
}

std::uint64_t SummarySet::num_bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& group : groups_) sum += group->table.num_bytes();
  return sum;
}

}  // namespace tally
