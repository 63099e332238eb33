#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <variant>

#include "input/key_loop.hpp"
#include "kmers/loop.hpp"
#include "kmers/plan.hpp"
#include "tally/filters/shared_duplicate.hpp"
#include "tally/filters/shared_threshold.hpp"

namespace tally::cli {

/// The filter of k-mers: of bits, of counters for one thread, or of counters for several.
class KmerFilter {
 public:
  /// Throws std::runtime_error that suggests a fix if there is not enough memory.
  KmerFilter(const KmerPlan& plan, const KeyHasher& hasher, std::uint32_t num_threads);

  /// counts[i] = the count of the k-mer after its insertion, at least if it is the lower count.
  void insert_and_count(std::span<const Hash128> digests, std::span<Count> counts);

  /// For a plan of counters.
  void insert(std::span<const Hash128> digests);
  /// For a plan of counters.
  ThresholdFilter<> release() &&;

  FilterStatistics statistics() &&;

  const KmerPlan& plan() const noexcept { return plan_; }
  bool is_of_bits() const noexcept { return std::holds_alternative<SharedDuplicateFilter>(filter_); }

 private:
  KmerPlan plan_;
  std::variant<std::monostate, SharedDuplicateFilter, ThresholdFilter<>, SharedThresholdFilter<>> filter_;
};

/// The planned filter; none if the lower count is 1.
std::unique_ptr<KmerFilter> new_filter(const KmersOptions& options, const KeyHasher& hasher);

}  // namespace tally::cli
