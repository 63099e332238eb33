#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cache_law.hpp"
#include "cooperating_caches.hpp"
#include "report.hpp"
#include "tally/theory/bloom.hpp"
#include "tally/theory/dleft_fingerprints.hpp"
#include "tally/theory/summary_cache.hpp"
#include "tally/theory/tails.hpp"

namespace tally::experiments {

struct Caches {
  std::string name;
  std::uint32_t num_proxies = 0;
  std::uint32_t capacity = 0;
  std::optional<TraceShape> trace = {};  ///< of a generated one
  bool is_brief = false;                 ///< the page has one policy and one kind of summary
};

/// The rows of one set of caches, over all runs. Settings that begin with 'curve' are in the CSV and the plot only.
class CacheRows {
 public:
  CacheRows(Caches caches, std::vector<RunCounts> runs, const std::vector<NamedPolicy>& policies,
            Report& report)
      : caches_(std::move(caches)), runs_(std::move(runs)), policies_(policies), report_(report) {
    if (caches_.trace) law_.emplace(*caches_.trace, caches_.capacity);
  }

  void add_all(const std::vector<Protocol>& protocols) {
    begin("", std::nullopt, true);
    const auto law = [&](double CacheLaw::*value) {
      return law_ ? std::optional((*law_).*value) : std::nullopt;
    };
    add("local hit ratio", law(&CacheLaw::local_hits), plain(local_hits()));
    add("remote hit ratio if all are asked", law(&CacheLaw::remote_hits),
        plain(over_requests([](const RunCounts& run) { return run.everyone.remote_hits; })));
    if (law_) add("requests for a new document over those for a mean one", law_->new_key_popularity, {});
    for (std::size_t i = 0; i < policies_.size(); ++i) add_policy(i);
    begin(" no sharing", std::nullopt, true);
    add_costs([](const RunCounts&) { return ProtocolCounts{}; });
    begin(" ask everyone (ICP)", std::nullopt, true);
    add_costs([](const RunCounts& run) { return run.everyone; });
    for (std::size_t i = 0; i < policies_.size(); ++i) {
      begin(" exact directory " + policies_[i].name, x_of(policies_[i]), is_shown(policies_[i]));
      const std::uint64_t keys = message_keys(policies_[i]);
      const auto message_bytes = static_cast<double>(CooperatingCaches::exact_message_bytes(2 * keys));
      add_costs([i](const RunCounts& run) { return run.exact[i]; },
                policies_[i].is_by_share() ? std::optional(update_bytes(keys, message_bytes)) : std::nullopt);
    }
    for (std::size_t i = 0; i < protocols.size(); ++i) add_summary(i, protocols[i]);
  }

 private:
  double n() const { return caches_.capacity; }
  double num_peers() const { return caches_.num_proxies - 1; }

  /// New documents in a message.
  std::uint64_t message_keys(const NamedPolicy& policy) const {
    return static_cast<std::uint64_t>(std::max(1.0, std::ceil(policy.share * n())));
  }
  std::optional<double> x_of(const NamedPolicy& policy) const {
    if (!policy.is_by_share()) return std::nullopt;
    return static_cast<double>(message_keys(policy)) / n();
  }

  bool is_shown(const NamedPolicy& policy) const {
    return caches_.is_brief ? policy.is_reference() : policy.is_compared();
  }

  /// The rows that follow: their setting and place on the plot, and whether they are on the page.
  void begin(const std::string& what, std::optional<double> x, bool on_page) {
    setting_ = (on_page ? "" : "curve ") + caches_.name + what;
    x_ = x;
  }

  void add(std::string quantity, std::optional<double> predicted, std::optional<Measured> measured,
           std::string published = {}) {
    report_.add({.setting = setting_,
                 .quantity = std::move(quantity),
                 .x = x_,
                 .published = std::move(published),
                 .predicted = predicted,
                 .measured = std::move(measured)});
  }

  template <class Value>
  Mean mean_of(Value value) const {
    Mean mean;
    for (const RunCounts& run : runs_) mean.add(value(run));
    return mean;
  }
  static double ratio(auto part, auto whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  }
  template <class Value>
  Mean over_requests(Value value) const {
    return mean_of([&](const RunCounts& run) { return ratio(value(run), run.requests); });
  }
  Mean local_hits() const {
    return over_requests([](const RunCounts& run) { return run.local_hits; });
  }
  Measured plain(const Mean& mean) const { return without_limits(mean.mean(), runs_.size()); }

  theory::Staleness staleness(const NamedPolicy& policy) const {
    const double misses = 1 - local_hits().mean();  // of a proxy, a second
    theory::DirectoryChange change{.num_keys = n(), .insertion_rate = misses, .removal_rate = misses};
    if (law_) change.new_key_popularity = change.removed_key_popularity = law_->new_key_popularity;
    theory::SendLimits limits;
    if (policy.share < NamedPolicy::no_share) limits.new_share = policy.share;
    if (policy.seconds != 0) limits.interval = static_cast<double>(policy.seconds);
    return theory::summary_staleness(change, limits);
  }

  void add_policy(std::size_t i) {
    const NamedPolicy& policy = policies_[i];
    const theory::Staleness predicted = staleness(policy);
    begin(" send " + policy.name, x_of(policy), !caches_.is_brief);
    const Mean unknown = mean_of(
        [&](const RunCounts& run) { return ratio(run.policies[i].unknown_keys, run.policies[i].requests); });
    // Misses are as good as a Poisson process where they are counted; where they are timed, nearly.
    add("documents a replica does not know", predicted.unknown_keys,
        policy.is_by_share() && law_ ? Measured(unknown) : plain(unknown));
    const auto over_pairs = [&](auto member) {
      return plain(mean_of(
          [&](const RunCounts& run) { return ratio(run.exact[i].*member, run.exact[i].held_pairs); }));
    };
    const auto law = [&](double share) { return law_ ? std::optional(share) : std::nullopt; };
    add("stale misses over pairs of a miss and a peer that has the document", law(predicted.stale_miss_share),
        over_pairs(&ProtocolCounts::unknown_pairs));
    add("stale hits over the same pairs", law(predicted.stale_hit_share),
        over_pairs(&ProtocolCounts::stale_pairs));
  }

  /// `of` gives the counts of a protocol in a run.
  template <class Of>
  void add_costs(Of of, std::optional<double> predicted_update_bytes = {}) {
    const auto put = [&](std::string quantity, auto value, std::optional<double> predicted = {}) {
      add(std::move(quantity), predicted,
          plain(over_requests([&](const RunCounts& run) { return value(run, of(run)); })));
    };
    put("hit ratio local and remote", [](const RunCounts& run, const ProtocolCounts& counts) {
      return run.local_hits + counts.remote_hits;
    });
    put("lost remote hits a request",
        [](const RunCounts&, const ProtocolCounts& counts) { return counts.lost_remote_hits; });
    put("false hits a request",
        [](const RunCounts&, const ProtocolCounts& counts) { return counts.false_hits; });
    put("messages a request", [&](const RunCounts&, const ProtocolCounts& counts) {
      return 2.0 * static_cast<double>(counts.queries) +
             num_peers() * static_cast<double>(counts.sent.num_messages);
    });
    put("bytes a request", [&](const RunCounts&, const ProtocolCounts& counts) {
      return static_cast<double>(counts.query_bytes) +
             num_peers() * static_cast<double>(counts.sent.num_bytes);
    });
    put(
        "bytes a request for updates",
        [&](const RunCounts&, const ProtocolCounts& counts) {
          return num_peers() * static_cast<double>(counts.sent.num_bytes);
        },
        predicted_update_bytes);
  }

  void add_summary(std::size_t i, const Protocol& protocol) {
    const NamedPolicy& policy = policies_[protocol.policy];
    const SummaryKind& kind = protocol.kind;
    const std::string what = " " + kind.name() + " " + policy.name;
    const std::optional<double> x = x_of(policy);
    const auto of = [i](const RunCounts& run) -> const ProtocolCounts& { return run.summaries[i]; };
    const auto mean = [&](auto value) {
      return plain(mean_of([&](const RunCounts& run) { return value(of(run)); }));
    };
    if (policy.is_reference()) {
      begin(what, kind.bits_per_key, !caches_.is_brief);
      add("false positive rate", false_positive_rate(kind), false_positives(i), printed_rate(kind));
    }
    const bool all_kinds = policy.is_reference() && !caches_.is_brief;
    begin(what, x, is_shown(policy) && (all_kinds ? kind.is_compared() : kind.is_main()));
    const std::uint64_t keys = message_keys(policy);
    const DeltaLaw law = policy.is_by_share() ? delta_law(kind, keys) : DeltaLaw{};
    add_costs(of, policy.is_by_share() ? std::optional(update_bytes(keys, law.bytes)) : std::nullopt);
    add("bytes a request for updates by full copies", {}, plain(over_requests([&](const RunCounts& run) {
          const MessageCounts& sent = of(run).sent;
          return num_peers() * static_cast<double>(sent.num_messages) * ratio(sent.full_bytes, sent.num_full);
        })));
    if (policy.is_by_share()) {
      add((kind.has_bits() ? "flipped bits" : "changed cells") + std::string(" of a delta"),
          law.changed_units, mean([](const ProtocolCounts& counts) {
            return ratio(counts.sent.changed_units, counts.sent.num_deltas);
          }));
      add("bytes of a delta with its header", law.bytes, mean([](const ProtocolCounts& counts) {
            return ratio(counts.sent.delta_bytes, counts.sent.num_deltas);
          }));
    }
    if (!policy.is_reference()) return;
    add("bytes of memory of a proxy: its filter and copies of all peers", {},
        mean([&](const ProtocolCounts& counts) {
          return static_cast<double>(counts.own_bytes) +
                 num_peers() * static_cast<double>(counts.replica_bytes);
        }));
    if (kind.has_bits()) add_counters(i, kind);
  }

  /// At 10 bits per key.
  static std::string printed_rate(const SummaryKind& kind) {
    if (kind.bits_per_key != 10) return "";
    return kind.num_hashes == 4 ? "0.012" : kind.num_hashes == 5 ? "0.009" : "";
  }

  double false_positive_rate(const SummaryKind& kind) const {
    if (kind.has_bits()) {
      const CountingBloomShape shape = kind.bloom_shape(caches_.capacity);
      return theory::false_positive_probability(shape.num_counters, shape.num_hashes, caches_.capacity);
    }
    const FingerprintSpace space = kind.dleft_shape(caches_.capacity).fingerprint_space();
    return theory::dleft_false_positive_probability(space.num_buckets, space.num_remainders(),
                                                    caches_.capacity);
  }

  /// Of pairs of a miss and a peer that has not got the document and had not when it last sent. They come in bunches:
  /// a document is asked for again.
  Measured false_positives(std::size_t i) const {
    Events events;
    double pairs = 0;
    for (const RunCounts& run : runs_) {
      events.add(run.summaries[i].false_pairs);
      pairs += static_cast<double>(run.summaries[i].not_announced_pairs) / static_cast<double>(runs_.size());
    }
    if (pairs == 0) return without_limits(0, runs_.size());
    const Measured a_run = events;
    if (!law_) return without_limits(a_run.value / pairs, a_run.trials);  // how they bunch takes many runs
    return {a_run.value / pairs, a_run.trials, [a_run, pairs](double confidence) -> Limits {
              const Limits limits = a_run.limits(confidence);
              return {limits.low / pairs, limits.high / pairs};
            }};
  }

  struct DeltaLaw {
    double changed_units = 0;
    double bytes = 0;  ///< with its header
  };

  /// For a delta after `keys` documents were inserted and as many removed.
  DeltaLaw delta_law(const SummaryKind& kind, std::uint64_t keys) const {
    const std::uint64_t num_keys = caches_.capacity;
    constexpr double header = summary_header_bytes + 8;  // 'proxy 1', filled up
    keys = std::min(keys, num_keys);
    if (kind.has_bits()) {
      const CountingBloomShape shape = kind.bloom_shape(num_keys);
      const double share = theory::flipped_share(shape.num_counters, shape.num_hashes, num_keys, keys, keys);
      return {share * static_cast<double>(shape.num_counters),
              header + theory::rice_delta_bits(shape.num_counters, share) / 8};
    }
    // An emptied cell is one bit, a new one two and its remainder.
    const std::uint64_t cells = kind.dleft_shape(num_keys).num_cells();
    const double changed = theory::dleft_changed_cells(cells, num_keys, keys, keys);
    const auto filled = static_cast<double>(keys);
    const double bits = theory::rice_delta_bits(cells, changed / static_cast<double>(cells)) + changed -
                        filled + filled * (2 + kind.remainder_bits);
    return {changed, header + bits / 8};
  }

  /// Bytes of updates per request, if a message of `keys` new documents has `message_bytes` bytes.
  double update_bytes(std::uint64_t keys, double message_bytes) const {
    return num_peers() * (1 - local_hits().mean()) / static_cast<double>(keys) * message_bytes;
  }

  void add_counters(std::size_t i, const SummaryKind& kind) {
    Events saturated;
    std::uint64_t largest = 0;
    double insertions = 0;
    for (const RunCounts& run : runs_) {
      saturated.add(run.summaries[i].num_saturated);
      largest = std::max(largest, run.summaries[i].largest_counter);
      insertions += static_cast<double>(run.requests - run.local_hits) + n() * (num_peers() + 1);
    }
    const double rise = kind.num_hashes * std::exp(theory::ln_binomial_point(14, (n() - 1) * kind.num_hashes,
                                                                             1 / (n() * kind.bits_per_key)));
    add("insertions of a run that take a 4-bit counter to 15",
        rise * insertions / static_cast<double>(runs_.size()), saturated);
    add("largest counter seen", {}, without_limits(static_cast<double>(largest), runs_.size()));
  }

  Caches caches_;
  std::vector<RunCounts> runs_;
  const std::vector<NamedPolicy>& policies_;
  Report& report_;
  std::optional<CacheLaw> law_;
  std::string setting_;
  std::optional<double> x_;
};

}  // namespace tally::experiments
