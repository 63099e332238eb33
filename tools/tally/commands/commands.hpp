#pragma once

#include "cli/command.hpp"

namespace tally::cli {

Run declare_plan(CommandLine app);
Run declare_theory(CommandLine app);
Run declare_verify(CommandLine app);
Run declare_bench(CommandLine app);
Run declare_over(CommandLine app);
Run declare_uniq(CommandLine app);
Run declare_top(CommandLine app);
Run declare_kmers(CommandLine app);
Run declare_build(CommandLine app);
Run declare_add(CommandLine app);
Run declare_remove(CommandLine app);
Run declare_halve(CommandLine app);
Run declare_query(CommandLine app);
Run declare_count(CommandLine app);
Run declare_merge(CommandLine app);
Run declare_info(CommandLine app);
Run declare_diff(CommandLine app);
Run declare_patch(CommandLine app);
Run declare_watch(CommandLine app);
Run declare_squid(CommandLine app);
Run declare_node(CommandLine app);

}  // namespace tally::cli
