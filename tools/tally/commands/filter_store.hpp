#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "commands/selected_keys.hpp"
#include "input/key_reader.hpp"
#include "store/options.hpp"

// build, add, remove, query and count with --store.

namespace tally::cli {

struct FilterStoreOptions {
  InputOptions input;
  StoreOptions store;
  bool json = false;
  bool quiet = false;
};

/// The size of a filter in a store. A number of keys and a memory are those of all shards, an exact shape is that of each.
struct StoreFilterSize {
  std::string kind;
  std::vector<std::string> words;  ///< further options of TALLY.CREATE, such as {"--threshold", "3"}
  std::optional<std::uint64_t> num_keys;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint64_t> seed;
  bool has_exact_shape = false;
};

/// The options of `tally build` that TALLY.CREATE has too, as they were given.
std::vector<std::string> words_for_server(CommandLine app);

ExitCode run_build_store(const FilterStoreOptions& options, const StoreFilterSize& size);
ExitCode run_add_store(const FilterStoreOptions& options);
ExitCode run_remove_store(const FilterStoreOptions& options);
ExitCode run_query_store(const FilterStoreOptions& options, const SelectionOptions& selection,
                         std::optional<std::uint64_t> at_least);
ExitCode run_count_store(const FilterStoreOptions& options, bool line_buffered);

/// With --store, the first positional argument is a file of keys. Without, there must be one: throws std::invalid_argument.
void take_filter_argument(const StoreOptions& store, std::string& filter, InputOptions& input);

}  // namespace tally::cli
