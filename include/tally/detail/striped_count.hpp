#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tally/detail/checked_math.hpp"

namespace tally::detail {

/// A sum that several threads add to: each adds to a number in a line of its own, as far as there are lines, so that the
/// threads do not wait for each other. It stays at 2^64 - 1 once it reaches it.
class StripedCount {
 public:
  void add(std::uint64_t amount) noexcept {
    std::atomic<std::uint64_t>& sum = stripes_[own_stripe()].sum;
    std::uint64_t seen = sum.load(std::memory_order_relaxed);
    while (!sum.compare_exchange_weak(seen, saturating_add(seen, amount), std::memory_order_relaxed)) {
    }
  }
  /// What all threads have added by now.
  std::uint64_t total() const noexcept {
    std::uint64_t total = 0;
    for (const Stripe& stripe : stripes_)
      total = saturating_add(total, stripe.sum.load(std::memory_order_relaxed));
    return total;
  }
  /// Nobody else may use it meanwhile.
  void clear() noexcept {
    for (Stripe& stripe : stripes_) stripe.sum = 0;
  }

 private:
  struct alignas(64) Stripe {
    std::atomic<std::uint64_t> sum = 0;
  };
  static constexpr std::size_t num_stripes = 16;

  static std::size_t own_stripe() noexcept {
    static std::atomic<std::size_t> num_threads = 0;
    thread_local const std::size_t own = num_threads++ % num_stripes;
    return own;
  }

  std::array<Stripe, num_stripes> stripes_;
};

}  // namespace tally::detail
