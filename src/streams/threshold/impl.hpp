#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "streams/threshold/exact_counts.hpp"
#include "streams/threshold/generation.hpp"
#include "streams/threshold/memory_plan.hpp"
#include "tally/detail/streams/report_totals.hpp"
#include "tally/streams/reported_keys.hpp"
#include "tally/streams/threshold.hpp"

namespace tally {

class ThresholdStream::Impl {
 public:
  using Digests = std::span<const Hash128>;

  Impl(const Options& options, StreamObserver* observer);
  Impl(const Options& options, StateReader& state, const std::optional<HashKey>& key,
       StreamObserver* observer);

  void begin_batch() noexcept;
  /// The next digests of the batch, at most max_digests.
  void add(Digests digests);
  std::span<const Hash128> add_unreported(Digests digests, std::uint64_t num_others,
                                          std::uint64_t num_remembered);

  void save(StateWriter& state) const;
  void restore(StateReader& state, const std::optional<HashKey>& key);
  ThresholdStreamStatistics statistics() const;
  std::uint64_t memory_bytes_with(std::uint64_t num_keys) const;
  std::uint64_t bytes_of_new_filters(std::uint64_t num_keys) const;
  std::uint64_t most_bytes_to_add(std::uint64_t num_keys) const;
  std::uint64_t planned_keys() const noexcept;
  std::uint64_t reported_keys_capacity() const noexcept;
  double memory_bytes_to_report_all() const noexcept;

  const Options& options() const noexcept { return options_; }
  std::span<const ReachedKey> reached() const noexcept { return reached_; }
  bool can_be_shared() const noexcept { return follower_ == nullptr && !options_.memory_bytes; }
  ReportedKeys& reported() noexcept { return reported_; }

  static constexpr std::size_t max_digests = 4096;
  // The first filter after exact counting is planned for this multiple of the keys so far, each later one for twice as many
  // keys as the one before.
  static constexpr std::uint64_t first_plan_factor = 16;

 private:
  using RunNumber = std::uint16_t;
  // Two keys that share one of these slots are not counted in the same run.
  static constexpr std::size_t num_last_runs = std::size_t{1} << 16;

  void make_room_for_reports(std::size_t num_digests);
  std::size_t count_exactly(Digests digests);
  void leave_exact_counting();
  void count_in_runs(Digests digests);
  std::size_t take_run(Digests digests, std::size_t begin);
  void count_run();
  void count_in_filters(Digests digests, std::span<Count> counts);
  void report(Hash128 digest, ReachedKey key);
  void took(std::size_t index, bool is_reported) {
    if (follower_ != nullptr) follower_->took(batch_index_ + index, is_reported);
  }
  void open_generation(std::uint64_t num_keys);
  void past_the_plan();
  double error_bound() const;
  double planned_error() const;
  std::uint64_t filter_bytes() const noexcept;
  std::uint64_t exact_bytes() const noexcept;
  std::optional<double> expected_false_reports() const;
  void restore_exact_counts(StateReader& state, std::span<const std::uint64_t> words);
  void restore_visits(StateReader& state, std::span<const std::uint64_t> words);

  Options options_;
  StreamObserver* observer_;  // never null
  StreamObserver* follower_;  // the same if it follows keys, else null

  std::optional<detail::ExactCounts> exact_;     // while the first keys are counted exactly
  std::vector<detail::Generation> generations_;  // the last one counts
  ReportedKeys reported_;

  // Of the batch.
  std::size_t batch_index_ = 0;  // of the first digest of this call
  std::vector<ReachedKey> reached_;

  // Work space of `add`.
  std::vector<std::uint32_t> unreported_;  // indices into the digests
  std::vector<std::uint32_t> run_indices_;
  std::vector<Hash128> run_;
  std::vector<RunNumber> last_run_;  // by bits of a digest: the last run with such a digest
  RunNumber num_runs_ = 0;
  std::vector<Count> counts_;
  std::vector<std::uint32_t> reaching_;  // indices into the run

  std::uint64_t num_keys_ = 0;
  std::uint64_t num_distinct_ = 0;
  std::uint64_t warn_at_keys_ = 0;
  detail::ReportTotals totals_;
  bool knows_visits_ = true;  // of all generations
};

}  // namespace tally
