#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "command.hpp"
#include "filter_value.hpp"
#include "module_options.hpp"
#include "open_key.hpp"
#include "partial_load.hpp"
#include "step_costs.hpp"

// TALLY.SUMMARY: what a client needs to keep a replica of a filter next to itself.

namespace tally::redis {
namespace {

constexpr const char* missing = "ERR the key does not exist; create it with TALLY.CREATE";

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "0", or the epoch and the sequence: "1764097200000000-12".
SummaryVersion version_of(const Call& call, std::size_t i) {
  const std::string_view text = call.text(i);
  if (text == "0") return {};
  const std::size_t dash = text.find('-');
  if (dash != std::string_view::npos) {
    const auto epoch = number_of(text.substr(0, dash));
    const auto sequence = number_of(text.substr(dash + 1));
    if (epoch && sequence) return {*epoch, *sequence};
  }
  throw Refusal("ERR '" + std::string(text.substr(0, 100)) +
                "' is not a version; give 0, or the one that the last reply began with");
}

std::string version_text(SummaryVersion version) {
  if (version == SummaryVersion{}) return "0";
  return std::to_string(version.epoch) + "-" + std::to_string(version.sequence);
}

SummaryFeed& feed_of(FilterValue& value, std::string_view key) {
  try {
    return value.summary_feed(key);
  } catch (const std::invalid_argument& error) {
    throw Refusal("ERR " + std::string(error.what()));
  }
}

void summary(Call& call) {
  if (!call.is_word(2, "SINCE"))
    throw Refusal("ERR the word SINCE is missing; give TALLY.SUMMARY key SINCE version");
  const SummaryVersion since = version_of(call, 3);
  const OpenKey key(call, KeyAccess::read);
  FilterValue& value = key.get<FilterValue>(missing);
  call.require_step(step_cost::summary * value.filter().shape().num_bytes(),
                    "follow a smaller filter, or start the server with a larger one");
  SummaryFeed& feed = feed_of(value, call.text(1));
  const bool can_publish = feed.can_publish(value.filter(), module_options.max_step_bytes);
  std::vector<std::span<const std::byte>> messages;
  if (can_publish) messages = feed.since(value.filter(), since);
  const std::string text = version_text(can_publish ? feed.version() : since);
  call.array(2);
  call.bytes(text);
  call.array(messages.size());
  for (const std::span<const std::byte> message : messages) {
    call.bytes(text_of(message));
  }
}

constexpr std::array commands{
    Command{"TALLY.SUMMARY", entry<summary, 4>, "readonly deny-oom", KeyUse::read, "key SINCE version",
            "Show how to bring a replica up to date: a new version, and the messages that lead to it",
            time_of_structure}};

}  // namespace

std::span<const Command> summary_commands() noexcept { return commands; }

}  // namespace tally::redis
