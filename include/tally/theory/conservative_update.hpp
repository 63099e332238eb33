#pragma once

#include <cstdint>
#include <vector>

#include "tally/export.hpp"
#include "tally/theory/compound_poisson.hpp"

namespace tally::theory {

/// Counters with conservative update: an insertion raises by 1 only those of the key's k counters that are
/// least. These functions predict the counts that such counters report if the insertions come in random order, for example if each is
/// drawn independently of the others (by Zipf's law or uniformly). They are approximations, not bounds; for
/// plain counters, which never report less, see compound_poisson.hpp.
///
/// m counters in all: for a Count-Min sketch depth times width, with k = depth; for a filter the k positions
/// of a key are anywhere among the m. The histogram is that of all keys. Each insertion adds 1.
///
/// How it is calculated: a key's k counters, without the key itself, are taken as k independent copies of one
/// Markov chain in time. Its rate from v to v + 1 is the sum over all keys of the rate at which they are
/// inserted while their least counter is v. That is a system of differential equations for the share of
/// counters with each value, and for each count in the histogram for how far these keys' own insertions have
/// lifted them. Counts above 16 are grouped. It leaves out that a counter which many keys share stays fast,
/// and that k and m / k are finite.
///
/// Where it holds: the mean excess was predicted 0.8 to 1.25 times as high as measured, and rates of 0.001 to 0.5 were
/// predicted 0.6 to 3 times as high as measured, on uniform and Zipf streams (tests/statistical/conservative_update_test.cpp,
/// experiments/conservative_update, docs/theory.md), where most counters are below theta and the rate does not fall by
/// several times from theta - 1 to theta. It is far too low above the values that most counters reach, if keys repeat: for 2
/// hashes and keys that are inserted 4 times each, two keys per counter, 0.1 times the measured 1.1% at theta 9
/// (ConservativeUpdateMeasured.IsPredictedTooLowFarAboveWhatMostCountersReach). The planner simulates beside it. In any other order, for example all
/// insertions of a key together, only the formula of plain counters holds, as a bound.
///
/// theta 1 to 10000 and, if keys lie beyond the histogram, at most its size; levels above 128 are grouped.
/// k 1 to 64; m at least k; true_count below theta; else std::invalid_argument. Takes a few milliseconds
/// for theta to 16, up to a second from 128 on.
/// @source ours; Bianchi, Duffy, Leith and Shneer 2012, "Modeling conservative updates in multi-hash
///         approximate count sketches", has the case that no key repeats; Ben Mazziane, Alouf and Neglia 2022
///         has upper bounds

/// Pr(count reported for a key inserted true_count times >= theta); at most the value of
/// compound_threshold_false_positive_probability for the same arguments.
TALLY_EXPORT double conservative_threshold_false_positive_probability(const CountHistogram& histogram,
                                                                      std::uint64_t theta, std::uint32_t k,
                                                                      std::uint64_t m,
                                                                      std::uint64_t true_count = 0);
TALLY_EXPORT double ln_conservative_threshold_false_positive_probability(const CountHistogram& histogram,
                                                                         std::uint64_t theta, std::uint32_t k,
                                                                         std::uint64_t m,
                                                                         std::uint64_t true_count = 0);

/// The same for every true_count from 0 to theta - 1, in one go. theta 1 to 128.
TALLY_EXPORT std::vector<double> conservative_threshold_false_positive_probabilities(
    const CountHistogram& histogram, std::uint64_t theta, std::uint32_t k, std::uint64_t m);

/// Pr(counter >= theta).
TALLY_EXPORT double conservative_counter_upper_tail(const CountHistogram& histogram, std::uint32_t k,
                                                    std::uint64_t m, std::uint64_t theta);

/// By how much a key inserted true_count times (0 to 10000) is reported too high on average. Throws
/// std::invalid_argument if the histogram does not distinguish counts as high as those that absent keys reach.
TALLY_EXPORT double conservative_mean_excess(const CountHistogram& histogram, std::uint32_t k,
                                             std::uint64_t m, std::uint64_t true_count = 0);

}  // namespace tally::theory
