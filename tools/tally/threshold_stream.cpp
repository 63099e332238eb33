#include "threshold_stream.hpp"

#include <fmt/format.h>
#include <hwy/cache_control.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "input.hpp"
#include "output.hpp"
#include "tally/planner.hpp"
#include "tally/theory/bloom.hpp"

namespace tally::cli {
namespace {

constexpr double default_false_positive_rate = 0.01;

// A first filter after exact counting is planned for so many times the keys seen by then, a later one for
// twice as many as the one before.
constexpr std::uint64_t first_plan_factor = 16;

// Of a bounded memory, the share of the reported keys' set; the filter has the rest.
constexpr std::uint64_t set_share = 4;

// Two keys that share one of so many slots are not counted in one run.
constexpr std::size_t num_last_runs = std::size_t{1} << 16;

// What ExactCounts takes a key, about: node, bucket, and the smaller bucket arrays before.
constexpr std::uint64_t exact_bytes_a_key = 56;

std::uint64_t set_bytes(const ThresholdStream::Options& options) {
  if (!options.memory_bytes) return std::numeric_limits<std::uint64_t>::max();
  return options.threshold == 1 ? *options.memory_bytes : *options.memory_bytes / set_share;
}

// At a threshold of one, the first sight of a key is its report, and the set alone decides: exactly.
bool needs_filter(const ThresholdStream::Options& options) { return options.threshold > 1; }

}  // namespace

ThresholdStream::ThresholdStream(const Options& options, Report report, Notice notice, ExactCheck* check)
    : options_(options),
      report_(std::move(report)),
      notice_(std::move(notice)),
      check_(check),
      reported_(set_bytes(options)) {
  if (!needs_filter(options_)) return;
  if (options_.num_keys || options_.memory_bytes) {
    open_generation(options_.num_keys.value_or(0));
  } else {
    exact_.emplace();
  }
}

void ThresholdStream::add(std::span<const std::string_view> keys, Window digests) {
  num_lines_ += keys.size();
  const std::size_t num_counted = count_exactly(keys, digests);
  add_to_filters(keys.subspan(num_counted), digests.subspan(num_counted));
}

std::span<const Hash128> ThresholdStream::add_unreported(std::span<const std::string_view> keys,
                                                         Window digests, std::uint64_t num_others,
                                                         std::uint64_t num_remembered) {
  num_lines_ += keys.size() + num_others;
  reported_.begin_batch_ahead(num_remembered);
  const std::size_t num_counted = count_exactly(keys, digests);
  unreported_.resize(digests.size() - num_counted);
  std::iota(unreported_.begin(), unreported_.end(), static_cast<std::uint32_t>(num_counted));
  count_in_runs(keys, digests);
  return reported_.added();
}

/// Returns how many it counted: all, while counting is exact.
std::size_t ThresholdStream::count_exactly(std::span<const std::string_view> keys, Window digests) {
  if (!exact_) return 0;
  for (std::size_t i = 0; i < digests.size(); ++i) {
    if (exact_->counts.size() == options_.exact_keys) {
      leave_exact_counting();
      return i;
    }
    std::uint32_t& count = exact_->counts[digests[i]];
    num_distinct_ += count == 0;
    const bool reaches = count < options_.threshold && ++count == options_.threshold;
    if (check_ != nullptr) check_->see(keys[i], reaches);
    if (reaches) {
      ++num_reported_;
      report_(keys[i], count);
    }
  }
  return digests.size();
}

// The set of reported digests comes first: where most lines repeat few keys, most lines end there.
void ThresholdStream::add_to_filters(std::span<const std::string_view> keys, Window digests) {
  unreported_.resize(digests.size());
  unreported_.resize(reported_.find_absent(digests, unreported_));
  if (check_ != nullptr) {
    std::size_t next = 0;
    for (std::size_t i = 0; i < digests.size(); ++i) {
      if (next < unreported_.size() && unreported_[next] == i) {
        ++next;
      } else {
        check_->see(keys[i], false);
      }
    }
  }
  reported_.begin_batch();
  count_in_runs(keys, digests);
}

/// Counts the keys that unreported_ names.
void ThresholdStream::count_in_runs(std::span<const std::string_view> keys, Window digests) {
  if (unreported_.empty()) return;
  // Numbers of runs go on from batch to batch, so that last_run_ is seldom cleared.
  if (num_runs_ + digests.size() > std::numeric_limits<RunNumber>::max()) num_runs_ = 0;
  if (num_runs_ == 0) last_run_.assign(num_last_runs, 0);
  for (std::size_t begin = 0; begin < unreported_.size();) {
    begin = take_run(keys, digests, begin);
    count_run(keys);
  }
}

/// Sets run_ to digests that unreported_ names from `begin` on, no two of them equal, and returns where it
/// stopped. So the keys of a run can be counted together and reported after that, and what becomes of a stream
/// does not depend on how it was cut into batches. Nor does it where a new generation takes over: no run goes
/// past that.
std::size_t ThresholdStream::take_run(std::span<const std::string_view> keys, Window digests,
                                      std::size_t begin) {
  ++num_runs_;
  std::uint64_t most = unreported_.size() - begin;
  if (!filters_.empty() && !options_.memory_bytes) {
    const Generation& last = filters_.back();
    most = std::min(most, last.planned_keys + 1 - std::min(last.num_keys, last.planned_keys));
  }
  run_.clear();
  run_indices_.clear();
  std::size_t at = begin;
  for (; at < unreported_.size() && run_.size() < most; ++at) {
    const Hash128 digest = digests[unreported_[at]];
    RunNumber& last = last_run_[digest.low % num_last_runs];
    if (reported_.has_since(digest)) {
      if (check_ != nullptr) check_->see(keys[unreported_[at]], false);
      continue;
    }
    if (last == num_runs_) break;
    last = num_runs_;
    run_.push_back(digest);
    run_indices_.push_back(unreported_[at]);
  }
  return at;
}

void ThresholdStream::count_run(std::span<const std::string_view> keys) {
  counts_.resize(run_.size());
  count_in_filters(run_, counts_);
  reaching_.resize(run_.size());
  std::size_t num_reaching = 0;
  for (std::size_t i = 0; i < run_.size(); ++i) {
    num_distinct_ += counts_[i].value == 1;
    const bool reaches = counts_[i].value >= options_.threshold;
    reaching_[num_reaching] = static_cast<std::uint32_t>(i);
    num_reaching += reaches;
    if (check_ != nullptr) check_->see(keys[run_indices_[i]], reaches);
  }
  // Another thread may have read these keys.
  for (std::size_t j = 0; j < num_reaching; ++j) hwy::Prefetch(keys[run_indices_[reaching_[j]]].data());
  for (std::size_t j = 0; j < num_reaching; ++j) {
    const std::uint32_t i = reaching_[j];
    report_key(keys[run_indices_[i]], run_[i], counts_[i].value);
  }
  if (!filters_.empty() && filters_.back().num_keys > filters_.back().planned_keys) past_the_plan();
}

/// Counts every digest once more; counts[i] is that of digests[i] then, over all generations.
void ThresholdStream::count_in_filters(Window digests, std::span<Count> counts) {
  if (filters_.empty()) {
    std::fill(counts.begin(), counts.end(), Count{1, false});
    return;
  }
  Generation& last = filters_.back();
  last.filter.insert_and_count_batch(digests, counts);
  for (const Count& count : counts) last.num_keys += count.value == 1;
  earlier_counts_.resize(digests.size());
  for (std::size_t g = 0; g + 1 < filters_.size(); ++g) {
    filters_[g].filter.count_batch(digests, earlier_counts_);
    for (std::size_t i = 0; i < digests.size(); ++i) counts[i].value += earlier_counts_[i].value;
  }
  if (check_ == nullptr) return;
  for (const Hash128 digest : digests) check_->inserted(digest);
}

void ThresholdStream::report_key(std::string_view key, Hash128 digest, std::uint64_t count) {
  const HashSet::Outcome outcome = reported_.add(digest);
  if (outcome == HashSet::Outcome::present) return;
  if (outcome == HashSet::Outcome::full && num_repeats_possible_++ == 0) {
    notice_(fmt::format(
        "the set of reported keys is full at {} keys: no key is missed, but keys may be printed again; "
        "give more --memory",
        reported_.set().size()));
  }
  ++num_reported_;
  report_(key, count);
}

void ThresholdStream::leave_exact_counting() {
  notice_(fmt::format(
      "{} distinct keys counted exactly; from here on in a planned filter (say --keys to plan ahead)",
      exact_->counts.size()));
  open_generation(first_plan_factor * exact_->counts.size());
  Generation& generation = filters_.back();
  // In an order that does not depend on how the table grew, so that a run that was stopped and one that was
  // not do the same.
  std::vector<std::pair<Hash128, std::uint32_t>> counts(exact_->counts.begin(), exact_->counts.end());
  std::sort(counts.begin(), counts.end(),
            [](const auto& a, const auto& b) { return a.first.low < b.first.low; });
  for (const auto& [digest, count] : counts) {
    if (count >= options_.threshold) {
      (void)reported_.add(digest);
      continue;
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      (void)generation.filter.insert(digest);
      if (check_ != nullptr) check_->inserted(digest);
    }
    ++generation.num_keys;
  }
  exact_.reset();
}

/// `num_keys` 0: as many as the memory carries at the wanted rate.
void ThresholdStream::open_generation(std::uint64_t num_keys) {
  ThresholdRequest request{.threshold = options_.threshold, .update = options_.update};
  request.num_keys = num_keys;
  const bool both_given = num_keys != 0 && options_.memory_bytes.has_value();
  if (!both_given)
    request.false_positive_rate = options_.false_positive_rate.value_or(default_false_positive_rate);
  if (options_.memory_bytes)
    request.memory_bytes = std::max<std::uint64_t>(8, *options_.memory_bytes / set_share * (set_share - 1));
  const ThresholdShape shape = plan_threshold(request);
  const std::uint64_t planned =
      num_keys != 0 ? num_keys : planned_num_keys(shape, request.false_positive_rate);
  const double rate = theory::false_positive_probability(shape.num_counters, shape.num_hashes,
                                                         std::max<std::uint64_t>(1, planned));
  filters_.push_back({ThresholdFilter<>(shape, options_.hasher), planned, rate});
  if (check_ != nullptr) check_->opened_generation(shape);
  notice_(fmt::format(
      "{} for {} distinct keys: {} counters of {} bits, k = {}, {}; a key seen fewer than {} times is "
      "reported with probability at most {}{}",
      filters_.size() == 1 ? "planned" : fmt::format("generation {} opened, planned", filters_.size()),
      human_count(static_cast<double>(planned)), human_count(static_cast<double>(shape.num_counters)),
      counter_bits_for(shape), shape.num_hashes, human_bytes(static_cast<double>(num_bytes(shape))),
      options_.threshold, human_rate(std::min(1.0, static_cast<double>(filters_.size()) * rate)),
      filters_.size() == 1 ? "" : " (all generations together)"));
}

void ThresholdStream::past_the_plan() {
  Generation& generation = filters_.back();
  if (!options_.memory_bytes) {
    open_generation(2 * generation.planned_keys);
    return;
  }
  if (generation.num_keys < warn_at_keys_) return;
  warn_at_keys_ = 2 * generation.num_keys;
  notice_(fmt::format(
      "more keys than the {} that fit the memory as planned: the error grows, and is {} at {} keys; "
      "no key is missed; give more --memory",
      human_count(static_cast<double>(generation.planned_keys)), human_rate(error_bound()),
      human_count(static_cast<double>(generation.num_keys))));
}

void ThresholdStream::save(StateWriter& state) const {
  for (const std::uint64_t number :
       {num_lines_, num_reported_, num_repeats_possible_, num_distinct_, warn_at_keys_}) {
    state.number(number);
  }
  std::vector<std::uint64_t> words;
  if (exact_) {
    for (const auto& [digest, count] : exact_->counts)
      words.insert(words.end(), {digest.low, digest.high, count});
  }
  state.number(exact_.has_value());
  state.numbers(words);
  state.number(filters_.size());
  for (const Generation& generation : filters_) {
    state.number(generation.planned_keys);
    state.number(std::bit_cast<std::uint64_t>(generation.false_positive_rate));
    state.number(generation.num_keys);
    state.filter(AnyFilter(generation.filter));
  }
  state.numbers(reported_.set().image());
}

void ThresholdStream::restore(StateReader& state, const std::optional<HashKey>& key) {
  for (std::uint64_t* const number :
       {&num_lines_, &num_reported_, &num_repeats_possible_, &num_distinct_, &warn_at_keys_}) {
    *number = state.number();
  }
  const bool is_exact = state.number_at_most(1) == 1;
  const std::vector<std::uint64_t> words = state.numbers();
  exact_.reset();
  if (is_exact) exact_.emplace();
  for (std::size_t i = 0; is_exact && i + 3 <= words.size(); i += 3) {
    exact_->counts[{words[i], words[i + 1]}] = static_cast<std::uint32_t>(words[i + 2]);
  }
  filters_.clear();
  const std::uint64_t num_filters = state.number_at_most(64);
  if (is_exact == (num_filters > 0) && needs_filter(options_))
    state.fail("both or neither of counts and filters");
  for (std::uint64_t i = 0; i < num_filters; ++i) {
    const std::uint64_t planned_keys = state.number();
    const auto rate = std::bit_cast<double>(state.number());
    const std::uint64_t num_keys = state.number();
    filters_.push_back(
        {state.filter_of<ThresholdFilter<>>(options_.hasher, key), planned_keys, rate, num_keys});
    if (filters_.back().filter.shape().threshold != options_.threshold)
      state.fail("a filter of another threshold");
  }
  const std::vector<std::uint64_t> image = state.numbers();
  reported_.restore(state.made([&] { return HashSet(set_bytes(options_), image); }));
}

std::uint64_t ThresholdStream::memory_bytes() const noexcept {
  std::uint64_t sum = reported_.set().num_bytes() + (exact_ ? exact_bytes_a_key * exact_->counts.size() : 0);
  for (const Generation& generation : filters_) sum += num_bytes(generation.filter.shape());
  return sum;
}

// A generation lets a key pass that shares every counter with other keys; the sum bounds the chance over all.
double ThresholdStream::error_bound() const {
  double sum = 0;
  for (const Generation& generation : filters_) {
    const ThresholdShape& shape = generation.filter.shape();
    sum += theory::false_positive_probability(shape.num_counters, shape.num_hashes,
                                              std::max<std::uint64_t>(1, generation.num_keys));
  }
  return std::min(1.0, sum);
}

}  // namespace tally::cli
