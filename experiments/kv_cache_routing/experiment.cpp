// Routers that send a request to the worker with the longest prefix of its blocks in its cache. README.md has the claims.

#include <algorithm>
#include <functional>
#include <optional>

#include "fleet.hpp"
#include "run_experiment.hpp"
#include "tally/planner/plan_dleft.hpp"
#include "tally/theory/bloom.hpp"

namespace tally::experiments {
namespace {

FleetShape fleet_shape(const Options& options) {
  FleetShape shape;
  if (!options.small) return shape;
  shape.num_workers = 8;
  shape.capacity = 2000;
  shape.trace.documents_per_prompt = 10;
  shape.trace.num_sessions = 100;
  return shape;
}

using MakeKnowledge = std::function<std::unique_ptr<Knowledge>(std::uint64_t seed)>;

struct Router {
  std::string name;
  Choice choice = Choice::longest_prefix;
  MakeKnowledge make;
  std::optional<double> x = {};
};

/// A cache has the blocks of one request more before it evicts.
std::uint64_t most_keys(const FleetShape& shape) { return shape.capacity + shape.trace.most_blocks; }

MakeKnowledge bits(const FleetShape& shape, std::uint32_t bits_per_key, std::uint64_t interval) {
  const std::uint64_t m = bits_per_key * most_keys(shape);
  const CountingBloomShape own{.num_counters = m, .num_hashes = theory::best_num_hashes(m, most_keys(shape))};
  return [=](std::uint64_t seed) {
    return std::make_unique<Summaries<CountingBloomFilter<>>>(shape.num_workers, own, interval, seed);
  };
}

MakeKnowledge cells(const FleetShape& shape, std::uint64_t interval) {
  const DLeftShape own = plan_dleft({.num_keys = most_keys(shape),
                                     .false_positive_rate = 0.001,
                                     .keys_repeat = false,
                                     .lifetime_operations = 1'000'000'000});
  return [=](std::uint64_t seed) {
    return std::make_unique<Summaries<DLeftCountingBloomFilter<>>>(shape.num_workers, own, interval, seed);
  };
}

std::vector<Router> all_routers(const FleetShape& shape) {
  std::vector<Router> routers;
  const auto exact = [=](std::uint64_t) { return std::make_unique<ExactEvents>(shape.num_workers); };
  routers.push_back({"exact index of every event", Choice::longest_prefix, exact});
  routers.push_back({"own requests", Choice::longest_prefix, [=](std::uint64_t) {
                       return std::make_unique<OwnRequests>(shape.num_routers, shape.num_workers,
                                                            shape.capacity);
                     }});
  const auto nothing = [](std::uint64_t) { return std::make_unique<Knowledge>(); };
  routers.push_back({"sticky sessions", Choice::sticky, nothing});
  routers.push_back({"random", Choice::random, nothing});
  for (const std::uint64_t interval : {1u, 64u, 640u, 6400u, 32'000u}) {
    const auto x = static_cast<double>(interval) / shape.num_workers;
    routers.push_back({fmt::format("10 bits a block every {} requests", interval), Choice::longest_prefix,
                       bits(shape, 10, interval), x});
    routers.push_back({fmt::format("d-left cells every {} requests", interval), Choice::longest_prefix,
                       cells(shape, interval), x});
  }
  for (const std::uint32_t bits_per_key : {2u, 3u, 4u, 6u, 8u, 16u})
    routers.push_back({fmt::format("{} bits a block every 64 requests", bits_per_key), Choice::longest_prefix,
                       bits(shape, bits_per_key, 64), static_cast<double>(bits_per_key)});
  return routers;
}

void add_rows(const Router& router, const std::vector<FleetCounts>& runs, std::uint32_t num_workers,
              Report& report) {
  const auto add = [&](const std::string& quantity, auto value) {
    Mean mean;
    for (const FleetCounts& run : runs) mean.add(value(run));
    report.add({.setting = router.name, .quantity = quantity, .x = router.x, .measured = Measured(mean)});
  };
  const auto per = [](std::uint64_t a, std::uint64_t b) {
    return static_cast<double>(a) / static_cast<double>(b);
  };
  add("share of the blocks that are in the worker's cache",
      [&](const FleetCounts& run) { return per(run.blocks_found, run.blocks); });
  add("blocks of the busiest worker over the mean",
      [&](const FleetCounts& run) { return per(run.busiest_blocks, run.blocks_calculated) * num_workers; });
  if (router.choice != Choice::longest_prefix) return;  // nothing is known, and nothing sent
  add("bytes a request to each router",
      [&](const FleetCounts& run) { return per(run.bytes_sent, run.requests); });
  add("megabytes of memory in each router",
      [](const FleetCounts& run) { return static_cast<double>(run.memory_bytes) / 1e6; });
  add("share of the requests whose prefix was overstated",
      [&](const FleetCounts& run) { return per(run.requests_overstated, run.requests); });
  add("blocks overstated a request",
      [&](const FleetCounts& run) { return per(run.blocks_overstated, run.requests); });
}

void run(const Options& options, Report& report) {
  const FleetShape shape = fleet_shape(options);
  for (const Router& router : all_routers(shape)) {
    const std::vector<FleetCounts> runs =
        run_trials(options, router.name, options.trials, [&](std::uint64_t seed) {
          const std::unique_ptr<Knowledge> knowledge = router.make(seed);
          return Fleet(shape, router.choice, *knowledge, seed).run(options.steps / 2, options.steps);
        });
    add_rows(router, runs, shape.num_workers, report);
  }
}

}  // namespace
}  // namespace tally::experiments

int main(int argc, char** argv) {
  using namespace tally::experiments;
  return run_experiment(
      argc, argv,
      {.about = "Routers that look for the longest prefix in the caches of workers; steps: requests",
       .usual = {.trials = 5, .steps = 40'000},
       .small = {.trials = 3, .steps = 1000},
       .run = run});
}
