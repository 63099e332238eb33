#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>

#include "tally/export.hpp"
#include "tally/filters/key_batch.hpp"
#include "tally/hashing/key_hasher.hpp"
#include "tally/shapes/threshold.hpp"
#include "tally/streams/observer.hpp"
#include "tally/streams/reached_key.hpp"

namespace tally {

class StateReader;
class StateWriter;

/// What a ThresholdStream has done so far, and its error rates.
struct ThresholdStreamStatistics {
  std::uint64_t num_keys = 0;  ///< keys added, including repeats
  /// Number of distinct keys: exact while keys are counted exactly; then a low estimate, the keys that found a counter at 0.
  std::uint64_t num_distinct_keys = 0;
  std::uint64_t num_reported = 0;
  /// Reports made while the set of reported keys was full: each may be a repeat.
  std::uint64_t num_possible_repeats = 0;
  bool counts_exactly = false;
  std::uint64_t num_generations = 0;
  std::uint64_t memory_bytes = 0;
  /// The present upper bound on the probability that a key below the threshold is reported.
  double false_positive_rate = 0;
  /// The planned maximum of that rate.
  double planned_false_positive_rate = 0;
  /// Expected number of reported keys that never reach the threshold; with conservative update, an upper bound. Nothing if
  /// the filters are too full to estimate it, or if the state of an older version was restored.
  std::optional<double> num_expected_false_reports;
};

/// Reports every key of a stream once, in the batch in which its count reaches a threshold.
///
/// ThresholdFilters store the counts, and a HashSet the digests of reported keys, which are not counted any further. No key
/// is missed, because no filter counts too low, so neither does their sum. A key that occurs less often is reported with a
/// probability of at most the false positive rate. Once the set of reported keys is full, a key may be reported again.
///
/// If neither num_keys nor memory_bytes is given, the first keys, up to `exact_keys`, are counted exactly. Then a filter is
/// planned from their number, and they are counted again in it. When there are more keys than a filter was planned for, a
/// new filter (a generation) continues. The first generation is planned for a third of the wanted rate, and each further
/// one for two thirds of the rate of the one before, so all together meet the wanted rate for any number of keys. If
/// num_keys is given, the first generation has the whole rate. If memory_bytes is given, no further generation is opened
/// and the rate may grow.
///
/// Laws: the reported keys and their counts do not depend on how the stream is divided into batches, or on a stop between
/// them (save, restore). A call that throws std::bad_alloc may have counted a part of its batch; `reached` then has its
/// reports, and if the batch is added again no key is missed.
/// Thread rule: one thread at a time, except as described at `can_be_shared`.
/// @source counts as thresholds: Kim et al. 2019; the planned rate: theory::false_positive_probability
class TALLY_EXPORT ThresholdStream {
 public:
  /// What a ThresholdStream reports, with how much memory, and at which false positive rate.
  struct Options {
    std::uint64_t threshold = 1;                     ///< 1 to 2^32 - 1
    std::optional<std::uint64_t> num_keys = {};      ///< expected number of distinct keys, at least 1
    std::optional<std::uint64_t> memory_bytes = {};  ///< maximum of filters and reported keys together
    std::optional<double> false_positive_rate = {};  ///< default 1%, or more if keys and memory need more
    CounterUpdate update = CounterUpdate::plain;
    KeyHasher hasher = 0;
    std::uint64_t exact_keys = std::uint64_t{1} << 16;
  };

  /// The observer may be null and must outlive the stream. Throws std::invalid_argument for impossible options, such as a
  /// memory below least_memory_bytes; std::bad_alloc.
  explicit ThresholdStream(const Options& options, StreamObserver* observer = nullptr);
  /// The stream that saved this state, without taking memory beside that of the state. Throws as `restore`, too.
  ThresholdStream(const Options& options, StateReader& state, const std::optional<HashKey>& key,
                  StreamObserver* observer = nullptr);
  ThresholdStream(ThresholdStream&&) noexcept;
  ThresholdStream& operator=(ThresholdStream&&) noexcept;
  ~ThresholdStream();

  /// The smallest memory that meets the rate for the keys; nothing unless both are given.
  static std::optional<std::uint64_t> least_memory_bytes(const Options& options);

  /// Adds one key. Returns its count if it is reported now, else nothing.
  template <Key K>
  std::optional<std::uint64_t> add(K&& key) {
    const Hash128 digest = hasher()(key);
    const std::span<const ReachedKey> reached = add_batch(std::span(&digest, 1));
    return reached.empty() ? std::nullopt : std::optional(reached[0].count);
  }

  /// Adds keys, or digests from the hasher of the options. Returns the keys that are reported now, in order; valid until
  /// the next call.
  template <KeyBatch Keys>
  std::span<const ReachedKey> add_batch(const Keys& key_range) {
    const std::span keys(key_range);
    begin_batch();
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(keys[0])>, Hash128>) {
      add_digests(keys);
    } else {
      constexpr std::size_t keys_per_part = 1024;
      Hash128 digests[keys_per_part];
      for (std::size_t first = 0; first < keys.size(); first += keys_per_part) {
        const std::size_t size = std::min(keys_per_part, keys.size() - first);
        for (std::size_t i = 0; i < size; ++i) digests[i] = hasher()(keys[first + i]);
        add_digests({digests, size});
      }
    }
    return reached();
  }

  /// The reports of the latest batch, even if adding it threw.
  std::span<const ReachedKey> reached() const noexcept;

  const KeyHasher& hasher() const noexcept;
  /// Reads up to some million counters.
  ThresholdStreamStatistics statistics() const;
  /// The memory after `num_keys` more keys: an upper bound of what statistics() then says, the same for 0.
  std::uint64_t memory_bytes_with(std::uint64_t num_keys) const;
  /// The part of it that is in filters which are not yet open; exact if all of the keys are new.
  std::uint64_t bytes_of_new_filters(std::uint64_t num_keys) const;
  /// An upper bound of the memory that a call with `num_keys` allocates, at its peak.
  std::uint64_t most_bytes_to_add(std::uint64_t num_keys) const;
  /// The number of distinct keys that the first filter is planned for; 0 if there is no plan.
  std::uint64_t planned_keys() const noexcept;
  /// Approximate number of reported keys that fit in the memory; 2^64 - 1 without memory_bytes.
  std::uint64_t reported_keys_capacity() const noexcept;
  /// The memory in which all planned keys fit if all are reported; 0 without memory_bytes.
  double memory_bytes_to_report_all() const noexcept;

  /// Writes the whole state of the stream.
  void save(StateWriter& state) const;
  /// For a stream with the same options and no keys yet. `key` is the secret of a keyed hash. Throws FormatError for bytes
  /// that are not a state; the stream may then only be destroyed.
  void restore(StateReader& state, const std::optional<HashKey>& key);

  // Two threads may share the work, with the same results, to the bit. One calls find_unreported and remember_reported, the
  // other one all other functions, and add_unreported instead of add_batch.

  /// False with an observer that follows keys, and with bounded memory, because a full set must be noticed at once.
  bool can_be_shared() const noexcept;
  /// Writes the indices of the digests that were not reported, in order, and returns their number. `indices` is as long as
  /// `digests`, fewer than 2^32.
  std::size_t find_unreported(std::span<const Hash128> digests,
                              std::span<std::uint32_t> indices) const noexcept;
  /// Must be called with everything that add_unreported returned, in order. Throws std::bad_alloc.
  void remember_reported(std::span<const Hash128> digests);
  /// Adds the digests of a batch that find_unreported selected; `num_others` digests of the batch were not selected.
  /// `num_remembered` is the number of digests, of all that earlier calls returned, that had been remembered when
  /// find_unreported was called. Returns the digests to remember, valid until the next call; `reached` has the reports.
  std::span<const Hash128> add_unreported(std::span<const Hash128> digests, std::uint64_t num_others,
                                          std::uint64_t num_remembered);

 private:
  class Impl;
  void begin_batch() noexcept;
  void add_digests(std::span<const Hash128> digests);

  std::unique_ptr<Impl> impl_;
};

}  // namespace tally
