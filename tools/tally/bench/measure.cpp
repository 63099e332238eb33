#include "bench/measure.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

#include "bench/line_reads.hpp"
#include "bench/timing.hpp"
#include "cli/signals.hpp"
#include "tally/any_filter.hpp"
#include "tally/hashing/mix64.hpp"
#include "tally/theory/confidence.hpp"

namespace tally::cli {
namespace {

constexpr std::size_t keys_per_batch = 2048;
constexpr std::uint64_t calls_per_round = 256;
constexpr std::uint64_t first_absent = std::uint64_t{1} << 60;

/// A filter that holds the keys [first, first + num_keys) of an endless sequence.
class Bench {
 public:
  Bench(const FilterShape& shape, const MeasureOptions& options)
      : options_(options),
        filter_(shape, KeyHasher(options.seed)),
        salt_(mix64(options.seed)),
        digests_(keys_per_batch),
        found_(std::make_unique<bool[]>(keys_per_batch)),
        removed_(keys_per_batch) {
    // Only a threshold filter has to see a key more than once.
    const std::uint64_t times =
        shape.kind() == FilterKind::threshold ? shape.made_for_theta().value_or(1) : 1;
    for (std::uint64_t time = 0; time < times; ++time) {
      for (std::uint64_t i = 0; i < options.num_keys; i += keys_per_batch)
        insert(keys(i, std::min<std::uint64_t>(keys_per_batch, options.num_keys - i)));
    }
  }

  /// Returns the false positive rate.
  double check() {
    for (std::uint64_t i = 0; i < options_.num_keys; i += keys_per_batch) {
      const auto count = std::min<std::uint64_t>(keys_per_batch, options_.num_keys - i);
      if (num_found(keys(first_ + i, count)) != count)
        throw std::runtime_error("wrong answers: a key is missing; nothing was timed");
    }
    const auto wanted = std::clamp(1000 / options_.false_positive_rate, 1e5, 1e7);
    const auto num_queries = static_cast<std::uint64_t>(wanted) / keys_per_batch * keys_per_batch;
    std::uint64_t num_false = 0;
    for (std::uint64_t i = 0; i < num_queries; i += keys_per_batch)
      num_false += num_found(keys(first_absent + i, keys_per_batch));
    const double rate = static_cast<double>(num_false) / static_cast<double>(num_queries);
    // The rate of one filter differs from the mean of all, which is predicted, by a share of order 1 / sqrt(num_keys).
    const double largest =
        options_.false_positive_rate * (1 + 10 / std::sqrt(static_cast<double>(options_.num_keys)));
    if (theory::binomial_confidence_limits(num_false, num_queries, 1 - 2e-6).low > largest) {
      throw std::runtime_error(fmt::format(
          "wrong answers: the false positive rate is {:.4g}, above the predicted {:.4g}; nothing was timed",
          rate, options_.false_positive_rate));
    }
    return rate;
  }

  std::uint64_t memory_bytes() const { return 8 * (filter_.words().size() + filter_.side_words().size()); }

  void time_batches(OperationTimes& times) {
    const auto look_up = [&](std::span<const Hash128> some) { sink_ = sink_ + num_found(some); };
    add(times, Operation::lookup_present, time_keys(first_, look_up));
    add(times, Operation::lookup_absent, time_keys(first_absent, look_up));
    time_changes(
        times, [&](std::span<const Hash128> some) { remove(some); },
        [&](std::span<const Hash128> some) { insert(some); });
    double best = std::numeric_limits<double>::infinity();
    for (const std::size_t window : {32, 64, 128, 256}) best = std::min(best, time_line_reads(window));
    add(times, Operation::line_read, best);
  }

  void time_single(OperationTimes& times) {
    const auto look_up = [&](std::span<const Hash128> some) {
      std::uint64_t count = 0;
      for (const Hash128& digest : some) count += filter_.may_contain(digest);
      sink_ = sink_ + count;
    };
    add(times, Operation::lookup_present, time_keys(first_, look_up));
    add(times, Operation::lookup_absent, time_keys(first_absent, look_up));
    time_changes(
        times,
        [&](std::span<const Hash128> some) {
          for (const Hash128& digest : some) num_refused_ += filter_.remove(digest) == RemoveResult::refused;
        },
        [&](std::span<const Hash128> some) {
          for (const Hash128& digest : some) num_refused_ += filter_.insert(digest) == InsertResult::full;
        });
    add(times, Operation::line_read, time_line_reads(1));
  }

  /// Throws if an operation was refused.
  void require_all_done() const {
    if (num_refused_ != 0)
      throw std::runtime_error(
          fmt::format("{} operations were refused because the filter is full", num_refused_));
  }

 private:
  static void add(OperationTimes& times, Operation operation, double time) {
    times[static_cast<std::size_t>(operation)].push_back(time);
  }

  std::span<const Hash128> keys(std::uint64_t first, std::uint64_t count) {
    if (stop_requested()) throw std::runtime_error("interrupted");
    for (std::uint64_t i = 0; i < count; ++i)
      digests_[i] = {mix64(salt_ + 2 * (first + i)), mix64(salt_ + 2 * (first + i) + 1)};
    return std::span(digests_).first(count);
  }

  void insert(std::span<const Hash128> some) { num_refused_ += filter_.insert_batch(some); }
  void remove(std::span<const Hash128> some) {
    const auto results = std::span(removed_).first(some.size());
    filter_.remove_batch(some, results);
    num_refused_ += static_cast<std::uint64_t>(std::ranges::count(results, RemoveResult::refused));
  }
  std::uint64_t num_found(std::span<const Hash128> some) const {
    const auto results = std::span(found_.get(), some.size());
    filter_.may_contain_batch(some, results);
    return static_cast<std::uint64_t>(std::ranges::count(results, true));
  }

  double ns_per_key(double seconds) const {
    return 1e9 * seconds / static_cast<double>(calls_per_round * keys_per_batch);
  }

  /// Keys from `first` on, no more than there are in the filter, again and again.
  template <class Use>
  double time_keys(std::uint64_t first, Use use) {
    const std::uint64_t num_different_calls = options_.num_keys / keys_per_batch;
    double seconds = 0;
    for (std::uint64_t call = 0; call < calls_per_round; ++call) {
      const auto some = keys(first + call % num_different_calls * keys_per_batch, keys_per_batch);
      const double start = processor_seconds();
      use(some);
      seconds += processor_seconds() - start;
    }
    return ns_per_key(seconds);
  }
  double time_line_reads(std::size_t window) {
    return time_keys(first_absent, [&](std::span<const Hash128> some) {
      sink_ = sink_ + read_lines(filter_.words(), some, 1, window);
    });
  }

  template <class Remove, class Insert>
  void time_changes(OperationTimes& times, Remove take_out, Insert put_in) {
    if (!filter_.can_remove()) return add(times, Operation::insert, time_keys(first_, put_in));
    double removing = 0;
    double inserting = 0;
    for (std::uint64_t call = 0; call < calls_per_round; ++call) {
      const auto old_keys = keys(first_, keys_per_batch);
      const double start = processor_seconds();
      take_out(old_keys);
      removing += processor_seconds() - start;
      const auto new_keys = keys(first_ + options_.num_keys, keys_per_batch);
      const double middle = processor_seconds();
      put_in(new_keys);
      inserting += processor_seconds() - middle;
      first_ += keys_per_batch;
      require_all_done();  // a key that is not in must not be removed later
    }
    add(times, Operation::remove, ns_per_key(removing));
    add(times, Operation::insert, ns_per_key(inserting));
  }

  MeasureOptions options_;
  AnyFilter filter_;
  std::uint64_t salt_;
  std::uint64_t first_ = 0;
  std::vector<Hash128> digests_;
  std::unique_ptr<bool[]> found_;
  std::vector<RemoveResult> removed_;
  std::uint64_t num_refused_ = 0;
  volatile std::uint64_t sink_ = 0;  // so that answers are used
};

}  // namespace

Measured measure(const FilterShape& shape, const MeasureOptions& options) {
  Bench bench(shape, options);
  bench.require_all_done();
  Measured measured;
  measured.memory_bytes = bench.memory_bytes();
  measured.false_positive_rate = bench.check();
  OperationTimes warming_up;
  bench.time_batches(warming_up);
  for (int round = 0; round < options.num_rounds; ++round) {
    bench.time_batches(measured.batches);
    bench.time_single(measured.single);
  }
  bench.check();
  return measured;
}

}  // namespace tally::cli
