#include "kmers/filter.hpp"

#include <fmt/core.h>

#include <new>
#include <stdexcept>
#include <utility>

#include "text/output.hpp"

namespace tally::cli {

KmerFilter::KmerFilter(const KmerPlan& plan, const KeyHasher& hasher, std::uint32_t num_threads)
    : plan_(plan) {
  try {
    if (const auto* bits = std::get_if<DuplicateShape>(&plan.shape)) {
      filter_.emplace<SharedDuplicateFilter>(*bits, hasher);
    } else if (num_threads == 1) {
      filter_.emplace<ThresholdFilter<>>(std::get<ThresholdShape>(plan.shape), hasher);
    } else {
      filter_.emplace<SharedThresholdFilter<>>(std::get<ThresholdShape>(plan.shape), hasher);
    }
  } catch (const std::bad_alloc&) {
    throw std::runtime_error(
        fmt::format("not enough memory for {}; use less --memory or a higher --false-positive-rate",
                    human_bytes(static_cast<double>(plan.num_bytes()))));
  }
}

void KmerFilter::insert_and_count(std::span<const Hash128> digests, std::span<Count> counts) {
  if (auto* bits = std::get_if<SharedDuplicateFilter>(&filter_)) {
    Batch<bool> was_there;
    bits->test_and_insert_batch(digests, std::span(was_there).first(digests.size()));
    for (std::size_t i = 0; i < digests.size(); ++i) counts[i] = {was_there[i] ? 2u : 1u, was_there[i]};
  } else if (auto* own = std::get_if<ThresholdFilter<>>(&filter_)) {
    own->insert_and_count_batch(digests, counts);
  } else {
    std::get<SharedThresholdFilter<>>(filter_).insert_and_count_batch(digests, counts);
  }
}

void KmerFilter::insert(std::span<const Hash128> digests) {
  if (auto* shared = std::get_if<SharedThresholdFilter<>>(&filter_)) return shared->insert_batch(digests);
  Batch<Count> not_used;
  std::get<ThresholdFilter<>>(filter_).insert_and_count_batch(digests,
                                                              std::span(not_used).first(digests.size()));
}

ThresholdFilter<> KmerFilter::release() && {
  if (auto* shared = std::get_if<SharedThresholdFilter<>>(&filter_)) return std::move(*shared).release();
  return std::get<ThresholdFilter<>>(std::move(filter_));
}

FilterStatistics KmerFilter::statistics() && {
  if (const auto* bits = std::get_if<SharedDuplicateFilter>(&filter_)) return bits->statistics();
  return std::move(*this).release().statistics();
}

std::unique_ptr<KmerFilter> new_filter(const KmersOptions& options, const KeyHasher& hasher) {
  if (options.lower_count == 1) return nullptr;
  return std::make_unique<KmerFilter>(plan_kmers(options, hasher), hasher, options.num_threads);
}

}  // namespace tally::cli
