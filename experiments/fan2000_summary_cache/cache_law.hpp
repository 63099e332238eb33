#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "request_trace.hpp"

namespace tally::experiments {

/// What Che's approximation says of LRU caches: a document of popularity p is in one with probability
/// 1 - exp(-p t), where t is such that the cache is full. Repeats hit. Caches are taken as independent.
/// @source Che, Tung, Wang 2002
struct CacheLaw {
  double local_hits = 0;   ///< share of the requests
  double remote_hits = 0;  ///< where every miss asks all
  double held_pairs = 0;   ///< of pairs of a miss and a peer: those where the peer has the document
  /// Among such pairs, how often the document is one that just came, over how often one that just came is among the
  /// peer's documents; and the same for one that just went. One number, since what comes goes.
  double new_key_popularity = 0;

  CacheLaw(const TraceShape& shape, std::uint32_t capacity) {
    const std::vector<double> popular = popularity(shape);
    const auto filled = [&](double t) {
      double sum = 0;
      for (const double p : popular) sum -= std::expm1(-p * t);
      return sum;
    };
    double low = capacity;
    double high = 2.0 * capacity;
    while (filled(high) < capacity) high *= 2;
    for (int i = 0; i < 60; ++i) (filled((low + high) / 2) < capacity ? low : high) = (low + high) / 2;
    double miss = 0;
    double held = 0;
    double any_held = 0;
    double came = 0;
    for (const double p : popular) {
      const double absent = std::exp(-p * low);
      const double missed = p * absent;  // of a document: its misses, and its arrivals in a cache
      miss += missed;
      held += missed * (1 - absent);
      any_held += missed * (1 - std::pow(absent, shape.num_proxies - 1));
      came += missed * missed;
    }
    const double draws = 1 - shape.locality;
    local_hits = 1 - draws * miss;
    remote_hits = draws * any_held;
    held_pairs = held / miss;
    new_key_popularity = came / miss / (held / capacity);
  }
};

}  // namespace tally::experiments
