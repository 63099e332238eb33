#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "streams/filter_of.hpp"
#include "streams/threshold/impl.hpp"
#include "tally/streams/state_writer.hpp"

namespace tally {

void ThresholdStream::Impl::save(StateWriter& state) const {
  for (const std::uint64_t number :
       {num_keys_, totals_.num_reported, totals_.num_possible_repeats, num_distinct_, warn_at_keys_}) {
    state.number(number);
  }
  // The exact counts, or if there are generations, theirs.
  std::vector<std::uint64_t> words;
  if (exact_) {
    for (const auto& [digest, count] : exact_->sorted())
      words.insert(words.end(), {digest.low, digest.high, count});
  } else if (knows_visits_) {
    for (const detail::Generation& generation : generations_) {
      for (const detail::CountVisits* const visits : {&generation.counts, &generation.own})
        words.insert(words.end(), visits->words().begin(), visits->words().end());
    }
  }
  state.number(exact_.has_value());
  state.large_numbers(std::move(words));
  state.number(generations_.size());
  for (const detail::Generation& generation : generations_) {
    state.number(generation.planned_keys);
    state.number(std::bit_cast<std::uint64_t>(generation.false_positive_rate));
    state.number(generation.num_keys);
    state.filter(generation.filter);
  }
  state.set(reported_.set());
}

void ThresholdStream::Impl::restore(StateReader& state, const std::optional<HashKey>& key) {
  for (std::uint64_t* const number :
       {&num_keys_, &totals_.num_reported, &totals_.num_possible_repeats, &num_distinct_, &warn_at_keys_}) {
    *number = state.number();
  }
  const bool is_exact = state.number_at_most(1) == 1;
  const std::vector<std::uint64_t> words = state.large_numbers();
  exact_.reset();
  if (is_exact) restore_exact_counts(state, words);
  generations_.clear();
  constexpr std::uint64_t most_generations = 64;
  const std::uint64_t num_generations = state.number_at_most(most_generations);
  if (is_exact == (num_generations > 0) && detail::needs_filter(options_))
    state.fail("it must have either counts or filters");
  for (std::uint64_t i = 0; i < num_generations; ++i) {
    constexpr std::uint64_t most_keys = std::uint64_t{1} << 60;
    const std::uint64_t planned_keys = state.number_at_most(most_keys);
    const auto rate = std::bit_cast<double>(state.number());
    const std::uint64_t num_keys = state.number();
    generations_.emplace_back(detail::filter_of<ThresholdFilter<>>(state, options_.hasher, key), planned_keys,
                              rate);
    generations_.back().num_keys = num_keys;
    if (generations_.back().filter.shape().threshold != options_.threshold)
      state.fail("a filter has another threshold");
  }
  if (!is_exact) restore_visits(state, words);
  const std::uint64_t most_bytes =
      options_.memory_bytes && !generations_.empty()
          ? detail::set_bytes_beside(num_bytes(generations_.front().filter.shape()), *options_.memory_bytes)
          : detail::set_bytes(options_);
  reported_.restore(state.set(most_bytes));
}

void ThresholdStream::Impl::restore_exact_counts(StateReader& state, std::span<const std::uint64_t> words) {
  if (words.size() % 3 != 0) state.fail("its last exact count is cut");
  if (words.size() / 3 > options_.exact_keys) state.fail("it has too many exact counts");
  exact_.emplace();
  for (std::size_t i = 0; i < words.size(); i += 3) {
    const std::uint64_t count = words[i + 2];
    if (count == 0 || count > options_.threshold) state.fail("an exact count is out of range");
    const Hash128 digest{words[i], words[i + 1]};
    if (!exact_->counts.try_emplace(digest, static_cast<std::uint32_t>(count)).second)
      state.fail("a key has two exact counts");
  }
}

/// Early states of version 2 do not have them.
void ThresholdStream::Impl::restore_visits(StateReader& state, std::span<const std::uint64_t> words) {
  knows_visits_ = !words.empty() || generations_.empty();
  if (words.empty()) return;
  for (detail::Generation& generation : generations_) {
    for (detail::CountVisits* const visits : {&generation.counts, &generation.own}) {
      const std::span<std::uint64_t> into = visits->words();
      if (words.size() < into.size()) state.fail("too few numbers");
      std::copy_n(words.begin(), into.size(), into.begin());
      words = words.subspan(into.size());
    }
  }
  if (!words.empty()) state.fail("too many numbers");
}

}  // namespace tally
