#pragma once

#include "command.hpp"

namespace tally::cli {

Run declare_plan(CLI::App& app);
Run declare_theory(CLI::App& app);
Run declare_verify(CLI::App& app);
Run declare_over(CLI::App& app);
Run declare_uniq(CLI::App& app);
Run declare_top(CLI::App& app);
Run declare_kmers(CLI::App& app);
Run declare_build(CLI::App& app);
Run declare_add(CLI::App& app);
Run declare_remove(CLI::App& app);
Run declare_halve(CLI::App& app);
Run declare_query(CLI::App& app);
Run declare_count(CLI::App& app);
Run declare_merge(CLI::App& app);
Run declare_info(CLI::App& app);
Run declare_diff(CLI::App& app);
Run declare_patch(CLI::App& app);
Run declare_watch(CLI::App& app);
Run declare_squid(CLI::App& app);
Run declare_node(CLI::App& app);

}  // namespace tally::cli
