#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tally/filters/key_batch.hpp"
#include "tally/summaries/peer_table.hpp"
#include "tally/summaries/summary_status.hpp"
#include "tally/summaries/summary_terms.hpp"

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
  SummarySet(SummarySet&&) noexcept;
  SummarySet& operator=(SummarySet&&) noexcept;
  ~SummarySet();

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
    ask(std::span(&digest, 1), [](void* out, std::size_t, Peer peer) {
      static_cast<std::vector<Peer>*>(out)->push_back(peer);
    }, &peers);
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
      const auto report = [&](std::size_t index, Peer peer) { visit(first + index, peer); };
      ask(std::span<const Hash128>(digests.data(), count), [](void* call, std::size_t index, Peer peer) {
        (*static_cast<decltype(report)*>(call))(index, peer);
      }, &report);
    }
  }
};

}  // namespace tally
