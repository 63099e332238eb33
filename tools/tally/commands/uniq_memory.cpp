#include "commands/uniq_memory.hpp"

#include <fmt/core.h>

#include <limits>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <variant>

#include "input/key_loop.hpp"
#include "shape/memory_warning.hpp"
#include "tally/filters/bloom.hpp"
#include "tally/sets/hash_set.hpp"
#include "tally/sets/recent_keys.hpp"
#include "text/output.hpp"

namespace tally::cli {
namespace {

constexpr double default_false_positive_rate = 0.001;

class ExactMemory : public UniqMemory {
 public:
  ExactMemory(const UniqOptions& options, const KeyHasher& hasher)
      : seen_(options.memory_bytes.value_or(std::numeric_limits<std::uint64_t>::max())),
        exception_(unless_chosen(hasher)) {}

  bool has_halves() const override { return seen_.shards().size() > 1; }

  Kept drop_known(Digests which, std::span<const Hash128> digests,
                  std::span<std::uint32_t> indices) override {
    if (which != Digests::all) return drop_known_of_half(which == Digests::upper_half, digests, indices);
    return insert_new(digests, indices, seen_.find_absent(digests, indices));
  }

  std::uint64_t num_bytes() const override { return seen_.num_bytes(); }
  double error_bound() const override { return 0; }
  std::string promise() const override {
    return fmt::format("exact, except with probability 2^-96 for any two keys{}", exception_);
  }

 private:
  /// Of the digests that were absent, keeps the indices of those that are new. After a failure the next index is that of the
  /// key without room.
  Kept insert_new(std::span<const Hash128> digests, std::span<std::uint32_t> indices,
                  std::size_t num_absent) {
    Kept kept{};
    for (std::size_t i = 0; i < num_absent; ++i) {
      indices[kept.num_kept] = indices[i];
      try {
        kept.num_kept += insert(digests[indices[i]]) == HashSet::Outcome::inserted;
      } catch (...) {
        kept.failure = std::current_exception();
        break;
      }
    }
    return kept;
  }

  /// One thread at a time makes room, so that there is one copy of a shard at most. Throws MemoryFull and std::bad_alloc.
  HashSet::Outcome insert(Hash128 digest) {
    HashSet::Outcome outcome = seen_.try_insert(digest);
    while (outcome == HashSet::Outcome::full) {
      const std::lock_guard alone(growing_);
      if (!seen_.try_grow(digest)) throw MemoryFull();
      outcome = seen_.try_insert(digest);
    }
    return outcome;
  }

  Kept drop_known_of_half(bool is_upper, std::span<const Hash128> digests, std::span<std::uint32_t> indices) {
    const std::uint64_t middle = seen_.shards().size() / 2;
    Batch<Hash128> own;
    Batch<std::uint32_t> places;  // of these among all
    Batch<bool> is_kept;
    std::size_t num_own = 0;
    for (std::size_t i = 0; i < digests.size(); ++i) {
      const bool is_own = (seen_.index_of_shard(digests[i]) >= middle) == is_upper;
      own[num_own] = digests[i];
      places[num_own] = static_cast<std::uint32_t>(i);
      num_own += is_own;
      is_kept[i] = !is_own;
    }
    Batch<std::uint32_t> absent;
    const std::span own_digests(own.data(), num_own);
    const std::size_t num_absent = seen_.find_absent(own_digests, std::span(absent).first(num_own));
    Kept kept = insert_new(own_digests, absent, num_absent);
    for (std::size_t i = 0; i < kept.num_kept; ++i) is_kept[places[absent[i]]] = true;
    const std::size_t end = kept.failure ? places[absent[kept.num_kept]] : digests.size();
    kept.num_kept = 0;
    for (std::size_t i = 0; i < end; ++i) {
      indices[kept.num_kept] = static_cast<std::uint32_t>(i);
      kept.num_kept += is_kept[i];
    }
    return kept;
  }

  HashSet seen_;
  std::mutex growing_;
  std::string_view exception_;
};

/// Asks is_new(digest) about each key; its memory is prefetched.
template <class Seen, class IsNew>
UniqMemory::Kept drop_known_in(const Seen& seen, std::span<const Hash128> digests,
                               std::span<std::uint32_t> indices, IsNew is_new) {
  for (const Hash128 digest : digests) seen.prefetch(digest);
  std::size_t count = 0;
  for (std::size_t i = 0; i < digests.size(); ++i) {
    indices[count] = static_cast<std::uint32_t>(i);
    count += is_new(digests[i]);
  }
  return {count, nullptr};
}

class ApproximateMemory : public UniqMemory {
 public:
  ApproximateMemory(const UniqOptions& options, const KeyHasher& hasher)
      : seen_(std::get<BloomShape>(plan_uniq(options).shape.shape), hasher),
        exception_(unless_chosen(hasher)) {}

  Kept drop_known(Digests, std::span<const Hash128> digests, std::span<std::uint32_t> indices) override {
    return drop_known_in(seen_, digests, indices,
                         [&](Hash128 digest) { return !seen_.test_and_insert(digest); });
  }

  std::uint64_t num_bytes() const override { return tally::num_bytes(seen_.shape()); }
  // Calculated from the bits that are set: the number of printed keys is too low if many were dropped.
  double error_bound() const override { return seen_.statistics().estimated_false_positive_rate; }
  std::string promise() const override {
    return fmt::format("a new key is dropped with probability at most {}{}", human_rate(error_bound()),
                       exception_);
  }

 private:
  BloomFilter<> seen_;
  std::string_view exception_;
};

class ForgetfulMemory : public UniqMemory {
 public:
  ForgetfulMemory(const UniqOptions& options, const KeyHasher& hasher)
      : seen_(options.recent_bytes()), exception_(unless_chosen(hasher)) {}

  Kept drop_known(Digests, std::span<const Hash128> digests, std::span<std::uint32_t> indices) override {
    return drop_known_in(seen_, digests, indices, [&](Hash128 digest) { return seen_.insert(digest); });
  }

  std::uint64_t num_bytes() const override { return seen_.num_bytes(); }
  double error_bound() const override { return 0; }
  std::string promise() const override {
    return seen_.num_forgotten() == 0
               ? fmt::format("nothing was forgotten: no key is repeated or dropped{}", exception_)
               : fmt::format("no key is dropped{}; {} were forgotten and may be repeated", exception_,
                             human_count(static_cast<double>(seen_.num_forgotten())));
  }

 private:
  RecentKeys seen_;
  std::string_view exception_;
};

}  // namespace

Planned plan_uniq(const UniqOptions& options) {
  if (!options.num_keys && !options.memory_bytes) {
    throw std::invalid_argument("--approximate needs a size; give --keys or --memory");
  }
  ShapeOptions wanted;
  wanted.wanted = {.num_keys = options.num_keys,
                   .false_positive_rate = options.false_positive_rate,
                   .memory_bytes = options.memory_bytes};
  wanted.default_rate = default_false_positive_rate;
  Planned plan = shape_of(wanted);
  warn_of_little_memory(wanted, plan.shape);
  return plan;
}

std::unique_ptr<UniqMemory> UniqMemory::of(const UniqOptions& options, const KeyHasher& hasher) {
  if (options.approximate) return std::make_unique<ApproximateMemory>(options, hasher);
  if (options.may_repeat) return std::make_unique<ForgetfulMemory>(options, hasher);
  return std::make_unique<ExactMemory>(options, hasher);
}

}  // namespace tally::cli
