#include "node/commands.hpp"

#include <fmt/format.h>

#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "cli/options.hpp"
#include "cli/signals.hpp"
#include "node/node_key.hpp"
#include "node/status_json.hpp"
#include "text/key_json.hpp"

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

NodeCommands::NodeCommands(const Options& options, SummaryNode& node)
    : options_(options),
      node_(node),
      input_(options.nul_separated ? '\0' : '\n'),
      output_({.nul_separated = options.nul_separated && !options.json, .line_buffered = false}) {}

Nanoseconds NodeCommands::deadline() const noexcept {
  return wait_ ? wait_->until : std::numeric_limits<Nanoseconds>::max();
}

void NodeCommands::step(bool readable, Nanoseconds now) {
  if (readable) input_.read_some();
  end_wait(now);
  while (!wait_) {
    const std::optional<std::string_view> line = input_.next_line();
    if (!line) break;
    ++num_lines_;
    take(*line, now);
  }
  apply_changes();
  output_.flush();
  if (!input_.has_ended() || wait_) return;
  node_.own().announce();  // nothing more will be loaded
  if (!options_.stays || input_.await_next_writer() != LineInput::NextWriter::impossible) return;
  if (!std::exchange(has_warned_of_input_, true)) {
    remark(false, "standard input cannot be opened again: lines of later writers are not read");
  }
}

void NodeCommands::finish() {
  output_.finish();
  if (num_full_ + num_absent_ > 0) {
    remark(options_.quiet, fmt::format("{} insertions and removals were refused", num_full_ + num_absent_));
  }
  if (num_refused_lines_ > 0) {
    remark(options_.quiet, fmt::format("{} lines were invalid", num_refused_lines_));
  }
}

void NodeCommands::take(std::string_view line, Nanoseconds now) {
  const char verb = line.empty() ? '\0' : line[0];
  const std::string_view rest = line.substr(line.empty() ? 0 : 1);
  if (verb == '+' || verb == '-' || verb == '?') {
    const std::optional<Hash128> digest = digest_of_key(node_.hasher(), options_.key_type, rest);
    if (!digest) return refuse_line_because(fmt::format("the key {}", why_refused(options_.key_type, rest)));
    if (verb == '?') return answer(rest, *digest);
    change(verb == '+' ? Verb::add : Verb::remove, *digest);
  } else if (verb != '!' || !take_order(rest, now)) {
    refuse_line(line);
  }
}

// Consecutive changes of the same kind are made together.
void NodeCommands::change(Verb verb, Hash128 key) {
  if (verb != verb_ || changes_.size() == most_changes_at_once) apply_changes();
  verb_ = verb;
  changes_.push_back(key);
}

void NodeCommands::apply_changes() {
  if (verb_ == Verb::add) {
    const std::uint64_t num_full = node_.directory().insert(changes_);
    if (num_full > 0 && num_full_ == 0) {
      remark(false, "the filter is full: keys are refused, and no peer will receive them; give more --keys");
    }
    num_full_ += num_full;
  } else if (verb_ == Verb::remove) {
    const std::uint64_t num_absent = node_.directory().remove(changes_);
    if (num_absent > 0 && num_absent_ == 0) {
      remark(options_.quiet, "removing a key that is provably absent was refused; nothing changed");
    }
    num_absent_ += num_absent;
  }
  verb_ = Verb::none;
  changes_.clear();
}

void NodeCommands::answer(std::string_view key, Hash128 digest) {
  const std::vector<std::string_view> peers = node_.who_may_have(digest);
  if (options_.json) {
    Json line = key_json(key);
    line["peers"] = peers;
    output_.write_record(json_line(line));
  } else {
    output_.write_key(key, fmt::format("{}", fmt::join(peers, " ")));
  }
}

// Returns whether there is such an order.
bool NodeCommands::take_order(std::string_view order, Nanoseconds now) {
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
  } else {
    return false;
  }
  return true;
}

// " PEERS TIME", both optional.
bool NodeCommands::take_wait(std::string_view text, Nanoseconds now) {
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
  end_wait(now);
  return true;
}

void NodeCommands::end_wait(Nanoseconds now) {
  if (!wait_) return;
  const std::uint64_t num_caught_up = node_.peers().num_caught_up();
  const bool done = num_caught_up >= wait_->num_peers && node_.own().is_published();
  if (!done && now < wait_->until && !stop_requested()) return;
  if (options_.json) {
    output_.write_record(json_line(Json{{"wait", {{"is_over", done}, {"num_caught_up", num_caught_up}}}}));
  } else {
    output_.write_key("!wait", fmt::format("{}\t{}", done ? "done" : "late", num_caught_up));
  }
  wait_.reset();
}

void NodeCommands::refuse_line(std::string_view line) {
  constexpr std::size_t most_shown = 40;
  refuse_line_because(fmt::format(
      "'{}' is not a command; give +KEY, -KEY, ?KEY, !status, !publish, !loaded or !wait PEERS TIME",
      line.substr(0, most_shown)));
}

void NodeCommands::refuse_line_because(const std::string& why) {
  if (num_refused_lines_++ > 0) return;
  remark(options_.quiet, fmt::format("line {}: {}", num_lines_, why));
}

void NodeCommands::print_status(Nanoseconds now) {
  Json own = node_json(node_);
  own["lines_refused"] = num_refused_lines_;
  std::vector<Json> peers;
  for (const FollowedPeers::Peer& peer : node_.peers().all(now)) peers.push_back(peer_json(peer));
  if (options_.json) {
    own["peers"] = peers;
    output_.write_record(json_line(Json{{"status", own}}));
    return;
  }
  own["peers"] = peers.size();
  output_.write_key("!status", fields_text(own));
  for (const Json& peer : peers) output_.write_key("!peer", fields_text(peer));
}

}  // namespace tally::cli
