#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "input/key_loop.hpp"
#include "tally/filters/shared_threshold.hpp"
#include "text/output.hpp"

namespace tally::cli {

/// The filter of k-mers: an ordinary one for one thread, a shared one for several.
class KmerFilter {
 public:
  /// Throws std::runtime_error that suggests a fix if there is not enough memory.
  KmerFilter(const ThresholdShape& shape, const KeyHasher& hasher, std::uint32_t num_threads) {
    try {
      if (num_threads == 1) {
        one_.emplace(shape, hasher);
      } else {
        shared_.emplace(shape, hasher);
      }
    } catch (const std::bad_alloc&) {
      throw std::runtime_error(
          fmt::format("not enough memory for {}; use less --memory or a higher --false-positive-rate",
                      human_bytes(static_cast<double>(num_bytes(shape)))));
    }
  }

  void insert_and_count(std::span<const Hash128> digests, std::span<Count> counts) {
    if (one_) {
      one_->insert_and_count_batch(digests, counts);
    } else {
      shared_->insert_and_count_batch(digests, counts);
    }
  }
  void insert(std::span<const Hash128> digests) {
    if (shared_) return shared_->insert_batch(digests);
    Batch<Count> not_used;
    one_->insert_and_count_batch(digests, std::span(not_used).first(digests.size()));
  }
  ThresholdFilter<> release() && { return one_ ? *std::move(one_) : (*std::move(shared_)).release(); }

 private:
  std::optional<ThresholdFilter<>> one_;
  std::optional<SharedThresholdFilter<>> shared_;
};

}  // namespace tally::cli
