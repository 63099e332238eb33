#include "tally/streams/sum.hpp"

#include <algorithm>
#include <array>

#include "streams/filter_of.hpp"
#include "streams/require_records.hpp"
#include "tally/detail/checked_math.hpp"
#include "tally/detail/parameter_error.hpp"
#include "tally/filters/key_batch.hpp"
#include "tally/streams/state_reader.hpp"
#include "tally/streams/state_writer.hpp"

namespace tally {
namespace {

using detail::saturating_add;

constexpr std::string_view structure = "SumStream";
constexpr std::uint32_t depth = 4;
constexpr std::uint32_t counter_bits = 64;
constexpr std::uint64_t set_share = 4;  // the set of reported keys gets a quarter of the memory
constexpr std::uint64_t least_slot_bytes = 4096;
constexpr CountMinShape smallest_shape{1, depth, 1, counter_bits, CounterUpdate::conservative};

std::uint64_t slots_of(const SumStream::Options& options) noexcept {
  return detail::TimeRing<int>::num_slots(options.window, options.num_slots);
}

const SumStream::Options& checked(const SumStream::Options& options) {
  detail::require_in_range(structure, "memory_bytes", options.memory_bytes,
                           SumStream::least_memory_bytes(options), ~std::uint64_t{0});
  detail::require_in_range(structure, "num_slots", options.num_slots, 1, ~std::uint32_t{0});
  if (options.window) detail::require_in_range(structure, "window", *options.window, 1, max_time);
  return options;
}

std::uint64_t slot_bytes(const SumStream::Options& options) noexcept {
  return options.memory_bytes / slots_of(options);
}

CountMinShape shape_of_slot(const SumStream::Options& options, std::uint64_t set_bytes) noexcept {
  const std::uint64_t width = (slot_bytes(options) - set_bytes) / (std::uint64_t{depth} * counter_bits / 8);
  return {width, depth, 1, counter_bits, CounterUpdate::conservative};
}

}  // namespace

std::uint64_t SumStream::least_memory_bytes(const Options& options) noexcept {
  return slots_of(options) * least_slot_bytes;
}

SumStream::SumStream(const Options& options, StreamObserver* observer)
    : options_(checked(options)),
      observer_(observer),
      set_bytes_(slot_bytes(options) / set_share),
      ring_(options.window, options.num_slots, [&] {
        return Slot{CountMinSketch<>(shape_of_slot(options, set_bytes_), options.hasher),
                    HashSet(set_bytes_)};
      }) {}

SumStream::SumStream(const Options& options, StateReader& state, const std::optional<HashKey>& key,
                     StreamObserver* observer)
    : options_(checked(options)),
      observer_(observer),
      set_bytes_(slot_bytes(options) / set_share),
      ring_(options.window, options.num_slots, [&] {
        return Slot{CountMinSketch<>(smallest_shape, options.hasher), HashSet(0)};
      }) {
  restore(state, key);
}

std::span<const ReachedKey> SumStream::add(const StreamRecords& records) {
  detail::require_records(structure, records, false, options_.window.has_value());
  reached_.clear();
  ring_.add(
      records,
      [&](const StreamRecords& step) {
        num_records_ += step.size();
        for (std::size_t begin = 0; begin < step.size(); begin += keys_per_window) {
          const StreamRecords part = step.part(begin, std::min(begin + keys_per_window, step.size()));
          add_part(part, static_cast<std::size_t>(part.digests.data() - records.digests.data()));
        }
      },
      [](Slot& slot) {
        slot.sums.clear();
        slot.reported.clear();
      });
  return reached_;
}

/// At most keys_per_window records. The older slots do not change during this, so their part of the sums is read in a batch.
/// The current slot is read key by key; reading it beforehand only brings its counters into the cache.
void SumStream::add_part(const StreamRecords& records, std::size_t first_index) {
  std::array<Count, keys_per_window> counts;
  std::array<std::uint64_t, keys_per_window> before{};
  const std::span<Count> results(counts.data(), records.size());
  Slot& current = ring_.current();
  for (const Slot& slot : ring_.slots()) {
    slot.sums.count_batch(records.digests, results);
    if (&slot == &current) continue;
    for (std::size_t i = 0; i < records.size(); ++i) before[i] = saturating_add(before[i], counts[i].value);
  }
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Hash128 digest = records.digests[i];
    const std::uint64_t weight = records.weights.empty() ? 1 : records.weights[i];
    current.sums.add(digest, weight);
    const std::uint64_t sum = saturating_add(before[i], current.sums.count(digest).value);
    if (sum >= options_.threshold && weight > 0) report_key(digest, {first_index + i, sum});
  }
}

void SumStream::report_key(Hash128 digest, ReachedKey key) {
  for (const Slot& slot : ring_.slots()) {
    if (slot.reported.contains(digest)) return;
  }
  reached_.push_back(key);
  HashSet& reported = ring_.current().reported;
  const HashSet::Outcome outcome = reported.insert(digest);
  (void)totals_.take(outcome);
  if (observer_ != nullptr && totals_.has_just_filled(outcome))
    observer_->filled_reported_keys(reported.size());
}

void SumStream::save(StateWriter& state) const {
  for (const std::uint64_t number : {num_records_, totals_.num_reported, totals_.num_possible_repeats})
    state.number(number);
  ring_.save_position(state);
  for (const Slot& slot : ring_.slots()) {
    state.filter(slot.sums);
    state.set(slot.reported);
  }
}

void SumStream::restore(StateReader& state, const std::optional<HashKey>& key) {
  for (std::uint64_t* const number : {&num_records_, &totals_.num_reported, &totals_.num_possible_repeats})
    *number = state.number();
  ring_.restore_position(state);
  for (Slot& slot : ring_.slots()) {
    auto sums = detail::filter_of<CountMinSketch<>>(state, options_.hasher, key);
    if (sums.shape() != shape_of_slot(options_, set_bytes_)) state.fail("a sketch has another shape");
    slot.sums = std::move(sums);
    slot.reported = state.set(set_bytes_);
  }
}

std::uint64_t SumStream::total() const noexcept {
  std::uint64_t sum = 0;
  for (const Slot& slot : ring_.slots()) sum = saturating_add(sum, slot.sums.total_count());
  return sum;
}

std::uint64_t SumStream::most_bytes_to_add(std::uint64_t num_records) const noexcept {
  constexpr std::uint64_t bytes_per_report = 96;  // a vector of reports that doubles
  std::uint64_t most_of_set = 0;
  for (const Slot& slot : ring_.slots())
    most_of_set = std::max(most_of_set, slot.reported.most_bytes_to_insert(num_records));
  return bytes_per_report * num_records + most_of_set;
}

std::uint64_t SumStream::memory_bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const Slot& slot : ring_.slots()) sum += num_bytes(slot.sums.shape()) + slot.reported.num_bytes();
  return sum;
}

}  // namespace tally
