#include "tally/streams/exact_check.hpp"

#include <algorithm>
#include <cmath>

#include "streams/threshold/law_of_count.hpp"

namespace tally {

using detail::Law;
using detail::law_of_least_counter;
using detail::law_of_sum;

void ExactCheck::opened_generation(const OpenedGeneration& opened) {
  if (!predicts()) return;
  if (generation_ == 0) {
    earlier_least_.assign(threshold_ + 1, 0.0);
    earlier_least_[0] = 1;
  } else {
    earlier_least_ = law_of_sum(earlier_least_, law_of_least_counter(histogram_, shape_, threshold_));
  }
  shape_ = opened.shape;
  ++generation_;
  histogram_.keys_with_count.assign(threshold_ + 1, 0.0);
  num_insertions_ = 0;
  next_update_ = 0;
  update_prediction();
}

void ExactCheck::counted(Hash128 digest) {
  if (!predicts()) return;
  Counted& key = counted_[digest];
  if (key.generation != generation_) {
    key.generation = generation_;
    key.count_in_generation = 0;
  }
  // A reported key is not counted any more, so its count in a generation is at most theta, unless the set of
  // reported keys is full.
  if (key.count_in_generation == threshold_) return;
  if (key.count_in_generation > 0) histogram_.keys_with_count[key.count_in_generation] -= 1;
  histogram_.keys_with_count[++key.count_in_generation] += 1;
  if (++num_insertions_ >= next_update_) update_prediction();
}

void ExactCheck::took(std::size_t index, bool is_reported) {
  Key& key = keys_[keys_of_batch_[index]];
  ++key.count;
  if (key.count < threshold_) {
    if (generation_ > 0) key.probability_too_soon = pass_[threshold_ - key.count];
    key.reported_too_soon |= is_reported;
  }
  key.reported |= is_reported;
}

// Called for every 0.1% of load: in such a step a probability that grows with the k-th power of the load hardly changes.
void ExactCheck::update_prediction() {
  next_update_ = num_insertions_ + num_insertions_ / 1000 + 1;
  Law law = earlier_least_;
  if (num_insertions_ > 0) law = law_of_sum(law, law_of_least_counter(histogram_, shape_, threshold_));
  pass_.assign(threshold_ + 1, 0.0);
  double sum = 0;
  for (std::size_t s = pass_.size(); s-- > 0;) pass_[s] = sum += law[s];
}

ExactCheck::Result ExactCheck::result() const {
  Result result;
  double variance = 0;
  for (const auto& [bytes, key] : keys_) {
    ++result.num_distinct;
    const bool is_over = key.count >= threshold_;
    const double probability = key.probability_too_soon;
    variance += probability * (1 - probability);
    (is_over ? result.predicted_early : result.predicted_false) += probability;
    result.num_over += is_over;
    result.num_missed += is_over && !key.reported;
    result.num_early += is_over && key.reported_too_soon;
    result.num_false += !is_over && key.reported_too_soon;
  }
  result.standard_deviation = std::sqrt(variance);
  return result;
}

}  // namespace tally
