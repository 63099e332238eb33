#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "cli/command_line.hpp"
#include "tally/planner/plan.hpp"
#include "text/json.hpp"

// `tally plan` for several structures of one shape: those of nodes, which are merged; summaries of peers, which are asked
// together; and the slots of a window, which take turns.

namespace tally::cli {

struct NodeOptions {
  std::optional<std::uint64_t> num_merged;
  std::optional<std::uint64_t> num_peers;
  std::optional<std::uint64_t> num_slots;  ///< of a window
};

void add_node_options(CommandLine app, NodeOptions& options);

/// The requirements of one structure: with --merge for the keys of all; with --peers and --window at a rate so low that all
/// together keep the given one; with --window for the keys, and in the memory, of one slot. Throws std::invalid_argument that names a flag for options that contradict each other.
Requirements requirements_of_node(const NodeOptions& options, Requirements wanted);

/// More tables for these candidates of a plan that meets requirements_of_node; empty without the options.
std::string nodes_text(const NodeOptions& options, std::span<const Candidate> candidates);

/// The members `merge`, `peers` and `window` of the JSON of a plan.
void add_nodes_json(Json& json, const NodeOptions& options, std::span<const Candidate> candidates);

}  // namespace tally::cli
