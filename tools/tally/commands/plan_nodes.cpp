#include "commands/plan_nodes.hpp"

#include <fmt/core.h>

#include <cmath>
#include <stdexcept>

#include "cli/options.hpp"
#include "tally/hashing/hash_scheme.hpp"
#include "tally/planner/scheme_law.hpp"
#include "text/output.hpp"
#include "text/wrapped.hpp"

namespace tally::cli {
namespace {

constexpr std::uint64_t most_nodes = 1'000'000;

std::string bytes_text(std::uint64_t bytes) { return human_bytes(static_cast<double>(bytes)); }

/// The most keys of each structure if `num_keys` are in the merged one.
std::uint64_t keys_of_each(const NodeOptions& options, const Candidate& candidate) {
  return candidate.num_keys / *options.num_merged;
}

/// The rate of a structure before it is merged; nothing for one that promises its rate only for keys that were inserted less
/// often than theta - 1 times, whose rate depends on all counts.
std::optional<double> rate_before(const NodeOptions& options, const Candidate& candidate) {
  const std::uint64_t theta = candidate.errors.back().true_count + 1;
  const std::uint64_t num_keys = keys_of_each(options, candidate);
  if (candidate.promised_true_count + 1 != theta || num_keys == 0) return std::nullopt;
  constexpr double few_steps = 0x1p22;
  return std::exp(false_positive_law(candidate.shape, num_keys, few_steps).ln_false_positive_rate);
}

/// What a node stores of a peer: the bits of a Bloom filter, one bit per counter, or the cells of a d-left filter.
std::optional<std::uint64_t> summary_bytes(const FilterShape& shape) {
  switch (shape.kind()) {
    case FilterKind::bloom:
    case FilterKind::blocked_bloom:
      return shape.num_bytes();
    case FilterKind::counting_bloom:
    case FilterKind::blocked_counting_bloom:
      return (shape.num_positions() + 63) / 64 * 8;
    case FilterKind::dleft:
      return shape.num_bytes() - shape.side_bytes();
    default:
      return std::nullopt;
  }
}

/// 1 - (1 - rate)^num_peers
double rate_of_all(double rate, std::uint64_t num_peers) {
  return -std::expm1(static_cast<double>(num_peers) * std::log1p(-rate));
}

/// The rate p with rate_of_all(p, num_peers) = rate.
double rate_of_one(double rate, std::uint64_t num_peers) {
  return -std::expm1(std::log1p(-rate) / static_cast<double>(num_peers));
}

std::uint64_t times(std::string_view flag, std::uint64_t number, std::uint64_t factor) {
  if (number > max_num_positions / factor)
    throw std::invalid_argument(fmt::format("{} times --merge is more than 2^56; give fewer", flag));
  return number * factor;
}

std::string merge_text(const NodeOptions& options, std::span<const Candidate> candidates) {
  Table table(
      {"merged", "keys of each", "false positive rate of each", "keys of all", "false positive rate merged"});
  for (const Candidate& candidate : candidates) {
    const std::optional<double> before = rate_before(options, candidate);
    table.add_row({candidate.name(), human_count(static_cast<double>(keys_of_each(options, candidate))),
                   before ? human_rate(*before) : "-", human_count(static_cast<double>(candidate.num_keys)),
                   human_rate(candidate.false_positive_rate)});
  }
  return "\n" + table.text() +
         wrapped(
             fmt::format(
                 "Each of the {} structures has this shape, and the memory of the merged one. The plan "
                 "assumes "
                 "that they have no keys in common; if they have some, the merged structure errs less often, "
                 "and the counts of such keys add up.",
                 *options.num_merged),
             0) +
         "\n";
}

std::string peers_text(const NodeOptions& options, std::span<const Candidate> candidates) {
  Table table({"asked", "summary of a peer", "of all peers", "false positive rate of a peer", "of a lookup"});
  for (const Candidate& candidate : candidates) {
    const std::optional<std::uint64_t> bytes = summary_bytes(candidate.shape);
    table.add_row({candidate.name(), bytes ? bytes_text(*bytes) : "none",
                   bytes ? bytes_text(*bytes * *options.num_peers) : "none",
                   human_rate(candidate.false_positive_rate),
                   human_rate(rate_of_all(candidate.false_positive_rate, *options.num_peers))});
  }
  return "\n" + table.text() +
         wrapped(
             fmt::format(
                 "A lookup asks the summaries of {} peers, and errs if any of them does: 1 - (1 - rate of a "
                 "peer)^{} for a key that no peer has, if their keys and errors are independent. The rate "
                 "that "
                 "was asked for is that of a lookup. Old copies err more often: see docs/summaries.md.",
                 *options.num_peers, *options.num_peers),
             0) +
         "\n";
}

/// The oldest slot is in the window only in part.
std::uint64_t num_filters_of(const NodeOptions& options) { return *options.num_slots + 1; }

std::string window_text(const NodeOptions& options, std::span<const Candidate> candidates) {
  const std::uint64_t num_filters = num_filters_of(options);
  Table table({"window", "filters", "keys of each", "memory of each", "of all", "false positive rate of each",
               "of a lookup"});
  for (const Candidate& candidate : candidates) {
    const std::uint64_t bytes = candidate.shape.num_bytes();
    table.add_row({candidate.name(), std::to_string(num_filters),
                   human_count(static_cast<double>(candidate.num_keys)), bytes_text(bytes),
                   bytes_text(num_filters * bytes), human_rate(candidate.false_positive_rate),
                   human_rate(rate_of_all(candidate.false_positive_rate, num_filters))});
  }
  return "\n" + table.text() +
         wrapped(
             fmt::format(
                 "Each of the {} slots of the window has a filter of this shape, and one more has the slot "
                 "that "
                 "leaves it; when a slot ends, the oldest filter is cleared and takes the next slot. A "
                 "lookup "
                 "asks all: no key of the window is missed, and keys of up to one slot before it are found, "
                 "too. --keys, --false-positive-rate and --memory are those of the whole window. The plan "
                 "has "
                 "room for evenly distributed keys; if they come in bursts, or repeat in several slots, give "
                 "--keys as the number of slots times the distinct keys of the fullest one.",
                 *options.num_slots),
             0) +
         "\n";
}

}  // namespace

void add_node_options(CommandLine app, NodeOptions& options) {
  add_count(app, "--merge", options.num_merged,
            "Number of structures of one shape that are merged; --keys and --insertions are those of each, "
            "which have no keys in common",
            {1, most_nodes})
      .group("Nodes");
  add_count(app, "--peers", options.num_peers,
            "Number of peers whose summaries are asked at each lookup; --false-positive-rate is that of the "
            "whole lookup",
            {1, most_nodes})
      .group("Nodes");
  add_count(app, "--window", options.num_slots,
            "Number of slots of a sliding window, each of which has a filter; --keys, "
            "--false-positive-rate and --memory are those of the whole window",
            {1, most_nodes})
      .excludes(app.get_option("--merge"))
      .excludes(app.get_option("--peers"))
      .group("Nodes");
}

Requirements requirements_of_node(const NodeOptions& options, Requirements wanted) {
  if (options.num_merged) {
    if (wanted.histogram)
      throw std::invalid_argument(
          "--merge: it needs the number of keys of each structure; give --keys instead of counts");
    if (wanted.num_keys) wanted.num_keys = times("--keys", *wanted.num_keys, *options.num_merged);
    if (wanted.num_insertions)
      wanted.num_insertions = times("--insertions", *wanted.num_insertions, *options.num_merged);
    if (wanted.update == CounterUpdate::conservative)
      throw std::invalid_argument("--merge: structures with conservative update cannot be merged");
  }
  if (options.num_peers) {
    if (wanted.theta() > 1)
      throw std::invalid_argument("--peers: a summary has keys, not counts; leave out --threshold");
    if (wanted.false_positive_rate)
      wanted.false_positive_rate = rate_of_one(*wanted.false_positive_rate, *options.num_peers);
  }
  if (options.num_slots) {
    if (wanted.histogram || wanted.num_insertions)
      throw std::invalid_argument("--window: it needs the number of keys in a window; give only --keys");
    if (wanted.theta() > 1 || wanted.needs_deletes || wanted.needs_counts)
      throw std::invalid_argument(
          "--window: its filters are for keys that are only inserted; leave out --threshold, --deletes and "
          "--counts ('tally over N --window' counts in a window)");
    if (wanted.num_keys) wanted.num_keys = (*wanted.num_keys + *options.num_slots - 1) / *options.num_slots;
    if (wanted.memory_bytes) wanted.memory_bytes = *wanted.memory_bytes / num_filters_of(options);
    if (wanted.false_positive_rate)
      wanted.false_positive_rate = rate_of_one(*wanted.false_positive_rate, num_filters_of(options));
  }
  return wanted;
}

std::string nodes_text(const NodeOptions& options, std::span<const Candidate> candidates) {
  std::string text;
  if (options.num_merged) text += merge_text(options, candidates);
  if (options.num_peers) text += peers_text(options, candidates);
  if (options.num_slots) text += window_text(options, candidates);
  return text;
}

void add_nodes_json(Json& json, const NodeOptions& options, std::span<const Candidate> candidates) {
  json["merge"] = nullptr;
  json["peers"] = nullptr;
  json["window"] = nullptr;
  if (options.num_merged) {
    Json merged = Json::array();
    for (const Candidate& candidate : candidates) {
      const std::optional<double> before = rate_before(options, candidate);
      merged.push_back({{"name", candidate.name()},
                        {"num_keys_of_each", keys_of_each(options, candidate)},
                        {"false_positive_rate_of_each", json_or_null(before)},
                        {"num_keys", candidate.num_keys},
                        {"false_positive_rate", candidate.false_positive_rate}});
    }
    json["merge"] = {{"num_structures", *options.num_merged}, {"candidates", merged}};
  }
  if (options.num_peers) {
    Json asked = Json::array();
    for (const Candidate& candidate : candidates) {
      const std::optional<std::uint64_t> bytes = summary_bytes(candidate.shape);
      asked.push_back(
          {{"name", candidate.name()},
           {"summary_bytes", json_or_null(bytes)},
           {"all_summaries_bytes", bytes ? Json(*bytes * *options.num_peers) : Json()},
           {"false_positive_rate_of_peer", candidate.false_positive_rate},
           {"false_positive_rate", rate_of_all(candidate.false_positive_rate, *options.num_peers)}});
    }
    json["peers"] = {{"num_peers", *options.num_peers}, {"candidates", asked}};
  }
  if (options.num_slots) {
    const std::uint64_t num_filters = num_filters_of(options);
    Json filters = Json::array();
    for (const Candidate& candidate : candidates) {
      filters.push_back({{"name", candidate.name()},
                         {"num_keys_of_each", candidate.num_keys},
                         {"memory_bytes", num_filters * candidate.shape.num_bytes()},
                         {"false_positive_rate_of_each", candidate.false_positive_rate},
                         {"false_positive_rate", rate_of_all(candidate.false_positive_rate, num_filters)}});
    }
    json["window"] = {
        {"num_slots", *options.num_slots}, {"num_filters", num_filters}, {"candidates", filters}};
  }
}

}  // namespace tally::cli
