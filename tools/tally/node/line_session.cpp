#include "node/line_session.hpp"

#include <fmt/format.h>

#include <limits>
#include <stdexcept>
#include <utility>

#include "cli/options.hpp"
#include "node/node_key.hpp"
#include "node/status_json.hpp"
#include "text/key_json.hpp"
#include "text/output.hpp"

namespace tally::cli {
namespace {

constexpr std::size_t most_changes_at_once = 1024;

// "name=a<TAB>epoch=5": the fields of an object of numbers, words and booleans.
std::string fields_text(const Json& object) {
  std::string text;
  for (const auto& [name, value] : object.members()) {
    if (!text.empty()) text += '\t';
    const auto* const word = value.get_if<std::string>();
    text += fmt::format("{}={}", name, word != nullptr ? *word : value.dump());
  }
  return text;
}

}  // namespace

LineSession::LineSession(const Options& options, SummaryNode& node, OnRefusal on_refusal)
    : options_(options), node_(node), on_refusal_(std::move(on_refusal)) {}

Nanoseconds LineSession::deadline() const noexcept {
  return wait_ ? wait_->until : std::numeric_limits<Nanoseconds>::max();
}

void LineSession::take(std::string_view line, Nanoseconds now) {
  const char verb = line.empty() ? '\0' : line[0];
  const std::string_view rest = line.substr(line.empty() ? 0 : 1);
  if (verb == '+' || verb == '-' || verb == '?') {
    const std::optional<Hash128> digest = digest_of_key(node_.hasher(), options_.key_type, rest);
    if (!digest) return refuse(fmt::format("the key {}", why_refused(options_.key_type, rest)));
    if (verb == '?') return answer(rest, *digest);
    change(verb == '+' ? Verb::add : Verb::remove, *digest);
  } else if (verb != '!' || !take_order(rest, now)) {
    constexpr std::size_t most_shown = 40;
    refuse(
        fmt::format("'{}' is not a command; give +KEY, -KEY, ?KEY, !status, !publish, !loaded, !false PEER "
                    "NUMBER or !wait PEERS "
                    "TIME",
                    line.substr(0, most_shown)));
  }
}

// Consecutive changes of the same kind are made together.
void LineSession::change(Verb verb, Hash128 key) {
  if (verb != verb_ || changes_.size() == most_changes_at_once) apply_changes();
  verb_ = verb;
  changes_.push_back(key);
}

void LineSession::apply_changes() {
  const Verb verb = std::exchange(verb_, Verb::none);
  if (verb == Verb::none) return;
  NodeDirectory& directory = node_.directory();
  const std::uint64_t num_refused =
      verb == Verb::add ? directory.insert(changes_) : directory.remove(changes_);
  changes_.clear();
  if (num_refused > 0) on_refusal_(verb == Verb::add ? Refusal::full : Refusal::absent, num_refused, "");
}

void LineSession::answer(std::string_view key, Hash128 digest) {
  const std::vector<std::string_view> peers = node_.peers().ask(digest);
  if (options_.json) {
    Json line = key_json(key);
    line["peers"] = peers;
    answers_ += json_line(line);
  } else {
    say(key, fmt::format("{}", fmt::join(peers, " ")));
  }
}

void LineSession::say(std::string_view first, std::string_view second) {
  answers_.append(first).append("\t").append(second) += options_.nul_separated ? '\0' : '\n';
}

// Returns whether there is such an order.
bool LineSession::take_order(std::string_view order, Nanoseconds now) {
  if (order == "status") {
    apply_changes();
    print_status(now);
  } else if (order == "publish") {
    apply_changes();
    node_.own().publish_now();
  } else if (order == "loaded") {
    apply_changes();
    node_.own().announce();
    node_.own().publish_now();
  } else if (order == "wait" || order.starts_with("wait ")) {
    return take_wait(order.substr(4), now);
  } else if (order.starts_with("false ")) {
    return take_report(order.substr(6));
  } else {
    return false;
  }
  return true;
}

// " PEERS TIME", both optional.
bool LineSession::take_wait(std::string_view text, Nanoseconds now) {
  Wait wait{.num_peers = 1, .until = now + 10 * nanoseconds_per_second};
  try {
    if (!text.empty()) {
      const std::size_t blank = text.find(' ', 1);
      wait.num_peers = parse_count(text.substr(1, blank - 1), {0, 1'000'000});
      if (blank != std::string_view::npos) wait.until = now + parse_duration(text.substr(blank + 1));
    }
  } catch (const std::invalid_argument&) {
    return false;
  }
  apply_changes();
  node_.own().publish_now();
  wait_ = wait;
  end_wait(now, false);
  return true;
}

// "PEER", or "PEER NUMBER".
bool LineSession::take_report(std::string_view text) {
  const std::size_t blank = text.find(' ');
  std::uint64_t number = 1;
  try {
    if (blank != text.npos) number = parse_count(text.substr(blank + 1), {0, max_false_positives_reported});
  } catch (const std::invalid_argument&) {
    return false;
  }
  const std::string_view peer = text.substr(0, blank);
  if (!node_.peers().report_false_positives(peer, number))
    refuse(fmt::format("there is no peer '{}'", peer.substr(0, 64)));
  return true;
}

void LineSession::end_wait(Nanoseconds now, bool gives_up) {
  if (!wait_) return;
  const std::uint64_t num_caught_up = node_.peers().num_caught_up();
  const bool done = num_caught_up >= wait_->num_peers && node_.own().is_published();
  if (!done && now < wait_->until && !gives_up) return;
  wait_.reset();
  if (options_.json) {
    answers_ += json_line(Json{{"wait", {{"is_over", done}, {"num_caught_up", num_caught_up}}}});
  } else {
    say("!wait", fmt::format("{}\t{}", done ? "done" : "late", num_caught_up));
  }
}

void LineSession::refuse(std::string_view why) {
  ++num_refused_lines_;
  on_refusal_(Refusal::line, 1, why);
}

void LineSession::print_status(Nanoseconds now) {
  Json own = node_json(node_);
  own["lines_refused"] = num_refused_lines_;
  std::vector<Json> peers;
  for (const FollowedPeers::Peer& peer : node_.peers().all(now)) peers.push_back(peer_json(peer));
  if (options_.json) {
    own["peers"] = peers;
    answers_ += json_line(Json{{"status", own}});
    return;
  }
  own["peers"] = peers.size();
  say("!status", fields_text(own));
  for (const Json& peer : peers) say("!peer", fields_text(peer));
}

}  // namespace tally::cli
