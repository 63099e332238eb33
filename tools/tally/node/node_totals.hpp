#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>

#include "tally/summaries/message.hpp"

namespace tally::cli {

/// Bytes of messages, by their kind. Full copies are those that were stored or fetched.
class BytesByKind {
 public:
  static constexpr std::array<SummaryMessageKind, 5> kinds = {
      SummaryMessageKind::full, SummaryMessageKind::delta, SummaryMessageKind::heartbeat,
      SummaryMessageKind::request, SummaryMessageKind::stored};

  void add(SummaryMessageKind kind, std::size_t num_bytes) noexcept { bytes_[place_of(kind)] += num_bytes; }
  std::uint64_t of(SummaryMessageKind kind) const noexcept { return bytes_[place_of(kind)]; }
  std::uint64_t total() const noexcept {
    return std::accumulate(bytes_.begin(), bytes_.end(), std::uint64_t{0});
  }

 private:
  static std::size_t place_of(SummaryMessageKind kind) noexcept { return static_cast<std::size_t>(kind) - 1; }
  std::array<std::uint64_t, kinds.size()> bytes_{};
};

/// Why a message was refused.
enum class MessageRefusal : std::size_t {
  invalid,        ///< it is damaged
  not_authentic,  ///< it has no MAC of the group's key
  terms,          ///< another hash or channel, or larger than is allowed
  no_room,        ///< there are as many peers, or as much memory, as are allowed
  no_memory,      ///< an allocation failed
  too_many_new    ///< more new peers in a second than are allowed
};

/// The name, in metrics.
inline constexpr std::array<std::string_view, 6> refusal_names = {"invalid", "not_authentic", "terms",
                                                                  "no_room", "no_memory",     "too_many_new"};

/// In one report of a client.
inline constexpr std::uint64_t max_false_positives_reported = 1'000'000'000;

/// What a node has done so far.
struct NodeTotals {
  std::uint64_t num_versions_sent = 0;  ///< deltas, and full copies if those were shorter
  std::uint64_t num_copies_stored = 0;  ///< full copies that the server took, for a version or on request
  std::uint64_t num_copies_fetched = 0;
  std::uint64_t num_heartbeats_sent = 0;
  std::uint64_t num_requests_sent = 0;
  BytesByKind sent;                      ///< of messages, and of copies that the server took
  std::uint64_t num_received = 0;        ///< messages of other nodes
  std::uint64_t num_bytes_received = 0;  ///< of these, and of copies that were fetched
  std::array<std::uint64_t, refusal_names.size()> refused{};
  std::uint64_t num_name_conflicts = 0;     ///< messages of another node with our name
  std::uint64_t num_strangers_removed = 0;  ///< peers that made room for new ones
  std::uint64_t num_gaps = 0;               ///< times that a copy fell behind, as messages were lost
  std::uint64_t num_gaps_closed = 0;
  std::uint64_t num_lookups = 0;        ///< keys that were asked for
  std::uint64_t num_lookups_maybe = 0;  ///< those of them that some peer may have

  void refuse(MessageRefusal reason) noexcept { ++refused[static_cast<std::size_t>(reason)]; }
  std::uint64_t num_refused(MessageRefusal reason) const noexcept {
    return refused[static_cast<std::size_t>(reason)];
  }
  std::uint64_t num_refused() const noexcept {
    return std::accumulate(refused.begin(), refused.end(), std::uint64_t{0});
  }
};

}  // namespace tally::cli
