#include "commands/top_check.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace tally::cli {

void ExactRanking::add(const StreamRecords& records) {
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::uint64_t weight = records.weights.empty() ? 1 : records.weights[i];
    counts_[records.keys[i]] += weight;
  }
}

ExactRanking::Result ExactRanking::compare(const Ranking& ranking, std::optional<double> share,
                                           std::uint64_t num_keys) const {
  Result result{.num_distinct = counts_.size()};
  // The smallest true count of an answer.
  std::vector<std::uint64_t> counts;
  for (const auto& [key, count] : counts_) {
    if (share ? is_above_share(count, *share, ranking.total) : count > 0) counts.push_back(count);
  }
  if (!share && counts.size() > num_keys) {
    const auto last = counts.begin() + static_cast<std::ptrdiff_t>(num_keys - 1);
    std::nth_element(counts.begin(), last, counts.end(), std::greater<>());
    counts.resize(num_keys);
  }
  result.num_wanted = counts.size();
  const std::uint64_t least =
      counts.empty() ? ~std::uint64_t{0} : *std::min_element(counts.begin(), counts.end());
  for (const KeyCount& key : ranking.keys) {
    const std::uint64_t truth = counts_.at(key.key);
    result.num_false += truth < least;
    result.num_outside_bounds += truth > key.count || truth < key.least();
    result.greatest_overcount = std::max(result.greatest_overcount, key.count - std::min(key.count, truth));
  }
  result.num_missed =
      result.num_wanted - std::min<std::uint64_t>(result.num_wanted, ranking.keys.size() - result.num_false);
  return result;
}

std::string check_text(const ExactRanking::Result& result) {
  return fmt::format(
      "exact counts: {} distinct keys; of {} correct keys {} are missing; {} keys are wrong; {} counts are "
      "outside their bounds; the largest excess of a count is {}",
      result.num_distinct, result.num_wanted, result.num_missed, result.num_false, result.num_outside_bounds,
      result.greatest_overcount);
}

Json check_json(const ExactRanking::Result& result) {
  return {{"num_distinct_keys", result.num_distinct},
          {"num_wanted", result.num_wanted},
          {"num_missed", result.num_missed},
          {"num_false", result.num_false},
          {"num_outside_bounds", result.num_outside_bounds},
          {"greatest_overcount", result.greatest_overcount}};
}

}  // namespace tally::cli
