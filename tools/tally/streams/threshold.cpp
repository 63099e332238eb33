#include "streams/threshold.hpp"

#include <fmt/format.h>
#include <hwy/cache_control.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "input/key_reader.hpp"
#include "streams/fewest_hashes.hpp"
#include "tally/planner.hpp"
#include "tally/theory/bloom.hpp"
#include "text/output.hpp"

namespace tally::cli {
namespace {

constexpr double default_false_positive_rate = 0.01;

// A first filter after exact counting is planned for so many times the keys seen by then, a later one for
// twice as many as the one before.
constexpr std::uint64_t first_plan_factor = 16;

// Where a memory is bounded and nobody says for how many keys, a quarter is for the set of reported keys. Where the
// keys are known, the filter takes what the rate needs: at most three quarters, or where a rate is asked for, all but a
// sixteenth.
constexpr std::uint64_t set_share = 4;
constexpr std::uint64_t least_set_share = 16;

// Of what is left of the rate, each generation takes a third. Less would take more memory for few generations, more for
// many.
constexpr double share_of_the_rest = 1.0 / 3;

// What the lower rates cost in hashes, a little more memory gives back.
constexpr double most_memory_for_fewer_hashes = 1.05;

// Two keys that share one of so many slots are not counted in one run.
constexpr std::size_t num_last_runs = std::size_t{1} << 16;

// What ExactCounts takes a key, about: node, bucket, and the smaller bucket arrays before.
constexpr std::uint64_t exact_bytes_a_key = 56;

std::uint64_t set_bytes(const ThresholdStream::Options& options) {
  if (!options.memory_bytes) return std::numeric_limits<std::uint64_t>::max();
  return options.threshold == 1 ? *options.memory_bytes : *options.memory_bytes / set_share;
}

/// What a filter leaves of the memory. A filter of three quarters leaves a quarter, and not some bytes more that a word
/// did not fit in: sets of different bounds do not do the same.
std::uint64_t set_bytes_beside(std::uint64_t filter_bytes, std::uint64_t memory_bytes) {
  constexpr std::uint64_t line_bytes = 64;
  const std::uint64_t rest = memory_bytes - std::min(filter_bytes, memory_bytes);
  const std::uint64_t quarter = memory_bytes / set_share;
  return rest >= quarter && rest - quarter < line_bytes ? quarter : rest;
}

/// How many of so many keys are seen to be new in the filter: each of the others finds all of its counters taken. Six
/// standard deviations more, so that a filter which holds what it was planned for is not thought to hold more.
std::uint64_t most_seen_to_be_new(const ThresholdShape& shape, std::uint64_t num_keys) {
  constexpr int num_steps = 64;
  double mean_rate = 0;
  for (int i = 0; i < num_steps; ++i) {
    const double keys = (i + 0.5) / num_steps * static_cast<double>(num_keys);
    mean_rate += theory::false_positive_probability(shape.num_counters, shape.num_hashes,
                                                    static_cast<std::uint64_t>(keys)) /
                 num_steps;
  }
  const double num_others = mean_rate * static_cast<double>(num_keys);
  const auto others = static_cast<std::uint64_t>(std::max(0.0, num_others - 6 * std::sqrt(num_others)));
  return std::max<std::uint64_t>(1, num_keys - std::min(others, num_keys));
}

/// The chance that other keys are on all counters of a key, as the filter is: from its first counters.
double measured_error(const ThresholdFilter<>& filter) {
  constexpr std::uint64_t most_counters = std::uint64_t{1} << 22;
  const std::uint64_t num_counters = std::min(filter.shape().num_counters, most_counters);
  std::uint64_t num_taken = 0;
  for (std::uint64_t i = 0; i < num_counters; ++i) num_taken += filter.storage().get(i) != 0;
  return std::pow(static_cast<double>(num_taken) / static_cast<double>(num_counters),
                  filter.shape().num_hashes);
}

// At a threshold of one, the first sight of a key is its report, and the set alone decides: exactly.
bool needs_filter(const ThresholdStream::Options& options) { return options.threshold > 1; }

}  // namespace

ThresholdStream::Generation::Generation(ThresholdFilter<> empty, std::uint64_t num_planned, double rate)
    : filter(std::move(empty)),
      planned_keys(num_planned),
      false_positive_rate(rate),
      most_new(most_seen_to_be_new(filter.shape(), num_planned)),
      counts(filter.shape().threshold),
      own(filter.shape().threshold) {}

/// The rate as things stand. Of a filter that holds more than was planned, too few keys are seen to be new.
double ThresholdStream::Generation::error() const {
  if (num_keys > most_new + 1) return measured_error(filter);
  const ThresholdShape& shape = filter.shape();
  const double all_keys =
      static_cast<double>(num_keys) / static_cast<double>(most_new) * static_cast<double>(planned_keys);
  return theory::false_positive_probability(shape.num_counters, shape.num_hashes,
                                            std::max<std::uint64_t>(1, static_cast<std::uint64_t>(all_keys)));
}

ThresholdStream::ThresholdStream(const Options& options, Report report, Notice notice, ExactCheck* check)
    : options_(options),
      report_(std::move(report)),
      notice_(std::move(notice)),
      check_(check),
      reported_(set_bytes(options)) {
  if (!needs_filter(options_)) {
    if (options_.num_keys && options_.memory_bytes) say_what_fits(0, *options_.num_keys);
    return;
  }
  if (options_.num_keys || options_.memory_bytes) {
    open_generation(options_.num_keys.value_or(0));
    if (!options_.memory_bytes) return;
    const std::uint64_t filter_bytes = num_bytes(filters_.front().filter.shape());
    reported_.restore(HashSet(set_bytes_beside(filter_bytes, *options_.memory_bytes)));
    say_what_fits(filter_bytes, filters_.front().planned_keys);
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
    most = std::min(most, last.most_new + 1 - std::min(last.num_keys, last.most_new));
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
  CountVisits* const visits = filters_.empty() ? nullptr : &filters_.back().counts;
  for (std::size_t i = 0; i < run_.size(); ++i) {
    num_distinct_ += counts_[i].value == 1;
    if (visits != nullptr) visits->add(counts_[i].value);
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
  if (!filters_.empty() && filters_.back().num_keys > filters_.back().most_new) past_the_plan();
}

/// Counts every digest once more; counts[i] is that of digests[i] then, over all generations.
void ThresholdStream::count_in_filters(Window digests, std::span<Count> counts) {
  if (filters_.empty()) {
    std::fill(counts.begin(), counts.end(), Count{1, false});
    return;
  }
  Generation& last = filters_.back();
  last.filter.insert_and_count_batch(digests, counts);
  for (const Count& count : counts) {
    last.num_keys += count.value == 1;
    last.own.add(count.value);
  }
  for (std::size_t g = 0; g + 1 < filters_.size(); ++g)
    filters_[g].filter.add_rare_counts_batch(digests, counts);
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
      generation.counts.add(i + 1);
      generation.own.add(i + 1);
      if (check_ != nullptr) check_->inserted(digest);
    }
    ++generation.num_keys;
  }
  exact_.reset();
}

double ThresholdStream::rate_of_next_generation() const {
  const double asked = options_.false_positive_rate.value_or(default_false_positive_rate);
  if (options_.memory_bytes || (options_.num_keys && filters_.empty())) return asked;
  const std::size_t number = filters_.size() - (options_.num_keys ? 1 : 0);
  return asked * share_of_the_rest * std::pow(1 - share_of_the_rest, static_cast<double>(number));
}

/// The filter for the keys and the rate of the request if the memory allows it; else what it allows.
ThresholdShape ThresholdStream::shape_in_memory(ThresholdRequest request) const {
  const std::uint64_t memory_bytes = *options_.memory_bytes;
  const std::uint64_t usual_bytes = std::max<std::uint64_t>(8, memory_bytes / set_share * (set_share - 1));
  if (request.num_keys != 0) {
    const std::uint64_t most_bytes =
        options_.false_positive_rate ? memory_bytes - memory_bytes / least_set_share : usual_bytes;
    std::uint64_t needed_bytes = std::numeric_limits<std::uint64_t>::max();
    try {
      const ThresholdShape shape = plan_threshold(request);
      needed_bytes = num_bytes(shape);
      if (needed_bytes <= most_bytes) return shape;
    } catch (const std::invalid_argument&) {
      if (options_.false_positive_rate) throw;
    }
    if (options_.false_positive_rate) {
      throw std::invalid_argument(fmt::format(
          "--memory: {} is too little for {} keys at a false positive rate of {}: the counters take {}, and "
          "a sixteenth "
          "is for the keys that were printed; give at least {}, or leave --false-positive-rate out",
          human_bytes(static_cast<double>(memory_bytes)), human_count(static_cast<double>(request.num_keys)),
          human_rate(request.false_positive_rate), human_bytes(static_cast<double>(needed_bytes)),
          needed_bytes / (least_set_share - 1) * least_set_share + 2 * least_set_share));
    }
    request.false_positive_rate = 0;
  }
  request.memory_bytes = usual_bytes;
  return plan_threshold(request);
}

/// Every key that is planned for may be one to report.
void ThresholdStream::say_what_fits(std::uint64_t filter_bytes, std::uint64_t num_keys) {
  const std::uint64_t capacity = HashSet::capacity(set_bytes_beside(filter_bytes, *options_.memory_bytes));
  if (capacity >= num_keys) return;
  std::string text = fmt::format(
      "the set of reported keys has room for {}: if more of the {} come {} times, keys may be "
      "printed again",
      human_count(static_cast<double>(capacity)), human_count(static_cast<double>(num_keys)),
      options_.threshold);
  if (options_.num_keys) {
    constexpr double to_spare = 1.01;
    const double enough = static_cast<double>(filter_bytes) +
                          to_spare * static_cast<double>(num_keys) * HashSet::least_bytes_a_digest;
    text += fmt::format("; {} of --memory have room for all", human_bytes(enough));
  }
  notice_(text);
}

/// `num_keys` 0: as many as the memory carries at the wanted rate.
void ThresholdStream::open_generation(std::uint64_t num_keys) {
  ThresholdRequest request{.threshold = options_.threshold, .update = options_.update};
  request.num_keys = num_keys;
  request.false_positive_rate = rate_of_next_generation();
  ThresholdShape shape = options_.memory_bytes ? shape_in_memory(request) : plan_threshold(request);
  const bool follows_the_stream = !options_.memory_bytes && !(options_.num_keys && filters_.empty());
  if (follows_the_stream)
    shape = with_fewest_hashes(shape, num_keys, request.false_positive_rate, most_memory_for_fewer_hashes);
  const std::uint64_t planned =
      num_keys != 0 ? num_keys : planned_num_keys(shape, request.false_positive_rate);
  const double rate = theory::false_positive_probability(shape.num_counters, shape.num_hashes,
                                                         std::max<std::uint64_t>(1, planned));
  filters_.emplace_back(ThresholdFilter<>(shape, options_.hasher), planned, rate);
  if (check_ != nullptr) check_->opened_generation(shape);
  notice_(fmt::format(
      "{} for {} distinct keys: {} counters of {} bits, k = {}, {}; a key seen fewer than {} times is "
      "reported with probability at most {}{}",
      filters_.size() == 1 ? "planned" : fmt::format("generation {} opened, planned", filters_.size()),
      human_count(static_cast<double>(planned)), human_count(static_cast<double>(shape.num_counters)),
      counter_bits_for(shape), shape.num_hashes, human_bytes(static_cast<double>(num_bytes(shape))),
      options_.threshold,
      human_rate(std::accumulate(
          filters_.begin(), filters_.end(), 0.0,
          [](double sum, const Generation& generation) { return sum + generation.false_positive_rate; })),
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
  // Where counts are not exact, the same place has what the generations counted.
  if (!exact_ && knows_visits_) {
    for (const Generation& generation : filters_) {
      for (const CountVisits* const visits : {&generation.counts, &generation.own})
        words.insert(words.end(), visits->words().begin(), visits->words().end());
    }
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

/// States of older versions have none.
void ThresholdStream::restore_visits(StateReader& state, std::span<const std::uint64_t> words) {
  knows_visits_ = !words.empty() || filters_.empty();
  if (words.empty()) return;
  for (Generation& generation : filters_) {
    for (CountVisits* const visits : {&generation.counts, &generation.own}) {
      const std::span<std::uint64_t> into = visits->words();
      if (words.size() < into.size()) state.fail("too few numbers");
      std::copy_n(words.begin(), into.size(), into.begin());
      words = words.subspan(into.size());
    }
  }
  if (!words.empty()) state.fail("too many numbers");
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
    constexpr std::uint64_t most_keys = std::uint64_t{1} << 60;
    const std::uint64_t planned_keys = state.number_at_most(most_keys);
    const auto rate = std::bit_cast<double>(state.number());
    const std::uint64_t num_keys = state.number();
    filters_.emplace_back(state.filter_of<ThresholdFilter<>>(options_.hasher, key), planned_keys, rate);
    filters_.back().num_keys = num_keys;
    if (filters_.back().filter.shape().threshold != options_.threshold)
      state.fail("a filter of another threshold");
  }
  if (!is_exact) restore_visits(state, words);
  const std::vector<std::uint64_t> image = state.numbers();
  const std::uint64_t most_bytes =
      options_.memory_bytes && !filters_.empty()
          ? set_bytes_beside(num_bytes(filters_.front().filter.shape()), *options_.memory_bytes)
          : set_bytes(options_);
  reported_.restore(state.made([&] { return HashSet(most_bytes, image); }));
}

std::uint64_t ThresholdStream::memory_bytes() const noexcept {
  std::uint64_t sum = reported_.set().num_bytes() + (exact_ ? exact_bytes_a_key * exact_->counts.size() : 0);
  for (const Generation& generation : filters_) sum += num_bytes(generation.filter.shape());
  return sum;
}

// A generation lets a key pass that shares every counter with other keys; the sum bounds the chance over all.
double ThresholdStream::error_bound() const {
  double sum = 0;
  for (const Generation& generation : filters_) sum += generation.error();
  return std::min(1.0, sum);
}

double ThresholdStream::planned_error() const {
  const double asked = options_.false_positive_rate.value_or(default_false_positive_rate);
  const bool follows_from_memory =
      options_.num_keys && options_.memory_bytes && !options_.false_positive_rate;
  return follows_from_memory && !filters_.empty() ? std::max(asked, filters_.front().false_positive_rate)
                                                  : asked;
}

std::optional<double> ThresholdStream::expected_false_reports() const {
  if (!knows_visits_) return std::nullopt;
  std::vector<GenerationVisits> visits;
  for (const Generation& generation : filters_)
    visits.push_back({generation.filter.shape(), &generation.counts, &generation.own});
  return cli::expected_false_reports(options_.threshold, visits);
}

}  // namespace tally::cli
