// Fan et al. 2000 (Summary Cache): cooperating web caches that tell each other what they hold. README.md has the claims.

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cache_rows.hpp"
#include "run_experiment.hpp"

namespace tally::experiments {
namespace {

const std::vector<NamedPolicy> policies = {{"at once", 0},
                                           {"at 0.1%", 0.001},
                                           {"at 1%", NamedPolicy::reference_share},
                                           {"at 2%", 0.02},
                                           {"at 5%", 0.05},
                                           {"at 10%", NamedPolicy::large_share},
                                           {"every 60 s", NamedPolicy::no_share, 60},
                                           {"every 600 s", NamedPolicy::no_share, 600},
                                           {"at 0.7% or 60 s", 0.007, 60}};

/// Three kinds under every policy, and all of them under one.
std::vector<Protocol> all_protocols() {
  constexpr SummaryKind under_all_policies[] = {{10, 4}, {10, 7}, {0, 0, 14}};
  std::vector<Protocol> protocols;
  for (std::size_t policy = 0; policy < policies.size(); ++policy) {
    for (const SummaryKind& kind : under_all_policies) protocols.push_back({policy, kind});
    if (!policies[policy].is_reference()) continue;
    for (const std::uint32_t bits : {8u, 10u, 16u, 32u}) {
      const std::uint32_t best = theory::best_num_hashes(bits * 100'000, 100'000);
      for (const std::uint32_t k : {4u, 5u, 7u, best}) {
        const SummaryKind kind{bits, k};
        const auto same = [&](const Protocol& p) { return p.policy == policy && p.kind == kind; };
        if (std::none_of(protocols.begin(), protocols.end(), same)) protocols.push_back({policy, kind});
      }
    }
    protocols.push_back({policy, {0, 0, 10}});
  }
  return protocols;
}

struct TraceOptions {
  std::string file;
  std::uint32_t num_proxies = 8;
  std::uint32_t capacity = 0;
};
TraceOptions trace_options;

void run_generated(std::uint32_t num_proxies, const Options& options, Report& report) {
  const std::vector<Protocol> protocols = all_protocols();
  const std::uint32_t capacity = options.small ? 500 : 5000;
  const TraceShape shape{.num_proxies = num_proxies, .num_documents = 40 * capacity, .recent = capacity / 10};
  const std::string name = fmt::format("{} proxies", num_proxies);
  std::vector<RunCounts> runs = run_trials(options, name, options.trials, [&](std::uint64_t seed) {
    GeneratedTrace trace(shape, seed);
    CooperatingCaches caches(num_proxies, capacity, shape.num_documents, policies, protocols, seed);
    for (std::uint64_t i = 0; i < std::uint64_t{5} * capacity * num_proxies; ++i)
      caches.warm_up(trace.next());
    caches.begin();
    for (std::uint64_t i = 0; i < options.steps * num_proxies; ++i) {
      const Request request = trace.next();
      caches.serve(request, generated_url_bytes(request.document));
    }
    return caches.counts();
  });
  CacheRows({name, num_proxies, capacity, shape, num_proxies == 8}, std::move(runs), policies, report)
      .add_all(protocols);
}

void run_file(Report& report) {
  const TraceFile trace(trace_options.file, trace_options.num_proxies);
  const auto num_documents = static_cast<std::uint32_t>(trace.url_bytes.size());
  const std::uint32_t capacity =
      trace_options.capacity != 0 ? trace_options.capacity : std::max(1u, num_documents / 10);
  const std::vector<Protocol> protocols = all_protocols();
  CooperatingCaches caches(trace_options.num_proxies, capacity, num_documents, policies, protocols, 1);
  const std::size_t warm_up = trace.requests.size() / 2;
  for (std::size_t i = 0; i < trace.requests.size(); ++i) {
    if (i == warm_up) caches.begin();
    const Request request = trace.requests[i];
    if (i < warm_up) {
      caches.warm_up(request);
    } else {
      caches.serve(request, trace.url_bytes[request.document]);
    }
  }
  CacheRows({"trace", trace_options.num_proxies, capacity}, {caches.counts()}, policies, report)
      .add_all(protocols);
}

void run(const Options& options, Report& report) {
  if (!trace_options.file.empty()) return run_file(report);
  run_generated(16, options, report);
  run_generated(8, options, report);
}

}  // namespace
}  // namespace tally::experiments

int main(int argc, char** argv) {
  using namespace tally::experiments;
  return run_experiment(
      argc, argv,
      {.about =
           "Fan et al. 2000: cooperating caches that tell each other what they hold; steps: requests a proxy",
       .usual = {.trials = 20, .steps = 10'000},
       .small = {.trials = 3, .steps = 500},
       .run = run,
       .add_options = [](CLI::App& app) {
         app.add_option(
             "--trace", trace_options.file,
             "File of requests, one per line: proxy or client, URL; the first half warms up the caches");
         app.add_option("--proxies", trace_options.num_proxies, "Of the trace")
             ->check(CLI::Range(2, 31))
             ->capture_default_str();
         app.add_option("--capacity", trace_options.capacity,
                        "Documents in a proxy's cache (default: a tenth of the trace's)");
       }});
}
