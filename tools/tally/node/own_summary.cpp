#include "node/own_summary.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "node/message_text.hpp"
#include "tally/summaries/delta.hpp"
#include "text/output.hpp"

namespace tally::cli {
namespace {

// The server forgets a copy that nobody has asked for in this time.
constexpr std::uint32_t copy_lifetime_seconds = 120;
constexpr int most_requests_of_a_copy = 2;
// Between two attempts to store a copy that the server refuses.
constexpr Nanoseconds longest_between_stores = 30 * nanoseconds_per_second;
constexpr Nanoseconds copy_lifetime = copy_lifetime_seconds * nanoseconds_per_second;
// Between two warnings of another node with our name, and at most between two epochs above its own.
constexpr Nanoseconds longest_pause_of_outruns = 60 * nanoseconds_per_second;
// A node that we go above answers at once; after this time we ask anew.
constexpr Nanoseconds longest_wait_for_challenged = 600 * nanoseconds_per_second;
constexpr Nanoseconds between_warnings = 60 * nanoseconds_per_second;

}  // namespace

OwnSummary::OwnSummary(const NodeOptions& options, const NodeChannels& channels, NodeTotals& totals,
                       NodeDirectory& directory, RedisBus& bus, CopyStore& store, Nanoseconds now)
    : options_(options),
      channels_(channels),
      totals_(totals),
      directory_(directory),
      bus_(bus),
      store_(store),
      is_announced_(!options.announces_later),
      started_at_(summary_time_now()),
      next_store_(now),
      pause_of_stores_(options.interval),
      published_at_(now),
      next_answer_(now),
      next_heartbeat_(now),
      next_greeting_(now),
      next_outrun_(now),
      pause_of_outruns_(options.interval),
      next_warning_(now) {}

// What others say to us.

// Without a key, anybody may have written the message, and nobody may silence us: we go above its version. With a key, it is
// signed by somebody who has it, but may be a replay of an earlier run of ours whose clock was ahead. So we go above it once. If
// there is another node, it is the one that started later, and goes above that in turn: then we yield.
void OwnSummary::take_own(const SummaryMessage& message, Nanoseconds now) {
  if (message.version <= directory_.version()) return;
  const bool is_authentic = options_.terms.key && !message.mac.empty();
  if (is_authentic && message.published_at < started_at_) return;
  ++totals_.num_name_conflicts;
  if (!is_publishing()) return;
  if (is_authentic && challenged_at_ && now - *challenged_at_ < longest_wait_for_challenged) return yield();
  if (outrun(message, now) && is_authentic) challenged_at_ = now;
  if (!is_authentic) warn_of_forger(message, now);
}

void OwnSummary::yield() {
  has_yielded_ = true;
  warn(
      fmt::format("another node is named '{}' and was started later: this node publishes nothing any more "
                  "and goes on answering; give each node its own name",
                  options_.name));
}

void OwnSummary::warn_of_forger(const SummaryMessage& message, Nanoseconds now) {
  if (now < next_warning_) return;
  next_warning_ = now + between_warnings;
  warn(
      fmt::format("somebody publishes under our name '{}' (epoch {}); continuing above that. Give each node "
                  "its own name, and the group a --key-file against forgers",
                  options_.name, message.version.epoch));
}

bool OwnSummary::outrun(const SummaryMessage& message, Nanoseconds now) {
  if (directory_.version().sequence == 0 || !may_outrun(now)) return false;
  SummaryMessage heard;
  heard.kind = SummaryMessageKind::request;
  heard.publisher = options_.name;
  heard.version = message.version;
  store_copy(directory_.answer(heard), now);
  return true;
}

// Each time costs a full copy for all, so two that do so in turn wait for longer and longer.
bool OwnSummary::may_outrun(Nanoseconds now) {
  if (now < next_outrun_ || num_storing_ > 0) return false;
  const bool is_quiet_again = now > next_outrun_ + 10 * pause_of_outruns_;
  pause_of_outruns_ =
      is_quiet_again ? options_.interval : std::min(2 * pause_of_outruns_, longest_pause_of_outruns);
  next_outrun_ = now + pause_of_outruns_;
  return true;
}

// One request is stored for all, because all can read the copy: the one with the latest epoch, which ours must exceed.
void OwnSummary::take_request(const SummaryMessage& message, std::span<const std::byte> bytes) {
  asked_in_version_1_ |= message.format_version == 1;
  if (!request_.empty() && message.version.epoch <= request_epoch_) return;
  request_.assign(bytes.begin(), bytes.end());
  request_epoch_ = message.version.epoch;
}

void OwnSummary::take_hello(Nanoseconds now) {
  next_greeting_ = std::max(next_greeting_, now + random_time_.up_to(options_.interval));
  next_heartbeat_ = std::min(next_heartbeat_, next_greeting_);
}

void OwnSummary::take_reconnection(Nanoseconds now) {
  stored_.reset();
  next_heartbeat_ = now;
}

// What we say.

bool OwnSummary::is_version_due(Nanoseconds now) const {
  const PendingChanges pending = directory_.pending();
  const bool is_first = directory_.version().sequence == 0;
  if (hurry_ && (is_first || pending.any())) return true;
  if (directory_.is_replaced()) return true;
  const Nanoseconds since = now - published_at_;
  if (is_first) return since >= options_.interval;
  const SendPolicy policy{
      .share_of_new_keys = options_.share_of_new_keys,
      .interval = std::chrono::microseconds(std::max<Nanoseconds>(1, options_.interval / 1000))};
  return since >= options_.interval / 10 && policy.is_due(pending, std::chrono::microseconds(since / 1000));
}

void OwnSummary::send_due(Nanoseconds now) {
  if (!bus_.is_ready() || !is_publishing()) return;
  if (is_version_due(now)) send_version(now);
  hurry_ = false;
  if (directory_.version().sequence == 0) return;
  if (owed_ && num_storing_ == 0 && now >= next_store_) store_copy(directory_.full(), now);
  // A server that takes long for a copy gets no second one meanwhile.
  if (!request_.empty() && now >= next_answer_ && num_storing_ == 0) send_answer(now);
  if (now >= next_heartbeat_) send_heartbeat(now);
}

void OwnSummary::send_version(Nanoseconds now) {
  tell(directory_.publish(), now);
  published_at_ = now;
  ++totals_.num_versions_sent;
}

// The copy that is stored already may have been removed, by a server that lacks memory: look, and keep it from being forgotten. Who
// asks a third time may have found something else there: then it is stored again.
void OwnSummary::send_answer(Nanoseconds now) {
  next_answer_ = now + options_.interval;
  SummaryMessage request = read_summary_message(request_);
  const bool must_outrun = request.version > directory_.version() && may_outrun(now);
  if (!must_outrun) request.version = std::min(request.version, directory_.version());
  if (asked_in_version_1_ && options_.with_version_1) publish(in_format_version_1(directory_.full()));
  asked_in_version_1_ = false;
  if (must_outrun || !has_current_copy(now) || ++stored_->num_requests > most_requests_of_a_copy) {
    tell(directory_.answer(request), now);
  } else {
    store_.keep(channels_.own_copy, copy_lifetime_seconds,
                [this](CopyStore::Outcome outcome, std::string_view, Nanoseconds at) {
                  const bool is_there = outcome == CopyStore::Outcome::done && stored_;
                  if (is_there) {
                    stored_->at = at;
                    send_stored(at);
                  } else {
                    stored_.reset();
                    owed_ = directory_.version();
                  }
                });
  }
  request_.clear();
}

void OwnSummary::send_heartbeat(Nanoseconds now) {
  next_greeting_ = now + options_.interval;
  ++totals_.num_heartbeats_sent;
  // Those who came meanwhile need not ask for a copy that is there.
  if (has_current_copy(now) && now - stored_->at < copy_lifetime / 2) return send_stored(now);
  send(directory_.heartbeat(), now);
}

bool OwnSummary::has_current_copy(Nanoseconds now) const {
  return stored_ && stored_->version == directory_.version() && now - stored_->at < copy_lifetime;
}

// A full copy is for those who lack it, everything else for all.
void OwnSummary::tell(std::vector<std::byte> message, Nanoseconds now) {
  const bool is_full = read_summary_header(message).kind == SummaryMessageKind::full;
  is_full ? store_copy(std::move(message), now) : send(message, now);
}

void OwnSummary::store_copy(std::vector<std::byte> copy, Nanoseconds now) {
  const SummaryMessage message = read_summary_header(copy);
  if (copy.size() > options_.max_message_bytes && !std::exchange(has_warned_of_size_, true)) {
    warn(
        fmt::format("--max-message: the full copy has {} bytes, and peers with this limit of {} refuse it; "
                    "raise it everywhere",
                    copy.size(), options_.max_message_bytes));
  }
  owed_ = message.version;
  ++num_storing_;
  next_heartbeat_ = now + options_.heartbeat;
  if (options_.with_version_1) publish(in_format_version_1(copy));
  Stored stored{.version = message.version, .digest = message.digest, .layout = message.layout};
  store_.put(
      channels_.own_copy, copy, copy_lifetime_seconds,
      [this, stored, num_bytes = copy.size()](CopyStore::Outcome outcome, std::string_view, Nanoseconds at) {
        --num_storing_;
        const bool is_done = outcome == CopyStore::Outcome::done;
        pause_of_stores_ =
            is_done ? options_.interval : std::min(2 * pause_of_stores_, longest_between_stores);
        next_store_ = at + pause_of_stores_;
        if (!is_done) return;
        ++totals_.num_copies_stored;
        totals_.sent.add(SummaryMessageKind::full, num_bytes);
        stored_ = stored;
        stored_->at = at;
        if (owed_ && *owed_ <= stored.version) owed_.reset();
        send_stored(at);
      });
}

void OwnSummary::send_stored(Nanoseconds now) {
  send(stored_message({options_.name, stored_->version, stored_->digest, summary_time_now(),
                       signing_key(options_.terms)},
                      stored_->layout),
       now);
}

void OwnSummary::send(std::span<const std::byte> message, Nanoseconds now) {
  publish(message);
  next_heartbeat_ = now + options_.heartbeat - random_time_.up_to(options_.heartbeat / 10);
  if (!options_.with_version_1) return;
  const std::vector<std::byte> old = in_format_version_1(message);
  publish(old.empty() ? in_format_version_1(directory_.heartbeat()) : old);
}

void OwnSummary::publish(std::span<const std::byte> message) {
  if (message.empty()) return;
  bus_.publish(channels_.own_summary, message_text(message));
  totals_.sent.add(read_summary_header(message).kind, message.size());
}

Nanoseconds OwnSummary::deadline() const {
  Nanoseconds earliest = std::numeric_limits<Nanoseconds>::max();
  if (!bus_.is_ready() || !is_publishing()) return earliest;
  const bool is_first = directory_.version().sequence == 0;
  if (!is_first) earliest = std::min(earliest, next_heartbeat_);
  if (is_first || directory_.pending().any() || directory_.is_replaced()) {
    const Nanoseconds soonest = published_at_ + options_.interval / 10;
    const bool waits_for_spacing = !is_first && is_version_due(soonest);
    earliest = std::min(earliest, waits_for_spacing ? soonest : published_at_ + options_.interval);
  }
  if (!request_.empty() && !is_first && num_storing_ == 0) earliest = std::min(earliest, next_answer_);
  if (owed_ && num_storing_ == 0) earliest = std::min(earliest, next_store_);
  return earliest;
}

bool OwnSummary::is_published() const {
  if (!is_publishing()) return true;
  const PendingChanges pending = directory_.pending();
  // A node that never had a key need not wait for a server to publish that.
  if (directory_.version().sequence == 0) return pending.num_keys == 0 && !bus_.is_up();
  return bus_.is_up() && bus_.is_idle() && !pending.any() && !directory_.is_replaced() && !owed_;
}

}  // namespace tally::cli
