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

#include "tally/filters/key_batch.hpp"
#include "tally/summaries/message.hpp"
#include "tally/summaries/peer_table.hpp"
#include "tally/summaries/status.hpp"
#include "tally/summaries/terms.hpp"

namespace tally {

/// The copies of all peers' summaries: which of them may have this key?
///
/// One hash a key. Copies of one layout lie side by side, so that what a key's positions say of all of them comes in few
/// lines: of 1000 peers with k bits a key, k times 125 bytes. So give all nodes one shape where you can; peers of
/// other shapes work as well, each shape at the price of its own positions.
/// Laws of each copy, and of messages, are those of SummaryReplica.
/// Thread rule: reads (const functions) may run together, a write runs alone.
class SummarySet {
 public:
  using Peer = std::uint32_t;  ///< a number that stays with the peer; of a removed one it is used again

  explicit SummarySet(const SummaryTerms& terms);

  struct Applied {
    Peer peer = 0;
    ApplyResult result = ApplyResult::unchanged;
  };

  /// Takes a message of any publisher; one not heard of yet becomes a peer. A request changes nothing (and makes
  /// no peer: it is answered by the publisher it names). Throws as SummaryReplica::apply, and std::invalid_argument where
  /// max_peers or max_total_bytes would be exceeded.
  Applied apply(std::span<const std::byte> message);
  Applied apply(const SummaryMessage& message);

  /// The peer so called; nothing if there is none.
  std::optional<Peer> find(std::string_view publisher) const;
  /// Forgets a peer and its copy. False if there is none.
  bool remove(std::string_view publisher);

  /// Every peer that may have the key, by ascending number.
  template <class Key>
  std::vector<Peer> who_may_have(const Key& key) const {
    std::vector<Peer> peers;
    const Hash128 digest = terms_.hasher(key);
    for (const Found& found : ask(std::span(&digest, 1))) peers.push_back(found.peer);
    return peers;
  }

  /// visit(index of the key, peer) for every peer that may have it: by ascending index, and of one key by peer.
  template <KeyBatch Keys, class Visit>
  void who_may_have_batch(const Keys& key_range, Visit visit) const {
    const std::span keys(key_range);
    std::array<Hash128, keys_a_part> digests;
    for (std::size_t first = 0; first < keys.size(); first += keys_a_part) {
      const std::size_t count = std::min(keys_a_part, keys.size() - first);
      for (std::size_t i = 0; i < count; ++i) digests[i] = terms_.hasher(keys[first + i]);
      for (const Found& found : ask(std::span<const Hash128>(digests.data(), count))) {
        visit(first + found.key, found.peer);
      }
    }
  }

  std::size_t num_peers() const noexcept { return by_name_.size(); }
  /// visit(peer) for every peer, by name.
  template <class Visit>
  void for_each_peer(Visit visit) const {
    for (const auto& [name, peer] : by_name_) visit(peer);
  }

  /// Of a peer that find, apply or for_each_peer gave.
  const std::string& name(Peer peer) const { return peers_.at(peer).name; }
  const SummaryStatus& status(Peer peer) const { return peers_.at(peer).status; }
  double estimated_false_positive_rate(Peer peer) const;
  /// The layout of the copy held; nothing before the first full copy.
  const SummaryLayout* layout(Peer peer) const noexcept;
  /// Unit i of the copy held.
  std::uint32_t unit(Peer peer, std::uint64_t i) const;
  /// Asks the peer for a full copy.
  std::vector<std::byte> request(Peer peer, SummaryTime now = summary_time_now()) const;

  /// Of all copies.
  std::uint64_t num_bytes() const noexcept;
  const SummaryTerms& terms() const noexcept { return terms_; }

 private:
  static constexpr std::size_t keys_a_part = 128;

  struct Found {
    std::uint32_t key = 0;
    Peer peer = 0;
    friend auto operator<=>(const Found&, const Found&) = default;
  };

  // All copies of one layout, and whose each column is.
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
  Group& group_for(const SummaryLayout& layout);
  Peer add(std::string_view publisher);
  ApplyResult take(const SummaryMessage& message, Peer peer);
  void leave_group(Entry& entry) noexcept;
  void drop_empty_groups() noexcept;
  void require_room(const Group& group) const;

  SummaryTerms terms_;
  std::vector<std::unique_ptr<Group>> groups_;
  std::vector<Entry> peers_;
  std::vector<Peer> unused_;
  std::map<std::string, Peer, std::less<>> by_name_;
};

}  // namespace tally
