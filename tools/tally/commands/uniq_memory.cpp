#include "commands/uniq_memory.hpp"

#include <fmt/core.h>

#include <limits>
#include <stdexcept>
#include <string_view>
#include <variant>

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

  void find_new(std::span<const Hash128> digests, std::span<std::uint32_t> indices,
                std::size_t& num_new) override {
    const std::size_t num_absent = seen_.find_absent(digests, indices);
    std::size_t count = 0;
    for (std::size_t i = 0; i < num_absent; ++i) {
      num_new = count;
      const HashSet::Outcome outcome = seen_.insert(digests[indices[i]]);
      if (outcome == HashSet::Outcome::full) throw_full();
      indices[count] = indices[i];
      count += outcome == HashSet::Outcome::inserted;
    }
    num_new = count;
  }

  std::uint64_t num_bytes() const override { return seen_.num_bytes(); }
  double error_bound() const override { return 0; }
  std::string promise() const override {
    return fmt::format("exact, except with probability 2^-96 for any two keys{}", exception_);
  }

 private:
  [[noreturn]] void throw_full() const {
    throw std::runtime_error(
        fmt::format("the memory is full at {} distinct keys; give more --memory, or use --may-repeat (never "
                    "drops a key) or --approximate (may drop some)",
                    seen_.size()));
  }

  HashSet seen_;
  std::string_view exception_;
};

/// Asks is_new(digest) about each key; its memory is prefetched.
template <class Seen, class IsNew>
void find_new_in(const Seen& seen, std::span<const Hash128> digests, std::span<std::uint32_t> indices,
                 std::size_t& num_new, IsNew is_new) {
  for (const Hash128 digest : digests) seen.prefetch(digest);
  std::size_t count = 0;
  for (std::size_t i = 0; i < digests.size(); ++i) {
    indices[count] = static_cast<std::uint32_t>(i);
    count += is_new(digests[i]);
  }
  num_new = count;
}

class ApproximateMemory : public UniqMemory {
 public:
  ApproximateMemory(const UniqOptions& options, const KeyHasher& hasher)
      : seen_(std::get<BloomShape>(plan_uniq(options).shape.shape), hasher),
        exception_(unless_chosen(hasher)) {}

  void find_new(std::span<const Hash128> digests, std::span<std::uint32_t> indices,
                std::size_t& num_new) override {
    find_new_in(seen_, digests, indices, num_new,
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

  void find_new(std::span<const Hash128> digests, std::span<std::uint32_t> indices,
                std::size_t& num_new) override {
    find_new_in(seen_, digests, indices, num_new, [&](Hash128 digest) { return seen_.insert(digest); });
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
