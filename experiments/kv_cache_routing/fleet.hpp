#pragma once

#include <algorithm>
#include <deque>
#include <numeric>
#include <utility>
#include <vector>

#include "block_trace.hpp"
#include "prefix_cache.hpp"
#include "routers.hpp"

namespace tally::experiments {

struct FleetShape {
  std::uint32_t num_workers = 64;
  std::uint32_t num_routers = 4;
  std::size_t capacity = 6000;  ///< blocks of a worker
  BlockTraceShape trace;
};

/// How a router chooses a worker.
enum class Choice {
  longest_prefix,  ///< the longest prefix, of workers that do not have much more work than others
  random,
  sticky  ///< the same one for all requests of a session
};

struct FleetCounts {
  std::uint64_t requests = 0;
  std::uint64_t blocks = 0;
  std::uint64_t blocks_found = 0;  ///< in the cache of the worker that was chosen
  std::uint64_t requests_overstated = 0;
  std::uint64_t blocks_overstated = 0;
  std::uint64_t busiest_blocks = 0;  ///< that the busiest worker had to calculate
  std::uint64_t blocks_calculated = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t memory_bytes = 0;
};

/// Workers with a cache each, and routers that choose one for each request. A worker keeps all blocks of its requests.
class Fleet {
 public:
  Fleet(const FleetShape& shape, Choice choice, Knowledge& knowledge, std::uint64_t seed)
      : shape_(shape),
        choice_(choice),
        knowledge_(knowledge),
        trace_(shape.trace, seed),
        random_(mix64(seed)),
        caches_(shape.num_workers, PrefixCache(shape.capacity)),
        work_(shape.num_workers),
        recent_work_(shape.num_workers) {}

  FleetCounts run(std::uint64_t num_warm_up, std::uint64_t num_requests) {
    for (std::uint64_t i = 0; i < num_warm_up; ++i) serve();
    counts_ = {};
    work_.assign(shape_.num_workers, 0);
    knowledge_.bytes_sent = 0;
    for (std::uint64_t i = 0; i < num_requests; ++i) serve();
    counts_.requests = num_requests;
    counts_.busiest_blocks = *std::ranges::max_element(work_);
    counts_.blocks_calculated = std::accumulate(work_.begin(), work_.end(), std::uint64_t{0});
    counts_.bytes_sent = knowledge_.bytes_sent;
    counts_.memory_bytes = knowledge_.memory_bytes();
    return counts_;
  }

 private:
  void serve() {
    const BlockRequest request = trace_.next();
    const auto router = static_cast<std::uint32_t>(random_.below(shape_.num_routers));
    const HeldPrefix claim = choose(router, request);
    PrefixCache& cache = caches_[claim.worker];
    const std::size_t found = cache.prefix_length(request.blocks);
    const std::size_t too_many = claim.num_blocks > found ? claim.num_blocks - found : 0;
    const std::size_t calculated = request.blocks.size() - found;
    counts_.blocks += request.blocks.size();
    counts_.blocks_found += found;
    counts_.blocks_overstated += too_many;
    counts_.requests_overstated += too_many != 0;
    work_[claim.worker] += calculated;
    remember_work(claim.worker, 1 + calculated);
    cache.use(
        request.blocks, [&](std::uint64_t block) { knowledge_.inserted(claim.worker, block); },
        [&](std::uint64_t block) { knowledge_.removed(claim.worker, block); });
    knowledge_.was_sent(router, claim.worker, request.blocks);
    knowledge_.after_request(++num_served_);
  }

  HeldPrefix choose(std::uint32_t router, const BlockRequest& request) {
    if (choice_ == Choice::random) return {static_cast<std::uint32_t>(random_.below(shape_.num_workers)), 0};
    if (choice_ == Choice::sticky)
      return {static_cast<std::uint32_t>(mix64(request.session) % shape_.num_workers), 0};
    std::vector<HeldPrefix> claims = knowledge_.claims(router, request.blocks);
    std::ranges::sort(claims, [&](const HeldPrefix& a, const HeldPrefix& b) {
      return std::pair(b.num_blocks, recent_work_[a.worker]) <
             std::pair(a.num_blocks, recent_work_[b.worker]);
    });
    const auto total = std::accumulate(recent_work_.begin(), recent_work_.end(), std::uint64_t{0});
    const double most = most_times_the_mean * static_cast<double>(total) / shape_.num_workers +
                        static_cast<double>(shape_.trace.most_blocks);
    for (const HeldPrefix& claim : claims)
      if (static_cast<double>(recent_work_[claim.worker]) <= most) return claim;
    const auto least = std::ranges::min_element(recent_work_);
    return {static_cast<std::uint32_t>(least - recent_work_.begin()), 0};
  }

  /// That of the last 20 requests per worker.
  void remember_work(std::uint32_t worker, std::uint64_t blocks) {
    recent_.emplace_back(worker, blocks);
    recent_work_[worker] += blocks;
    if (recent_.size() <= 20 * shape_.num_workers) return;
    recent_work_[recent_.front().first] -= recent_.front().second;
    recent_.pop_front();
  }

  static constexpr double most_times_the_mean = 1.25;

  FleetShape shape_;
  Choice choice_;
  Knowledge& knowledge_;
  BlockTrace trace_;
  test::Random random_;
  std::vector<PrefixCache> caches_;
  std::vector<std::uint64_t> work_;
  std::deque<std::pair<std::uint32_t, std::uint64_t>> recent_;
  std::vector<std::uint64_t> recent_work_;
  std::uint64_t num_served_ = 0;
  FleetCounts counts_;
};

}  // namespace tally::experiments
