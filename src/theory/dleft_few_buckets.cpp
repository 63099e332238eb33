#include "tally/theory/dleft_few_buckets.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>
#include <unordered_map>
#include <vector>

#include "theory/detail.hpp"
#include "theory/dleft_trajectory.hpp"

namespace tally::theory {
namespace {

using BucketLoads = std::vector<std::uint8_t>;

/// The state of a table: the indices of the arrangements of its subtables, as the digits of one number.
using TableState = std::uint64_t;

struct StateWeight {
  std::size_t to;
  double weight;
};

/// The loads of the buckets of one subtable, sorted, are an arrangement.
class SubtableArrangements {
 public:
  /// The buckets of one load: their share of the subtable, and where it leads if one of them changes. `to` means
  /// nothing if that is impossible.
  struct Choice {
    std::uint32_t load;
    double share;
    std::uint64_t to;
  };

  SubtableArrangements(std::uint64_t B, std::uint32_t c) : c_(c) {
    BucketLoads loads(B, 0);
    append(loads, 0);
    for (const BucketLoads& each : all_) index_.emplace(text(each), index_.size());
    for (const BucketLoads& each : all_) {
      with_more_.push_back(changes(each, 1));
      with_less_.push_back(changes(each, -1));
    }
  }

  [[nodiscard]] std::uint64_t size() const { return all_.size(); }
  [[nodiscard]] const std::vector<Choice>& with_more(std::uint64_t at) const { return with_more_[at]; }
  [[nodiscard]] const std::vector<Choice>& with_less(std::uint64_t at) const { return with_less_[at]; }

 private:
  static std::string text(const BucketLoads& loads) { return {loads.begin(), loads.end()}; }

  void append(BucketLoads& loads, std::size_t at) {
    if (at == loads.size()) {
      all_.push_back(loads);
      return;
    }
    for (std::uint32_t load = at == 0 ? 0 : loads[at - 1]; load <= c_; ++load) {
      loads[at] = static_cast<std::uint8_t>(load);
      append(loads, at + 1);
    }
  }

  [[nodiscard]] std::vector<Choice> changes(const BucketLoads& loads, int step) const {
    std::vector<Choice> found;
    for (std::size_t first = 0; first < loads.size();) {
      std::size_t end = first;
      while (end < loads.size() && loads[end] == loads[first]) ++end;
      const int load = loads[first] + step;
      std::uint64_t to = 0;
      if (load >= 0 && load <= static_cast<int>(c_)) {
        BucketLoads next = loads;
        next[step > 0 ? end - 1 : first] = static_cast<std::uint8_t>(load);
        to = index_.at(text(next));
      }
      found.push_back(
          {loads[first], static_cast<double>(end - first) / static_cast<double>(loads.size()), to});
      first = end;
    }
    return found;
  }

  std::uint32_t c_;
  std::vector<BucketLoads> all_;
  std::unordered_map<std::string, std::uint64_t> index_;
  std::vector<std::vector<Choice>> with_more_;
  std::vector<std::vector<Choice>> with_less_;
};

/// A table: what an insertion and a removal do to a state.
class FewBuckets {
 public:
  FewBuckets(std::uint32_t d, std::uint64_t B, std::uint32_t c) : d_(d), B_(B), c_(c), subtable_(B, c) {}

  /// Calls visit(state, probability) for each state after an insertion; returns the probability that there is no room.
  template <class Visit>
  double insert(TableState state, double probability, const Visit& visit) const {
    return choose(state, 0, 1, probability, c_, state, visit);
  }

  /// Calls visit(state, probability) for each state after the removal of a random element of n.
  template <class Visit>
  void remove(TableState state, std::uint64_t n, const Visit& visit) const {
    const auto all = static_cast<double>(n);
    TableState place = 1;
    for (std::uint32_t j = 0; j < d_; ++j, place *= subtable_.size()) {
      const std::uint64_t at = state / place % subtable_.size();
      for (const auto& choice : subtable_.with_less(at)) {
        if (choice.load == 0) continue;
        visit(state - at * place + choice.to * place,
              choice.share * static_cast<double>(B_) * choice.load / all);
      }
    }
  }

 private:
  /// Goes through the choices of subtable j and of those to its right. `least` is the least load so far, and `next` the
  /// state if the element goes to a bucket with that load.
  template <class Visit>
  double choose(TableState state, std::uint32_t j, TableState place, double probability, std::uint32_t least,
                TableState next, const Visit& visit) const {
    if (j == d_) {
      if (least == c_) return probability;
      visit(next, probability);
      return 0.0;
    }
    const std::uint64_t at = state / place % subtable_.size();
    double no_room = 0.0;
    for (const auto& choice : subtable_.with_more(at)) {
      const bool goes_here = choice.load < least;
      no_room += choose(state, j + 1, place * subtable_.size(), probability * choice.share,
                        goes_here ? choice.load : least,
                        goes_here ? state - at * place + choice.to * place : next, visit);
    }
    return no_room;
  }

  std::uint32_t d_;
  std::uint64_t B_;
  std::uint32_t c_;
  SubtableArrangements subtable_;
};

/// Every state with a number of elements, and its probability.
struct StateDistribution {
  std::vector<TableState> states;
  std::vector<double> probabilities;
  std::unordered_map<TableState, std::size_t> index;

  std::size_t at(TableState state) {
    const auto [found, is_new] = index.emplace(state, states.size());
    if (is_new) {
      states.push_back(state);
      probabilities.push_back(0.0);
    }
    return found->second;
  }
};

/// The distribution after n insertions. Adds the probability of an overflow to `any_overflow`.
StateDistribution fill_few_buckets(const FewBuckets& table, std::uint64_t n, double& any_overflow) {
  StateDistribution now;
  now.probabilities[now.at(0)] = 1.0;
  for (std::uint64_t i = 0; i < n; ++i) {
    StateDistribution next;
    for (std::size_t s = 0; s < now.states.size(); ++s) {
      any_overflow += table.insert(
          now.states[s], now.probabilities[s],
          [&](TableState state, double probability) { next.probabilities[next.at(state)] += probability; });
    }
    now = std::move(next);
  }
  return now;
}

/// The replacements of the elements of a table, as a matrix.
class FewBucketsReplacements {
 public:
  FewBucketsReplacements(const FewBuckets& table, std::uint64_t n, StateDistribution& full) {
    StateDistribution one_less;
    for (std::size_t s = 0; s < full.states.size(); ++s) {
      // Removals and insertions may reach states that were not reached by insertions alone.
      first_removal_.push_back(removals_.size());
      table.remove(full.states[s], n, [&](TableState state, double probability) {
        const std::size_t known = one_less.states.size();
        const std::size_t to = one_less.at(state);
        removals_.push_back({to, probability});
        if (to < known) return;
        first_insertion_.push_back(insertions_.size());
        no_room_.push_back(table.insert(state, 1.0, [&](TableState next, double share) {
          insertions_.push_back({full.at(next), share});
        }));
      });
    }
    first_removal_.push_back(removals_.size());
    first_insertion_.push_back(insertions_.size());
  }

  /// One replacement. Returns the probability that there was no room.
  double step(std::vector<double>& probabilities) const {
    std::vector<double> next(probabilities.size(), 0.0);
    std::vector<double> removed(no_room_.size(), 0.0);
    double overflow = 0.0;
    for (std::size_t s = 0; s < probabilities.size(); ++s) {
      for (std::size_t i = first_removal_[s]; i < first_removal_[s + 1]; ++i) {
        const auto& [to, weight] = removals_[i];
        removed[to] += probabilities[s] * weight;
        next[s] += probabilities[s] * weight * no_room_[to];
        overflow += probabilities[s] * weight * no_room_[to];
      }
    }
    for (std::size_t s = 0; s < removed.size(); ++s) {
      for (std::size_t i = first_insertion_[s]; i < first_insertion_[s + 1]; ++i)
        next[insertions_[i].to] += removed[s] * insertions_[i].weight;
    }
    probabilities = std::move(next);
    return overflow;
  }

 private:
  std::vector<std::size_t> first_removal_;
  std::vector<StateWeight> removals_;
  std::vector<std::size_t> first_insertion_;
  std::vector<StateWeight> insertions_;
  std::vector<double> no_room_;  // after a removal
};

/// The most states that a table has with the same number of elements, up to n, or that one subtable has at all.
double most_dleft_states(std::uint32_t d, std::uint64_t B, std::uint32_t c, std::uint64_t n) {
  // Arrangements of B loads up to c by their sum: a Gaussian binomial coefficient, factor by factor.
  const std::size_t size = B * c + 1;
  std::vector<double> of_one(size, 0.0);
  of_one[0] = 1.0;
  for (std::size_t k = 1; k <= B; ++k) {
    for (std::size_t i = size; i-- > c + k;) of_one[i] -= of_one[i - c - k];
    for (std::size_t i = k; i < size; ++i) of_one[i] += of_one[i - k];
  }
  std::vector<double> all = of_one;
  for (std::uint32_t j = 1; j < d; ++j) {
    std::vector<double> more(all.size() + size - 1, 0.0);
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (std::size_t k = 0; k < size; ++k) more[i + k] += all[i] * of_one[k];
    }
    all = std::move(more);
  }
  const double of_all = *std::max_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n) + 1);
  return std::max(of_all, std::accumulate(of_one.begin(), of_one.end(), 0.0));
}

void check_few_buckets(const char* function, std::uint32_t d, std::uint64_t B, std::uint32_t c,
                       std::uint64_t n, std::uint64_t least_n) {
  detail::require_num_subtables(function, d);
  detail::require_num_cells(function, c);
  if (B < 1 || B > max_dleft_exact_buckets)
    detail::refuse(function, "B", std::to_string(B), "1 to " + std::to_string(max_dleft_exact_buckets));
  const std::uint64_t num_cells = d * B * c;
  if (n < least_n || n > num_cells) {
    detail::refuse(function, "n", std::to_string(n),
                   std::to_string(least_n) + " to " + std::to_string(num_cells) + ", the number of cells");
  }
  const double most = most_dleft_states(d, B, c, n);
  if (most > static_cast<double>(max_dleft_exact_states)) {
    detail::refuse(function, "the number of states", detail::text_of(most),
                   "at most " + std::to_string(max_dleft_exact_states) + ": take fewer buckets or elements");
  }
}

}  // namespace

double dleft_any_overflow_filling(std::uint32_t d, std::uint64_t B, std::uint32_t c, std::uint64_t n) {
  check_few_buckets("dleft_any_overflow_filling", d, B, c, n, 0);
  double any_overflow = 0.0;
  fill_few_buckets(FewBuckets(d, B, c), n, any_overflow);
  return any_overflow;
}

double dleft_overflow_churning(std::uint32_t d, std::uint64_t B, std::uint32_t c, std::uint64_t n) {
  check_few_buckets("dleft_overflow_churning", d, B, c, n, 1);
  const FewBuckets table(d, B, c);
  double any_overflow = 0.0;
  StateDistribution full = fill_few_buckets(table, n, any_overflow);
  if (any_overflow >= 1.0) return 1.0;
  const FewBucketsReplacements replacements(table, n, full);
  for (double& probability : full.probabilities) probability /= 1.0 - any_overflow;
  double overflow = 0.0;
  // Each n steps reduce the influence of the start by a factor e.
  for (int round = 0; round < 100; ++round) {
    const double earlier = overflow;
    for (std::uint64_t i = 0; i < n; ++i) overflow = replacements.step(full.probabilities);
    if (round > 4 && std::fabs(overflow - earlier) <= 1e-10 * overflow) break;
  }
  return overflow;
}

}  // namespace tally::theory
