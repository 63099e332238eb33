#include "node/followed_peers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "node/message_text.hpp"
#include "text/output.hpp"

namespace tally::cli {
namespace {

// A request without an answer is repeated after twice the time, up to this.
constexpr Nanoseconds longest_between_requests = 30 * nanoseconds_per_second;
// A peer that stays at an earlier epoch after this many requests cannot learn the later one: its copy is restarted, unless
// messages are signed. A name that no copy came of is dropped after as many.
constexpr int most_requests = 5;
// Each one takes as much memory as a copy.
constexpr int most_fetches = 4;
// Peers that are removed to make room for another one.
constexpr int most_removed_for_one = 4;
constexpr std::size_t most_unknown_names = 4096;
// Deltas that wait for full copies take at most this part of the memory for copies.
constexpr std::uint64_t parts_of_memory = 16;
// The number of different faults that are printed; more are only counted, so that a noisy stranger does not fill the disk.
constexpr std::size_t most_faults_said = 100;
// A peer that has been heard over this many heartbeats, as often, is no stranger.
constexpr int heartbeats_to_last = 10;

SummaryTerms terms_of(const NodeOptions& options) {
  SummaryTerms terms = options.terms;
  terms.max_bytes_per_peer = std::min<std::uint64_t>(terms.max_bytes_per_peer, options.max_message_bytes);
  return terms;
}

std::vector<std::byte> copied(const SummaryMessage& message) {
  std::vector<std::byte> bytes(message.header.begin(), message.header.end());
  bytes.insert(bytes.end(), message.body.begin(), message.body.end());
  bytes.insert(bytes.end(), message.mac.begin(), message.mac.end());
  return bytes;
}

}  // namespace

FollowedPeers::FollowedPeers(const NodeOptions& options, const NodeChannels& channels, NodeTotals& totals,
                             RedisBus& bus, CopyStore& store, Nanoseconds now)
    : options_(options),
      channels_(channels),
      totals_(totals),
      bus_(bus),
      store_(store),
      copies_(terms_of(options)),
      tokens_(options.max_new_peers_per_second),
      tokens_at_(now),
      clocked_at_(now),
      next_forgetting_(now + options.heartbeat) {}

void FollowedPeers::take(const SummaryMessage& message, Nanoseconds now) {
  const auto before = known_.find(message.publisher);
  const bool is_new = before == known_.end();
  // A node that speaks version 2 may send everything again for those that do not.
  if (!is_new && message.format_version < before->second.format_version) return;
  // A copy on the channel comes from a node of version 1, or from a stranger.
  const bool adds_a_peer = message.kind == SummaryMessageKind::full && !is_peer(message.publisher);
  if (adds_a_peer && !take_token(now)) return totals_.refuse(MessageRefusal::too_many_new);
  SummarySet::Applied applied;
  try {
    applied = apply(message, now);
  } catch (...) {
    if (!is_new) note_refusal(before->second, now);
    throw;
  }
  Known* const known = known_of(message, now);
  if (known == nullptr) return;
  known->received.add(message.kind, message.header.size() + message.body.size() + message.mac.size());
  note(*known, message, applied, now);
}

// It lives, but what it says is not taken, so its copy is not what it has.
void FollowedPeers::note_refusal(Known& known, Nanoseconds now) const noexcept {
  known.at = now;
  known.listened_at = listening_;
  known.is_refused = true;
}

SummarySet::Applied FollowedPeers::apply(const SummaryMessage& message, Nanoseconds now) {
  for (int num_removed = 0;; ++num_removed) {
    try {
      return copies_.apply(message);
    } catch (const NoRoomForPeer&) {
      if (num_removed == most_removed_for_one || !make_room(message.publisher, now)) throw;
    }
  }
}

// Null if there are too many names without a copy.
FollowedPeers::Known* FollowedPeers::known_of(const SummaryMessage& message, Nanoseconds now) {
  const auto found = known_.find(message.publisher);
  if (found != known_.end()) return &found->second;
  const bool has_slot = is_peer(message.publisher);
  if (!has_slot && known_.size() >= copies_.num_peers() + most_unknown_names) return nullptr;
  Known& known = known_[std::string(message.publisher)];
  known.first_at = now;
  return &known;
}

void FollowedPeers::note(Known& known, const SummaryMessage& message, SummarySet::Applied applied,
                         Nanoseconds now) {
  known.at = now;
  known.listened_at = listening_;
  known.is_refused = false;
  ++known.num_messages;
  known.format_version = std::max(known.format_version, message.format_version);
  known.heard = message.version;
  known.layout = message.layout;
  const bool is_unknown = applied.result == ApplyResult::unknown;
  if (!is_unknown && !copies_.status(applied.peer).needs_full()) {
    known.want.reset();
    close_gap(known);
    drop_late(known);
    return;
  }
  if (!is_unknown && !known.want && message.kind != SummaryMessageKind::stored && !known.has_gap) {
    known.has_gap = true;
    ++totals_.num_gaps;
  }
  if (message.kind == SummaryMessageKind::delta) keep_late(known, message);
  if (!known.want) ask_later(known, now);
  const bool helps = is_unknown || leads_on(known, message);
  if (message.kind == SummaryMessageKind::stored && helps && !known.want->is_fetching &&
      !known.want->has_failed) {
    known.want->is_stored = true;
    known.want->due = now;
  }
  // Somebody has said that there is a later version, and the publisher cannot go above it. Who has the key says no such thing.
  const bool is_stuck = !is_unknown && message.version < copies_.status(applied.peer).newest &&
                        known.want->num_tries > most_requests && !options_.terms.key;
  if (!is_stuck || known.want->is_fetching) return;
  copies_.remove(message.publisher);
  erase(known_.find(message.publisher));
}

void FollowedPeers::close_gap(Known& known) noexcept {
  if (std::exchange(known.has_gap, false)) ++totals_.num_gaps_closed;
}

FollowedPeers::Entry FollowedPeers::erase(Entry entry) noexcept {
  drop_late(entry->second);
  return known_.erase(entry);
}

void FollowedPeers::ask_later(Known& known, Nanoseconds now) {
  known.want = Want{.due = now + random_time_.up_to(options_.interval)};
}

// Only those that follow each other, and of all peers together no more than a small part of the memory for copies.
void FollowedPeers::keep_late(Known& known, const SummaryMessage& message) {
  std::vector<std::byte> bytes = copied(message);
  if (!known.late.empty()) {
    const SummaryVersion last = read_summary_header(known.late.back()).version;
    if (message.version == last) return;
    if (last != SummaryVersion{message.version.epoch, message.from_sequence}) drop_late(known);
  }
  const std::uint64_t most = options_.terms.max_total_bytes / parts_of_memory;
  const bool is_too_much = known.late_bytes + bytes.size() > most / 4 || late_bytes_ + bytes.size() > most;
  if (is_too_much) return drop_late(known);
  known.late_bytes += bytes.size();
  late_bytes_ += bytes.size();
  known.late.push_back(std::move(bytes));
}

void FollowedPeers::drop_late(Known& known) noexcept {
  late_bytes_ -= std::exchange(known.late_bytes, 0);
  known.late.clear();
}

// Whether a full copy of the message's version, and then the late deltas, are the newest version.
bool FollowedPeers::leads_on(const Known& known, const SummaryMessage& message) {
  if (known.late.empty()) return true;
  const SummaryMessage first = read_summary_header(known.late.front());
  return message.version >= SummaryVersion{first.version.epoch, first.from_sequence};
}

// The one that has been silent for longest, if there is any.
FollowedPeers::Entry FollowedPeers::find_silent_stranger(std::string_view besides, Nanoseconds now) {
  auto found = known_.end();
  for (auto known = known_.begin(); known != known_.end(); ++known) {
    if (has_lasted(known->second) || now - known->second.at < 2 * options_.heartbeat) continue;
    if (known->first == besides || !is_peer(known->first)) continue;
    if (found == known_.end() || known->second.at < found->second.at) found = known;
  }
  return found;
}

bool FollowedPeers::make_room(std::string_view name, Nanoseconds now) {
  const Entry stranger = find_silent_stranger(name, now);
  if (stranger == known_.end()) return false;
  copies_.remove(stranger->first);
  erase(stranger);
  ++totals_.num_strangers_removed;
  return true;
}

bool FollowedPeers::has_lasted(const Known& known) const noexcept {
  return known.num_messages >= heartbeats_to_last &&
         known.at - known.first_at >= heartbeats_to_last * options_.heartbeat;
}

// Before a copy is fetched that would be refused.
bool FollowedPeers::has_slot_for(std::string_view name, Nanoseconds now) {
  return copies_.num_peers() < options_.terms.max_peers || find_silent_stranger(name, now) != known_.end();
}

bool FollowedPeers::take_token(Nanoseconds now) {
  const double most = options_.max_new_peers_per_second;
  const double seconds = static_cast<double>(now - tokens_at_) / 1e9;
  tokens_ = std::min(most, tokens_ + seconds * most);
  tokens_at_ = now;
  if (tokens_ < 1) return false;
  tokens_ -= 1;
  return true;
}

void FollowedPeers::send_due(Nanoseconds now) {
  for (auto entry = known_.begin(); entry != known_.end();) {
    const std::optional<Want>& want = entry->second.want;
    const bool is_due = want && !want->is_fetching && now >= want->due;
    if (is_due && want->num_tries > most_requests && !is_peer(entry->first)) {
      entry = erase(entry);
      continue;
    }
    if (is_due) do_what_is_due(entry->first, entry->second, now);
    ++entry;  // now: another one may have been removed to make room
  }
}

void FollowedPeers::do_what_is_due(const std::string& name, Known& known, Nanoseconds now) {
  Want& want = *known.want;
  if (want.is_stored && num_fetching_ >= most_fetches) return;
  if (!is_peer(name) && want.num_tries == 0 && !take_token(now)) {
    want.due = now + random_time_.up_to(nanoseconds_per_second);  // so that none is always the first
  } else if (!is_peer(name) && !has_slot_for(name, now)) {
    ++want.num_tries;
    ask_again(want, now);
    refuse(name, MessageRefusal::no_room,
           fmt::format("there are {} peers already (max_peers)", copies_.num_peers()));
  } else if (want.is_stored) {
    fetch(name, known);
  } else if (bus_.is_ready()) {
    request(name, known, now);
  }
}

void FollowedPeers::request(const std::string& name, Known& known, Nanoseconds now) {
  const auto peer = copies_.find(name);
  SummaryMessage heard;
  heard.publisher = name;
  heard.version = known.heard;
  heard.layout = known.layout;
  std::vector<std::byte> message = peer ? copies_.request(*peer) : copies_.request_of_unknown(heard);
  if (known.format_version == 1) message = in_format_version_1(message);
  bus_.publish(channels_.request_of(name), message_text(message));
  totals_.sent.add(SummaryMessageKind::request, message.size());
  known.num_request_bytes_sent += message.size();
  ++totals_.num_requests_sent;
  ++known.want->num_tries;
  known.want->has_failed = false;
  ask_again(*known.want, now);
}

void FollowedPeers::ask_again(Want& want, Nanoseconds now) {
  const int num_doublings = std::min(want.num_tries, 20);
  const Nanoseconds pause = std::min(options_.interval, longest_between_requests >> num_doublings)
                            << num_doublings;
  want.due = now + pause + random_time_.up_to(options_.interval);
}

void FollowedPeers::fetch(const std::string& name, Known& known) {
  known.want->is_fetching = true;
  ++num_fetching_;
  store_.get(channels_.copy_of(name),
             [this, name](CopyStore::Outcome outcome, std::string_view bytes, Nanoseconds now) {
               take_copy(name, outcome, bytes, now);
             });
}

void FollowedPeers::take_copy(const std::string& name, CopyStore::Outcome outcome, std::string_view bytes,
                              Nanoseconds now) {
  --num_fetching_;
  const auto entry = known_.find(name);
  if (entry == known_.end() || !entry->second.want || !entry->second.want->is_fetching) return;
  Known& known = entry->second;
  known.want->is_fetching = known.want->is_stored = false;
  known.want->has_failed = true;
  ask_again(*known.want, now);
  if (outcome != CopyStore::Outcome::done) return;
  totals_.num_bytes_received += bytes.size();
  known.received.add(SummaryMessageKind::full, bytes.size());
  ++totals_.num_copies_fetched;
  try {
    const SummaryMessage copy = read_summary_message(message_bytes(bytes));
    const bool is_copy = copy.publisher == name && copy.kind == SummaryMessageKind::full;
    if (!is_copy || copy.format_version < known.format_version) {
      return refuse(name, MessageRefusal::terms, "what is kept as its full copy is another message");
    }
    const auto applied = apply(copy, now);
    take_late(known, now);
    if (copies_.status(applied.peer).needs_full()) return;
    known.want.reset();
    close_gap(known);
  } catch (const std::exception&) {
    refuse_for_exception(name);
  }
}

void FollowedPeers::take_late(Known& known, Nanoseconds now) {
  std::deque<std::vector<std::byte>> late;
  late.swap(known.late);
  drop_late(known);
  for (const std::vector<std::byte>& delta : late) (void)apply(read_summary_message(delta), now);
}

// Time while the bus is down does not count, nor time while this process was stopped: then nobody is heard.
void FollowedPeers::forget_silent(Nanoseconds now) {
  const Nanoseconds step = std::min(now - std::exchange(clocked_at_, now), options_.heartbeat);
  if (!bus_.is_up()) return;
  listening_ += step;
  if (now < next_forgetting_) return;
  next_forgetting_ = now + options_.heartbeat;
  for (auto entry = known_.begin(); entry != known_.end();) {
    if (listening_ - entry->second.listened_at <= options_.forget) {
      ++entry;
      continue;
    }
    if (copies_.remove(entry->first)) {
      remark(false, fmt::format("forgot '{}', which was silent for {}", entry->first,
                                duration_text(options_.forget)));
    }
    entry = erase(entry);
  }
}

Nanoseconds FollowedPeers::deadline() const {
  Nanoseconds earliest = bus_.is_up() ? next_forgetting_ : std::numeric_limits<Nanoseconds>::max();
  for (const auto& [name, known] : known_) {
    if (!known.want || known.want->is_fetching) continue;
    const bool waits = known.want->is_stored ? num_fetching_ >= most_fetches : !bus_.is_ready();
    if (!waits) earliest = std::min(earliest, known.want->due);
  }
  return earliest;
}

std::vector<FollowedPeers::Peer> FollowedPeers::all(Nanoseconds now) const {
  std::vector<Peer> peers;
  for (const auto& [name, known] : known_) {
    const auto peer = copies_.find(name);
    if (!peer) continue;
    const SummaryLayout* const layout = copies_.layout(*peer);
    peers.push_back({.name = name,
                     .status = copies_.status(*peer),
                     .is_current = copies_.status(*peer).is_current() && !known.is_refused,
                     .silent = now - known.at,
                     .false_positive_rate = copies_.estimated_false_positive_rate(*peer),
                     .num_bytes = layout == nullptr ? 0 : layout->num_bytes(),
                     .format_version = known.format_version,
                     .received = known.received,
                     .num_request_bytes_sent = known.num_request_bytes_sent,
                     .num_lookups_maybe = known.num_lookups_maybe,
                     .num_false_positives = known.num_false_positives});
  }
  return peers;
}

std::uint64_t FollowedPeers::num_caught_up() const {
  std::uint64_t number = 0;
  for (const auto& [name, known] : known_) {
    const auto peer = copies_.find(name);
    number += peer && copies_.status(*peer).is_current() && !known.is_refused;
  }
  return number;
}

std::vector<std::string_view> FollowedPeers::ask(Hash128 digest) {
  std::vector<std::string_view> names;
  for (const SummarySet::Peer peer : copies_.who_may_have(digest)) {
    const auto known = known_.find(copies_.name(peer));
    if (known != known_.end()) ++known->second.num_lookups_maybe;
    names.push_back(copies_.name(peer));
  }
  std::ranges::sort(names);
  ++totals_.num_lookups;
  totals_.num_lookups_maybe += !names.empty();
  return names;
}

std::vector<SummarySet::Prefix> FollowedPeers::longest_prefix(std::span<const Hash128> blocks) {
  std::vector<SummarySet::Prefix> prefixes = copies_.longest_prefix(blocks);
  for (const SummarySet::Prefix& prefix : prefixes) {
    const auto known = known_.find(copies_.name(prefix.peer));
    if (known != known_.end()) known->second.num_lookups_maybe += prefix.num_blocks;
  }
  totals_.num_lookups += blocks.size();
  if (!prefixes.empty()) totals_.num_lookups_maybe += prefixes.front().num_blocks;  // the longest
  return prefixes;
}

bool FollowedPeers::report_false_positives(std::string_view peer, std::uint64_t number) {
  const auto known = known_.find(peer);
  if (known == known_.end() || !is_peer(peer)) return false;
  known->second.num_false_positives += number;
  return true;
}

void FollowedPeers::refuse_for_exception(std::string_view peer) {
  try {
    throw;
  } catch (const FormatError& error) {
    refuse(peer, MessageRefusal::invalid, error.what());
  } catch (const NotAuthentic& error) {
    refuse(peer, MessageRefusal::not_authentic, error.what());
  } catch (const NoRoomForPeer& error) {
    refuse(peer, MessageRefusal::no_room, error.what());
  } catch (const std::invalid_argument& error) {
    refuse(peer, MessageRefusal::terms, error.what());
  } catch (const std::bad_alloc&) {
    refuse(peer, MessageRefusal::no_memory, "there is not enough memory for it");
  }
}

void FollowedPeers::refuse(std::string_view peer, MessageRefusal reason, std::string_view why) {
  totals_.refuse(reason);
  if (said_.size() >= most_faults_said) return;
  std::string text = fmt::format("refused a message from {}: {}", peer, why);
  const auto [position, is_new] = said_.insert(std::move(text));
  if (!is_new) return;
  warn(*position);
  if (said_.size() == most_faults_said) warn("further message errors are only counted");
}

}  // namespace tally::cli
