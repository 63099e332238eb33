#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tally/export.hpp"
#include "tally/filters/key_batch.hpp"
#include "tally/summaries/message.hpp"
#include "tally/summaries/peer_table.hpp"
#include "tally/summaries/status.hpp"
#include "tally/summaries/terms.hpp"

namespace tally {

/// The copies of all peers' summaries: which of them may have this key?
///
/// Each key is hashed once. Copies of one layout are stored side by side, so that a lookup in all of them
/// reads few cache lines: with 1000 peers and k bits per key, k times 125 bytes. So give all nodes the same
/// shape if you can. Peers with other shapes work too; each further shape costs lookups of its own. The
/// guarantees for each copy and for messages are those of SummaryReplica.
/// Threads: const functions may run concurrently; a write needs exclusive access.
class TALLY_EXPORT SummarySet {
 public:
  using Peer = std::uint32_t;  ///< a number that stays with the peer; the number of a removed peer is reused

  explicit SummarySet(const SummaryTerms& terms);

  /// What a message did, and to the copy of which peer.
  struct Applied {
    Peer peer = 0;
    ApplyResult result = ApplyResult::unchanged;
  };

  /// Applies a message of any publisher. Only a full copy makes a new publisher a peer: other messages of it change nothing,
  /// and the result is `unknown`. A request changes nothing either: the publisher that it names answers it. Throws what
  /// SummaryReplica::apply throws, and NoRoomForPeer if max_peers or max_total_bytes would be exceeded.
  Applied apply(std::span<const std::byte> message);
  Applied apply(const SummaryMessage& message);

  /// The peer with this name; empty if there is none.
  std::optional<Peer> find(std::string_view publisher) const;
  /// Removes a peer and its copy. Returns false if there is none.
  bool remove(std::string_view publisher);

  /// Every peer that may have the key, in ascending order.
  template <Key K>
  std::vector<Peer> who_may_have(K&& key) const {
    std::vector<Peer> peers;
    const Hash128 digest = terms_.hasher(key);
    for (const Found& found : ask(std::span(&digest, 1))) peers.push_back(found.peer);
    return peers;
  }

  /// Calls visit(index of the key, peer) for every peer that may have it, ordered by index and then by peer.
  template <KeyBatch Keys, class Visit>
  void who_may_have_batch(const Keys& key_range, Visit visit) const {
    const std::span keys(key_range);
    std::array<Hash128, keys_per_part> digests;
    for (std::size_t first = 0; first < keys.size(); first += keys_per_part) {
      const std::size_t count = std::min(keys_per_part, keys.size() - first);
      for (std::size_t i = 0; i < count; ++i) digests[i] = terms_.hasher(keys[first + i]);
      for (const Found& found : ask(std::span<const Hash128>(digests.data(), count))) {
        visit(first + found.key, found.peer);
      }
    }
  }

  /// How many of some blocks a peer may hold, counted from the first without a gap.
  struct Prefix {
    Peer peer = 0;
    std::size_t num_blocks = 0;
    friend bool operator==(const Prefix&, const Prefix&) = default;
  };

  /// For the blocks of a request in their order, every peer that may hold the first one: the longest prefix first, and peers of
  /// equally long ones in ascending order. A prefix is never too short for what the peer has published. It is too long by j
  /// blocks or more with the probability theory::overstated_prefix_probability. The keys are hashed once, as far as any peer
  /// has a prefix.
  template <KeyBatch Keys>
  std::vector<Prefix> longest_prefix(const Keys& blocks) const {
    const std::span keys(blocks);
    return find_prefixes(keys.size(), [&](std::size_t i) { return terms_.hasher(keys[i]); });
  }

  std::size_t num_peers() const noexcept { return by_name_.size(); }
  /// Calls visit(peer) for every peer, ordered by name.
  template <class Visit>
  void for_each_peer(Visit visit) const {
    for (const auto& [name, peer] : by_name_) visit(peer);
  }

  /// For a peer that find, apply or for_each_peer returned.
  const std::string& name(Peer peer) const { return peers_.at(peer).name; }
  const SummaryStatus& status(Peer peer) const { return peers_.at(peer).status; }
  double estimated_false_positive_rate(Peer peer) const;
  /// The layout of the copy held; null before the first full copy.
  const SummaryLayout* layout(Peer peer) const noexcept;
  /// Unit i of the copy held.
  std::uint32_t unit(Peer peer, std::uint64_t i) const;
  /// A request to the peer for a full copy.
  std::vector<std::byte> request(Peer peer, SummaryTime now = summary_time_now()) const;
  /// The same to the publisher of a message, which is no peer yet.
  std::vector<std::byte> request_of_unknown(const SummaryMessage& heard,
                                            SummaryTime now = summary_time_now()) const;

  /// The memory of all copies.
  std::uint64_t num_bytes() const noexcept;
  const SummaryTerms& terms() const noexcept { return terms_; }

 private:
  static constexpr std::size_t keys_per_part = 128;

  struct Found {
    std::uint32_t key = 0;
    Peer peer = 0;
    friend auto operator<=>(const Found&, const Found&) = default;
  };

  // All copies of one layout, and the peer of each column.
  struct Group {
    PeerTable table;
    std::vector<Peer> owners;
  };

  struct Entry {
    std::string name;
    SummaryStatus status;
    SummaryLayout last_layout;  // of the last message
    Group* group = nullptr;     // none before the first full copy
    PeerTable::Column column = 0;
  };

  std::vector<Found> ask(std::span<const Hash128> digests) const;
  std::vector<Prefix> find_prefixes(std::size_t num_blocks,
                                    const std::function<Hash128(std::size_t)>& digest_of) const;
  Group& group_for(const SummaryLayout& layout);
  Peer add(std::string_view publisher);
  ApplyResult take(const SummaryMessage& message, Peer peer);
  void leave_group(Entry& entry) noexcept;
  void drop_empty_groups() noexcept;
  void require_room(const Group& group, std::uint64_t group_bytes) const;

  SummaryTerms terms_;
  std::vector<std::unique_ptr<Group>> groups_;
  std::vector<Entry> peers_;
  std::vector<Peer> unused_;
  std::map<std::string, Peer, std::less<>> by_name_;
};

}  // namespace tally
