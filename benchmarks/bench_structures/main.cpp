// Every structure of Tally, and structures of other libraries that do the same, in one run: answers, false positive rate and
// memory, and the time of each operation beside the physical limit, reads of random lines. docs/benchmarks.md has results.
//
//   bench_structures [--keys N] [--rounds N] [--hashed] [--only PATTERN] [--json FILE] [--plot PREFIX] [--quick]
//
// Each round takes the structures in another random order, so that a slow period of the machine is not one structure's.

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <random>
#include <stdexcept>
#include <vector>

#include "entries.hpp"
#include "options.hpp"
#include "plots.hpp"
#include "report.hpp"
#include "tally/detail/aligned_words.hpp"
#include "trial.hpp"

namespace tally::bench {
namespace {

using Trials = std::vector<std::unique_ptr<Trial>>;

Trials make_trials(const std::vector<Entry>& entries, const Workload& workload, const Options& options) {
  Trials trials;
  for (const Entry& entry : entries) {
    if (!options.wants(entry.name)) continue;
    if (workload.members().size() > entry.most_keys) {
      fmt::print(stderr, "left out: {}, which is for at most {} keys here\n", entry.name, entry.most_keys);
      continue;
    }
    trials.push_back(std::make_unique<Trial>(entry, workload, options.hashed));
  }
  return trials;
}

/// As large as the largest structure. All its pages are written, so that none is the kernel's page of zeros.
detail::AlignedWords line_memory(const Trials& trials) {
  std::uint64_t num_bytes = 64;
  for (const auto& trial : trials) num_bytes = std::max(num_bytes, trial->measured().num_bytes);
  detail::AlignedWords words(num_bytes / 8 + 8);
  std::ranges::fill(words.words(), 1);
  return words;
}

std::vector<Measured> measure(const std::vector<Entry>& entries, std::uint64_t num_keys,
                              const Options& options) {
  Workload workload(num_keys);
  const Trials trials = make_trials(entries, workload, options);
  const detail::AlignedWords lines = line_memory(trials);
  std::vector<Trial*> order;
  for (const auto& trial : trials) order.push_back(trial.get());
  std::minstd_rand random(1);
  for (int round = 0; round <= options.num_rounds; ++round) {
    workload.next_round();
    std::shuffle(order.begin(), order.end(), random);
    for (Trial* const trial : order) trial->run_round(lines.words(), round > 0);
  }
  workload.next_round();  // for the members after the last replacements
  std::vector<Measured> all;
  for (const auto& trial : trials) {
    trial->check_members();
    all.push_back(trial->measured());
  }
  return all;
}

void write_file(const std::string& name, const std::string& text) {
  std::FILE* const file = std::fopen(name.c_str(), "w");
  const bool is_written = file != nullptr && std::fputs(text.c_str(), file) >= 0;
  if (file == nullptr || std::fclose(file) != 0 || !is_written)
    throw std::runtime_error("--json: cannot write " + name);
}

void run(const Options& options) {
  const std::vector<Entry> entries = all_entries();
  if (std::ranges::none_of(entries, [&](const Entry& entry) { return options.wants(entry.name); }))
    throw std::runtime_error("--only: no structure has such a name");
  cli::Json working_sets = cli::Json::array();
  for (const std::uint64_t num_keys : options.num_keys) {
    const std::vector<Measured> all = measure(entries, num_keys, options);
    if (all.empty()) continue;
    fmt::print("{}\n", tables_of(all));
    std::fflush(stdout);
    working_sets.push_back(json_of(all, options.hashed));
    if (!options.plot_prefix.empty()) draw_plots(options.plot_prefix, all);
  }
  if (!options.json_file.empty()) {
    const cli::Json json = {{"rounds", options.num_rounds}, {"working_sets", working_sets}};
    write_file(options.json_file, json.dump(2) + "\n");
  }
}

}  // namespace
}  // namespace tally::bench

int main(int argc, char** argv) {
  const tally::bench::Options options = tally::bench::parse_options(argc, argv);
  try {
    tally::bench::run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_structures: {}\n", error.what());
    return 2;
  }
}
