#include "streams/threshold/impl.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "tally/planner.hpp"
#include "tally/theory/bloom.hpp"

namespace tally {
namespace {

StreamObserver no_observer;

}  // namespace

ThresholdStream::Impl::Impl(const Options& options, StreamObserver* observer)
    : options_(detail::checked(options)),
      observer_(observer != nullptr ? observer : &no_observer),
      follower_(observer_->follows_keys() ? observer_ : nullptr),
      reported_(detail::set_bytes(options)) {
  if (!detail::needs_filter(options_)) return;
  if (!options_.num_keys && !options_.memory_bytes) {
    exact_.emplace();
    return;
  }
  open_generation(options_.num_keys.value_or(0));
  if (!options_.memory_bytes) return;
  reported_.restore(HashSet(detail::set_bytes_beside(filter_bytes(), *options_.memory_bytes)));
}

ThresholdStream::Impl::Impl(const Options& options, StateReader& state, const std::optional<HashKey>& key,
                            StreamObserver* observer)
    : options_(detail::checked(options)),
      observer_(observer != nullptr ? observer : &no_observer),
      follower_(observer_->follows_keys() ? observer_ : nullptr),
      reported_(0) {
  restore(state, key);
}

void ThresholdStream::Impl::begin_batch() noexcept {
  batch_index_ = 0;
  reached_.clear();
}

/// So that once a key is counted, no report of it is lost because memory runs out.
void ThresholdStream::Impl::make_room_for_reports(std::size_t num_digests) {
  const std::size_t most = reached_.size() + num_digests;
  if (reached_.capacity() < most) reached_.reserve(std::max(most, 2 * reached_.capacity()));
}

// The set of reported digests is searched first: if a few keys make up most of the stream, most of the work ends there.
void ThresholdStream::Impl::add(Digests digests) {
  make_room_for_reports(digests.size());
  num_keys_ += digests.size();
  const std::size_t num_counted = count_exactly(digests);
  batch_index_ += num_counted;
  digests = digests.subspan(num_counted);
  unreported_.resize(digests.size());
  unreported_.resize(reported_.find_absent(digests, unreported_));
  if (follower_ != nullptr) {
    std::size_t next = 0;
    for (std::size_t i = 0; i < digests.size(); ++i) {
      const bool is_unreported = next < unreported_.size() && unreported_[next] == i;
      if (is_unreported) ++next;
      else took(i, false);
    }
  }
  reported_.begin_batch();
  count_in_runs(digests);
  batch_index_ += digests.size();
}

std::span<const Hash128> ThresholdStream::Impl::add_unreported(Digests digests, std::uint64_t num_others,
                                                               std::uint64_t num_remembered) {
  begin_batch();
  make_room_for_reports(digests.size());
  num_keys_ += digests.size() + num_others;
  reported_.begin_batch_ahead(num_remembered);
  const std::size_t num_counted = count_exactly(digests);
  unreported_.resize(digests.size() - num_counted);
  std::iota(unreported_.begin(), unreported_.end(), static_cast<std::uint32_t>(num_counted));
  count_in_runs(digests);
  return reported_.added();
}

/// Returns the number of digests that it counted: all of them while counting is exact.
std::size_t ThresholdStream::Impl::count_exactly(Digests digests) {
  if (!exact_) return 0;
  for (std::size_t i = 0; i < digests.size(); ++i) {
    if (exact_->counts.size() >= options_.exact_keys) {
      leave_exact_counting();
      return i;
    }
    std::uint32_t& count = exact_->counts[digests[i]];
    num_distinct_ += count == 0;
    const bool reaches = count < options_.threshold && ++count == options_.threshold;
    took(i, reaches);
    if (!reaches) continue;
    ++totals_.num_reported;
    reached_.push_back({batch_index_ + i, count});
  }
  return digests.size();
}

void ThresholdStream::Impl::leave_exact_counting() {
  observer_->ended_exact_counting(exact_->counts.size());
  open_generation(first_plan_factor * exact_->counts.size());
  detail::Generation& generation = generations_.back();
  for (const auto& [digest, count] : exact_->sorted()) {
    if (count >= options_.threshold) {
      (void)reported_.add(digest);
      continue;
    }
    generation.filter.insert_times(digest, count);
    generation.counts.add_up_to(count);
    generation.own.add_up_to(count);
    for (std::uint32_t i = 0; follower_ != nullptr && i < count; ++i) follower_->counted(digest);
    ++generation.num_keys;
  }
  exact_.reset();
}

/// Counts the digests whose indices are in unreported_.
void ThresholdStream::Impl::count_in_runs(Digests digests) {
  for (std::size_t begin = 0; begin < unreported_.size();) {
    begin = take_run(digests, begin);
    count_run();
  }
}

/// Fills run_ with different digests whose indices are in unreported_, from `begin` on, and returns where it stopped. The
/// keys of a run are counted together and then reported, and the result does not depend on how the stream was divided into
/// batches. A run ends where a new generation begins, for the same reason.
std::size_t ThresholdStream::Impl::take_run(Digests digests, std::size_t begin) {
  // The numbers of runs continue from batch to batch, so that last_run_ is rarely cleared.
  if (num_runs_ == std::numeric_limits<RunNumber>::max()) num_runs_ = 0;
  if (num_runs_ == 0) last_run_.assign(num_last_runs, 0);
  ++num_runs_;
  std::uint64_t most = unreported_.size() - begin;
  if (!generations_.empty() && !options_.memory_bytes) {
    const detail::Generation& last = generations_.back();
    most = std::min(most, last.most_new + 1 - std::min(last.num_keys, last.most_new));
  }
  run_.clear();
  run_indices_.clear();
  std::size_t at = begin;
  for (; at < unreported_.size() && run_.size() < most; ++at) {
    const Hash128 digest = digests[unreported_[at]];
    RunNumber& last = last_run_[digest.low % num_last_runs];
    if (reported_.has_since(digest)) {
      took(unreported_[at], false);
      continue;
    }
    if (last == num_runs_) break;
    last = num_runs_;
    run_.push_back(digest);
    run_indices_.push_back(unreported_[at]);
  }
  return at;
}

void ThresholdStream::Impl::count_run() {
  counts_.resize(run_.size());
  reaching_.resize(run_.size());
  count_in_filters(run_, counts_);
  std::size_t num_reaching = 0;
  detail::CountVisits* const visits = generations_.empty() ? nullptr : &generations_.back().counts;
  for (std::size_t i = 0; i < run_.size(); ++i) {
    num_distinct_ += counts_[i].value == 1;
    if (visits != nullptr) visits->add(counts_[i].value);
    const bool reaches = counts_[i].value >= options_.threshold;
    reaching_[num_reaching] = static_cast<std::uint32_t>(i);
    num_reaching += reaches;
    took(run_indices_[i], reaches);
  }
  for (std::size_t j = 0; j < num_reaching; ++j) {
    const std::uint32_t i = reaching_[j];
    report(run_[i], {batch_index_ + run_indices_[i], counts_[i].value});
  }
  if (!generations_.empty() && generations_.back().is_past_plan()) past_the_plan();
}

/// Adds 1 to the count of every digest; counts[i] is then the count of digests[i] over all generations.
void ThresholdStream::Impl::count_in_filters(Digests digests, std::span<Count> counts) {
  if (generations_.empty()) {
    std::fill(counts.begin(), counts.end(), Count{1, false});
    return;
  }
  detail::Generation& last = generations_.back();
  last.filter.insert_and_count_batch(digests, counts);
  for (const Count& count : counts) {
    last.num_keys += count.value == 1;
    last.own.add(count.value);
  }
  for (std::size_t g = 0; g + 1 < generations_.size(); ++g)
    generations_[g].filter.add_rare_counts_batch(digests, counts);
  if (follower_ == nullptr) return;
  for (const Hash128 digest : digests) follower_->counted(digest);
}

void ThresholdStream::Impl::report(Hash128 digest, ReachedKey key) {
  const HashSet::Outcome outcome = reported_.add(digest);
  if (!totals_.take(outcome)) return;
  reached_.push_back(key);
  if (totals_.has_just_filled(outcome)) observer_->filled_reported_keys(reported_.set().size());
}

/// `num_keys` 0: as many keys as fit in the memory at the wanted rate.
void ThresholdStream::Impl::open_generation(std::uint64_t num_keys) {
  const double wanted = detail::rate_of_generation(options_, generations_.size());
  const bool follows_stream = !(options_.num_keys && generations_.empty());
  const ThresholdShape shape = options_.memory_bytes
                                   ? detail::shape_in_memory(options_, num_keys, wanted)
                                   : detail::shape_for(options_, num_keys, wanted, follows_stream);
  const std::uint64_t planned = num_keys != 0 ? num_keys : planned_num_keys(shape, wanted);
  const double rate = theory::false_positive_probability(shape.num_counters, shape.num_hashes,
                                                         std::max<std::uint64_t>(1, planned));
  generations_.emplace_back(ThresholdFilter<>(shape, options_.hasher), planned, rate);
  OpenedGeneration opened{generations_.size(), planned, shape};
  for (const detail::Generation& generation : generations_)
    opened.false_positive_rate += generation.false_positive_rate;
  observer_->opened_generation(opened);
}

void ThresholdStream::Impl::past_the_plan() {
  const detail::Generation& generation = generations_.back();
  if (!options_.memory_bytes) {
    open_generation(2 * generation.planned_keys);
    return;
  }
  if (generation.num_keys < warn_at_keys_) return;
  warn_at_keys_ = 2 * generation.num_keys;
  observer_->exceeded_plan({generation.planned_keys, generation.num_keys, error_bound()});
}

}  // namespace tally
