#pragma once

#include <bit>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cache_summaries.hpp"
#include "lru_cache.hpp"
#include "request_trace.hpp"
#include "tally/summaries/send_policy.hpp"

namespace tally::experiments {

/// When proxies send. A proxy gets one request a second, so that times are requests, too.
struct NamedPolicy {
  static constexpr double no_share = 1e9;
  static constexpr double reference_share = 0.01;
  static constexpr double large_share = 0.1;

  std::string name;
  double share = 0;           ///< of new documents
  std::uint64_t seconds = 0;  ///< 0 is never

  bool is_by_share() const { return seconds == 0; }
  /// The policy under which all kinds of summaries are tried.
  bool is_reference() const { return share == reference_share; }
  bool is_compared() const { return is_reference() || share == 0 || share == large_share; }

  SendPolicy policy() const {
    SendPolicy result;
    result.share_of_new_keys = share;
    if (seconds != 0) result.interval = std::chrono::seconds(seconds);
    return result;
  }
};

struct Protocol {
  std::size_t policy = 0;
  SummaryKind kind;
};

/// What was counted after the warm-up, for one way of knowing what the others have.
struct ProtocolCounts {
  std::uint64_t remote_hits = 0;       ///< a peer that was asked had the document
  std::uint64_t lost_remote_hits = 0;  ///< a peer had it, and none of those was asked
  std::uint64_t false_hits = 0;        ///< peers were asked, none had it
  std::uint64_t queries = 0;
  std::uint64_t query_bytes = 0;  ///< with their replies
  // Of pairs of a local miss and a peer:
  std::uint64_t held_pairs = 0;           ///< the peer has it
  std::uint64_t unknown_pairs = 0;        ///< the peer has it, the replica says no
  std::uint64_t not_announced_pairs = 0;  ///< neither has the peer it, nor had it when it last sent
  std::uint64_t false_pairs = 0;          ///< of these, the replica says yes
  std::uint64_t stale_pairs =
      0;               ///< the peer does not have it, but had when it last sent, and the replica says yes
  MessageCounts sent;  ///< to one peer
  std::uint64_t own_bytes = 0;
  std::uint64_t replica_bytes = 0;
  std::uint64_t num_saturated = 0;
  std::uint64_t largest_counter = 0;
};

struct PolicyCounts {
  std::uint64_t unknown_keys = 0;  ///< documents not announced, summed over the requests of their proxy
  std::uint64_t requests = 0;      ///< from message to message
  std::uint64_t num_messages = 0;
  std::uint64_t num_changes = 0;  ///< documents that came or went between a proxy's messages
};

struct RunCounts {
  std::uint64_t requests = 0;
  std::uint64_t local_hits = 0;
  std::vector<PolicyCounts> policies;
  std::vector<ProtocolCounts> exact;      ///< by policy: the URLs themselves
  std::vector<ProtocolCounts> summaries;  ///< by protocol
  ProtocolCounts everyone;                ///< a miss asks all
};

/// 2 to 31 proxies with a cache each. A local miss asks the peers that a protocol names, one after the
/// other until one has the document (or all at once, if it names everyone), and the document comes into the
/// local cache, from a peer or not. A peer that serves a document does not take it for asked for. So all
/// protocols see the same caches, and one run serves for all.
class CooperatingCaches {
 public:
  CooperatingCaches(std::uint32_t num_proxies, std::uint32_t capacity, std::uint32_t num_documents,
                    const std::vector<NamedPolicy>& policies, const std::vector<Protocol>& protocols,
                    std::uint64_t seed)
      : num_proxies_(num_proxies), capacity_(capacity), seed_(seed), holders_(num_documents) {
    for (std::uint32_t i = 0; i < num_proxies; ++i) caches_.emplace_back(capacity, num_documents);
    for (const NamedPolicy& named : policies)
      policies_.push_back(
          {named.policy(), std::vector<std::uint32_t>(num_documents), std::vector<Pending>(num_proxies)});
    for (const Protocol& protocol : protocols)
      summaries_.push_back({protocol.policy, protocol.kind.make(capacity, num_proxies)});
    counts_.policies.resize(policies.size());
    counts_.exact.resize(policies.size());
    counts_.summaries.resize(protocols.size());
  }

  /// Of the exact directory: a header, and the MD5 of every URL that came or went.
  static std::uint64_t exact_message_bytes(std::uint64_t num_changes) { return 20 + 16 * num_changes; }

  /// Fills the caches; nothing is counted or sent.
  void warm_up(Request request) {
    LruCache& cache = caches_[request.proxy];
    if (cache.contains(request.document)) return cache.touch(request.document);
    exchange(request);
  }

  /// Everybody sends what he has; from now on all is counted.
  void begin() {
    for (Policy& policy : policies_) policy.announced = holders_;
    for (Summaries& summaries : summaries_) {
      for (std::uint32_t proxy = 0; proxy < num_proxies_; ++proxy) {
        caches_[proxy].for_each(
            [&](std::uint32_t document) { summaries.all->insert(proxy, digest(document)); });
        summaries.all->publish(proxy);
      }
      summaries.all->counts = {};
    }
  }

  void serve(Request request, std::uint32_t url_bytes) {
    ++counts_.requests;
    now_ += std::chrono::microseconds(1'000'000 / num_proxies_);
    LruCache& cache = caches_[request.proxy];
    if (cache.contains(request.document)) {
      ++counts_.local_hits;
      cache.touch(request.document);
    } else {
      ask_peers(request, url_bytes);
      const Hash128 incoming = digest(request.document);
      const std::optional<std::uint32_t> evicted = exchange(request);
      for (Summaries& summaries : summaries_) {
        if (evicted) summaries.all->remove(request.proxy, digest(*evicted));
        summaries.all->insert(request.proxy, incoming);
      }
      for (Policy& policy : policies_) {
        Pending& pending = policy.pending[request.proxy];
        pending.inserted.push_back(request.document);
        if (evicted) pending.removed.push_back(*evicted);
      }
    }
    send_what_is_due(request.proxy);
  }

  RunCounts counts() const {
    RunCounts result = counts_;
    for (std::size_t i = 0; i < summaries_.size(); ++i) {
      ProtocolCounts& counts = result.summaries[i];
      counts.sent = summaries_[i].all->counts;
      counts.own_bytes = summaries_[i].all->own_bytes();
      counts.replica_bytes = summaries_[i].all->replica_bytes();
      counts.num_saturated = summaries_[i].all->num_saturated();
      counts.largest_counter = summaries_[i].all->largest_counter();
    }
    return result;
  }

 private:
  struct Pending {
    std::vector<std::uint32_t> inserted;
    std::vector<std::uint32_t> removed;
    std::chrono::microseconds last_sent{0};
    std::uint64_t unknown_keys = 0;  // as in PolicyCounts, since the last message
    std::uint64_t requests = 0;
  };
  struct Policy {
    SendPolicy policy;
    std::vector<std::uint32_t> announced;  // of each document, bit i: proxy i had it when it last sent
    std::vector<Pending> pending;          // of each proxy
  };
  struct Summaries {
    std::size_t policy;
    std::unique_ptr<CacheSummaries> all;
  };

  // ICP version 2 (RFC 2186): a header of 20 bytes; a query has 4 more and the URL with its NUL, a reply the URL.
  static std::uint64_t query_and_reply_bytes(std::uint32_t url_bytes) {
    return (20 + 4 + url_bytes + 1) + (20 + url_bytes + 1);
  }

  Hash128 digest(std::uint32_t document) const { return hash_key(std::uint64_t{document}, seed_); }

  std::optional<std::uint32_t> exchange(Request request) {
    const std::uint32_t own = 1u << request.proxy;
    const std::optional<std::uint32_t> evicted = caches_[request.proxy].insert(request.document);
    if (evicted) holders_[*evicted] &= ~own;
    holders_[request.document] |= own;
    return evicted;
  }

  /// The set of proxies, told from this one's next on.
  std::uint32_t from_next_of(std::uint32_t proxy, std::uint32_t proxies) const {
    const std::uint32_t first = (proxy + 1) % num_proxies_;
    return (proxies >> first | proxies << (num_proxies_ - first)) & all_proxies();
  }
  std::uint32_t all_proxies() const { return (1u << num_proxies_) - 1; }

  /// How many of `told` are asked, one after the other, until one has it.
  std::uint64_t num_asked(std::uint32_t proxy, std::uint32_t told, std::uint32_t held) const {
    told = from_next_of(proxy, told);
    const std::uint32_t has = told & from_next_of(proxy, held);
    const std::uint32_t up_to_first = has == 0 ? ~0u : has ^ (has - 1);
    return static_cast<std::uint64_t>(std::popcount(told & up_to_first));
  }

  void ask_peers(Request request, std::uint32_t url_bytes) {
    const std::uint32_t peers = all_proxies() & ~(1u << request.proxy);
    const std::uint32_t held = holders_[request.document] & peers;
    const auto count = [&](ProtocolCounts& counts, std::uint32_t announced, std::uint32_t told,
                           bool at_once) {
      const auto num = [](std::uint32_t set) { return static_cast<std::uint64_t>(std::popcount(set)); };
      told &= peers;
      const std::uint64_t queries = at_once ? num(told) : num_asked(request.proxy, told, held);
      counts.remote_hits += (told & held) != 0;
      counts.lost_remote_hits += held != 0 && (told & held) == 0;
      counts.false_hits += told != 0 && (told & held) == 0;
      counts.queries += queries;
      counts.query_bytes += queries * query_and_reply_bytes(url_bytes);
      counts.held_pairs += num(held);
      counts.unknown_pairs += num(held & ~told);
      counts.not_announced_pairs += num(peers & ~held & ~announced);
      counts.false_pairs += num(told & ~held & ~announced);
      counts.stale_pairs += num(told & ~held & announced);
    };
    count(counts_.everyone, 0, peers, true);
    for (std::size_t i = 0; i < policies_.size(); ++i) {
      const std::uint32_t announced = policies_[i].announced[request.document];
      count(counts_.exact[i], announced, announced, false);
    }
    const Hash128 asked = digest(request.document);
    for (std::size_t i = 0; i < summaries_.size(); ++i)
      count(counts_.summaries[i], policies_[summaries_[i].policy].announced[request.document],
            summaries_[i].all->told(asked), false);
  }

  void send_what_is_due(std::uint32_t proxy) {
    for (std::size_t i = 0; i < policies_.size(); ++i) {
      Policy& policy = policies_[i];
      Pending& pending = policy.pending[proxy];
      PendingChanges changes;
      changes.num_keys = caches_[proxy].size();
      changes.num_inserted = pending.inserted.size();
      changes.num_removed = pending.removed.size();
      if (policy.policy.is_due(changes, now_ - pending.last_sent)) send(i, proxy);
      pending.unknown_keys += pending.inserted.size();
      ++pending.requests;
    }
  }

  void send(std::size_t index, std::uint32_t proxy) {
    Policy& policy = policies_[index];
    Pending& pending = policy.pending[proxy];
    const std::uint32_t own = 1u << proxy;
    std::uint64_t num_changed = 0;
    const auto announce = [&](std::uint32_t document) {
      std::uint32_t& announced = policy.announced[document];
      const std::uint32_t now = (announced & ~own) | (holders_[document] & own);
      num_changed += now != announced;
      announced = now;
    };
    for (const std::uint32_t document : pending.inserted) announce(document);
    for (const std::uint32_t document : pending.removed) announce(document);
    PolicyCounts& counts = counts_.policies[index];
    counts.num_changes += pending.inserted.size() + pending.removed.size();
    counts.unknown_keys += pending.unknown_keys;
    counts.requests += pending.requests;
    ++counts.num_messages;
    ++counts_.exact[index].sent.num_messages;
    counts_.exact[index].sent.num_bytes += exact_message_bytes(num_changed);
    pending.inserted.clear();
    pending.removed.clear();
    pending.last_sent = now_;
    pending.unknown_keys = pending.requests = 0;
    for (Summaries& summaries : summaries_)
      if (summaries.policy == index) summaries.all->publish(proxy);
  }

  std::uint32_t num_proxies_;
  std::uint32_t capacity_;
  std::uint64_t seed_;
  std::chrono::microseconds now_{0};
  std::vector<LruCache> caches_;
  std::vector<std::uint32_t> holders_;  // of each document, bit i: proxy i has it
  std::vector<Policy> policies_;
  std::vector<Summaries> summaries_;
  RunCounts counts_;
};

}  // namespace tally::experiments
