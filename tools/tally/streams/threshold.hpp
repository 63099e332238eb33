#pragma once

#include <cstdint>
#include <functional>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "streams/exact_check.hpp"
#include "streams/expected_false.hpp"
#include "streams/reported_keys.hpp"
#include "streams/state_file.hpp"
#include "tally/filters/key_batch.hpp"
#include "tally/filters/threshold.hpp"
#include "tally/planner.hpp"

namespace tally::cli {

/// Counts by digest, all of their memory in a few large pieces, which go back to the system together.
struct ExactCounts {
  std::pmr::monotonic_buffer_resource memory{std::size_t{1} << 18};
  std::pmr::unordered_map<Hash128, std::uint32_t, HashOfDigest> counts{&memory};
};

/// Reports every key of a stream once, when its count reaches a threshold.
///
/// Counts are kept in ThresholdFilters, reported keys as digests in a HashSet; a reported
/// key is not counted any further. No key is missed: every filter's count is at least
/// the truth, so the sum over the filters is. A key seen fewer times is reported with at
/// most the stated probability. If the set may not grow any more, keys may be reported
/// again, and `num_repeats_possible` counts how often.
///
/// Without num_keys and memory_bytes the first keys are counted exactly, up to
/// `exact_keys` of them, and then replayed into a filter planned from what was seen. When
/// more keys come than a filter was planned for, a new one (a generation) takes over
/// the counting, unless memory_bytes bounds them; then the error grows, which is said.
/// Each generation is planned for two thirds of the rate of the one before, the first for a third of what was asked: so
/// all together keep it, however many come. (Where num_keys is given, the first has all of it to itself.)
/// What it reports does not depend on how the keys are cut into batches, or on a stop between
/// them (save, restore).
class ThresholdStream {
 public:
  struct Options {
    std::uint64_t threshold = 1;
    std::optional<std::uint64_t> num_keys;      ///< distinct keys expected
    std::optional<std::uint64_t> memory_bytes;  ///< of filters and set together: a hard bound
    std::optional<double> false_positive_rate;  ///< default 1%, or more where keys and memory give more
    CounterUpdate update = CounterUpdate::plain;
    KeyHasher hasher = 0;
    std::uint64_t exact_keys = std::uint64_t{1} << 16;
  };
  using Report = std::function<void(std::string_view key, std::uint64_t count)>;
  using Notice = std::function<void(const std::string& text)>;

  /// `check` may be null; else it counts exactly beside the stream. `notice` is told of plans and
  /// generations.
  ThresholdStream(const Options& options, Report report, Notice notice, ExactCheck* check);

  /// Everything that decides what it does from here on; `restore` is for a stream with the same options that
  /// was told nothing yet. Throws FormatError for a state that is none.
  void save(StateWriter& state) const;
  void restore(StateReader& state, const std::optional<HashKey>& key);

  /// The keys, and the digest of each under the hasher of the options. At most KeyReader::max_keys_a_call.
  void add(std::span<const std::string_view> keys, std::span<const Hash128> digests);

  /// In place of `add`, what read_ahead wants (WorkForTwo); with the same results, to the bit. Not with a check, nor where
  /// memory is bounded, since a set that is full has to be known at once.
  bool can_be_shared() const noexcept { return check_ == nullptr && !options_.memory_bytes; }
  std::size_t find_unreported(std::span<const Hash128> digests,
                              std::span<std::uint32_t> indices) const noexcept {
    return reported_.find_absent(digests, indices);
  }
  void remember_reported(std::span<const Hash128> digests) { reported_.remember(digests); }
  std::span<const Hash128> add_unreported(std::span<const std::string_view> keys,
                                          std::span<const Hash128> digests, std::uint64_t num_others,
                                          std::uint64_t num_remembered);

  std::uint64_t num_lines() const noexcept { return num_lines_; }
  std::uint64_t num_reported() const noexcept { return num_reported_; }
  std::uint64_t num_repeats_possible() const noexcept { return num_repeats_possible_; }
  /// Distinct keys seen: exact while counting exactly, then a lower estimate by the keys that found an empty
  /// counter.
  std::uint64_t num_distinct() const noexcept { return num_distinct_; }
  std::uint64_t memory_bytes() const noexcept;
  bool counts_exactly() const noexcept { return filters_.empty(); }
  std::size_t num_generations() const noexcept { return filters_.size(); }
  /// The probability, as things stand, that the next key below the threshold is reported all the same: at
  /// most that.
  double error_bound() const;
  /// What error_bound was planned not to exceed.
  double planned_error() const;
  /// Of the reported keys, how many are expected to never reach the threshold; with conservative update at most that.
  /// Nothing where the filters are too full to say, or a state of an older version was taken up.
  std::optional<double> expected_false_reports() const;

 private:
  using Window = std::span<const Hash128>;
  using RunNumber = std::uint16_t;

  struct Generation {
    Generation(ThresholdFilter<> empty, std::uint64_t num_planned, double rate);
    double error() const;

    ThresholdFilter<> filter;
    std::uint64_t planned_keys;
    double false_positive_rate;  // once the planned keys are in
    std::uint64_t most_new;      // of the planned keys, so many are seen to be new
    std::uint64_t num_keys = 0;  // seen to be new in it
    CountVisits counts;          // of the keys that it counted, over all generations
    CountVisits own;             // in it alone
  };

  std::size_t count_exactly(std::span<const std::string_view> keys, Window digests);
  void add_to_filters(std::span<const std::string_view> keys, Window digests);
  void count_in_runs(std::span<const std::string_view> keys, Window digests);
  std::size_t take_run(std::span<const std::string_view> keys, Window digests, std::size_t begin);
  void count_run(std::span<const std::string_view> keys);
  void count_in_filters(Window digests, std::span<Count> counts);
  void report_key(std::string_view key, Hash128 digest, std::uint64_t count);
  void leave_exact_counting();
  void open_generation(std::uint64_t num_keys);
  double rate_of_next_generation() const;
  ThresholdShape shape_in_memory(ThresholdRequest request) const;
  void restore_visits(StateReader& state, std::span<const std::uint64_t> words);
  void say_what_fits(std::uint64_t filter_bytes, std::uint64_t num_keys);
  void past_the_plan();

  Options options_;
  Report report_;
  Notice notice_;
  ExactCheck* check_;

  std::optional<ExactCounts> exact_;  // while the first keys are counted exactly
  std::vector<Generation> filters_;   // the last one counts
  ReportedKeys reported_;

  // Work space of `add`.
  std::vector<std::uint32_t> unreported_;  // indices into the batch
  std::vector<std::uint32_t> run_indices_;
  std::vector<Hash128> run_;
  std::vector<RunNumber> last_run_;  // by bits of a digest: the last run that had such a one
  RunNumber num_runs_ = 0;
  std::vector<Count> counts_;
  std::vector<std::uint32_t> reaching_;  // indices into the run

  std::uint64_t num_lines_ = 0;
  std::uint64_t num_reported_ = 0;
  std::uint64_t num_repeats_possible_ = 0;
  std::uint64_t num_distinct_ = 0;
  std::uint64_t warn_at_keys_ = 0;
  bool knows_visits_ = true;  // of all generations
};

}  // namespace tally::cli
