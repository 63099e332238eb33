#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/random.hpp"
#include "support/weighted_draw.hpp"
#include "tally/hashing/scheme_list.hpp"
#include "tally/planner/plan.hpp"
#include "tally/planner/sample.hpp"

namespace tally::test {

inline double log_uniform(Random& random, double low, double high) {
  return low * std::pow(high / low, uniform(random));
}

inline bool one_in(Random& random, std::uint64_t number) { return random.below(number) == 0; }

/// Mostly once or a few times, some keys up to `most` times.
inline std::uint64_t skewed_count(Random& random, double most) {
  return static_cast<std::uint64_t>(1 / std::sqrt(log_uniform(random, 1 / (most * most), 1)));
}

/// A Poisson number, given that it is not 0; 0 if it always is.
inline std::uint64_t positive_poisson(Random& random, double mean) {
  if (mean == 0) return 0;
  for (;;) {
    std::uint64_t number = 0;  // of events before the product of uniform numbers falls below exp(-mean)
    for (double left = std::exp(mean) * uniform(random); left > 1; left *= uniform(random)) ++number;
    if (number != 0) return number;
  }
}

/// How often each of `num_keys` keys comes if `num_insertions` of them are drawn at random, and every key is drawn.
inline std::vector<std::uint64_t> counts_of_insertions(std::uint64_t num_keys, std::uint64_t num_insertions,
                                                       Random& random) {
  std::vector<std::uint64_t> counts(num_keys, 1);
  if (num_insertions <= num_keys) return counts;
  const double mean = static_cast<double>(num_insertions) / static_cast<double>(num_keys);
  double low = 0;
  double high = mean;  // of Poisson numbers whose mean is that if none is 0
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (middle == 0 || middle / -std::expm1(-middle) < mean ? low : high) = middle;
  }
  std::uint64_t sum = 0;
  for (std::uint64_t& count : counts) sum += count = positive_poisson(random, high);
  for (; sum < num_insertions; ++sum) ++counts[random.below(num_keys)];
  while (sum > num_insertions)
    if (std::uint64_t& count = counts[random.below(num_keys)]; count > 1) --count, --sum;
  return counts;
}

/// What a planner is asked for, and keys that are as it says: key i comes counts[i] times.
struct PlanRequest {
  Requirements requirements;
  std::vector<std::uint64_t> counts;

  /// How often a key comes. Where the number of keys was left open, or doubles, more keys come like the first, but no more
  /// frequent ones.
  std::uint64_t count_of(std::uint64_t slot) const {
    const std::uint64_t num_frequent = requirements.num_frequent_keys.value_or(0);
    if (num_frequent != 0 && slot >= counts.size())
      return counts[num_frequent + slot % (counts.size() - num_frequent)];
    return counts[slot % counts.size()];
  }
  /// Whether the planner knows how often the keys come.
  bool counts_are_known() const {
    return requirements.histogram || requirements.num_insertions || !requirements.keys_repeat;
  }
  /// The same request as a command.
  std::string command_line() const;
};

inline std::string PlanRequest::command_line() const {
  const Requirements& wanted = requirements;
  std::string line = "tally plan";
  const auto add = [&](const char* flag, const auto& value) {
    if (value) line += fmt::format(" {} {}", flag, *value);
  };
  const auto add_if = [&](const char* flag, bool given) {
    if (given) line += std::string(" ") + flag;
  };
  if (wanted.histogram) {
    std::map<std::uint64_t, std::uint64_t> keys_of;
    for (const std::uint64_t count : counts) ++keys_of[count];
    std::string lines;
    for (const auto& [count, num_keys] : keys_of) lines += fmt::format("{} {}\\n", count, num_keys);
    line = "printf '" + lines + "' | " + line + " --histogram -";
  }
  add("--keys", wanted.num_keys);
  add("--false-positive-rate", wanted.false_positive_rate);
  add("--memory", wanted.memory_bytes);
  add("--theta", wanted.threshold);
  add_if("--deletes", wanted.needs_deletes);
  add_if("--counts", wanted.needs_counts);
  add("--insertions", wanted.num_insertions);
  if (wanted.update) line += fmt::format(" --update {}", name_of(*wanted.update));
  add("--scheme", wanted.scheme);
  add("--frequent-keys", wanted.num_frequent_keys);
  add_if("--unique-keys", !wanted.keys_repeat);
  add("--lifetime-operations", wanted.lifetime_operations);
  add("--failure-probability", wanted.failure_probability);
  add("--max-moves", wanted.max_moves_per_insertion);
  add("--max-doublings", wanted.max_doublings);
  add_if("--rate-when-doubled", wanted.keeps_rate_when_doubled);
  add_if("--slow-cells", !wanted.prefers_speed);
  if (wanted.preference) line += fmt::format(" --{}", name_of(*wanted.preference));
  return line;
}

/// Sets how often the keys come, and what the planner knows of it.
inline void set_counts(PlanRequest& request, std::uint64_t num_keys, Random& random) {
  Requirements& wanted = request.requirements;
  std::vector<std::uint64_t>& counts = request.counts;
  counts.assign(num_keys, 1);
  switch (random.below(5)) {
    case 0:  // once each
      wanted.keys_repeat = false;
      return;
    case 1:  // all four times, of which the planner knows nothing
      std::ranges::fill(counts, 4);
      return;
    case 2:  // some often
      for (std::uint64_t& count : counts) count = random.between(1, 4);
      if (num_keys < 8) return;
      wanted.num_frequent_keys = random.between(1, num_keys / 8);
      for (std::uint64_t i = 0; i < *wanted.num_frequent_keys; ++i) counts[i] = random.between(5, 40);
      return;
    case 3:  // as insertions of keys at random, where no key is without any
      wanted.num_insertions = num_keys * (1 + random.below(4));
      counts = counts_of_insertions(num_keys, *wanted.num_insertions, random);
      return;
    default:  // as a histogram says
      // What is tried of millions of keys is their number.
      for (std::uint64_t& count : counts) count = skewed_count(random, num_keys <= 300'000 ? 100 : 5);
      wanted.histogram = histogram_of_counts(counts, std::max<std::uint64_t>(wanted.theta(), 256));
      if (wanted.threshold && one_in(random, 4)) wanted.update = CounterUpdate::conservative;
  }
}

/// Nothing if no structure meets the requirements.
inline std::optional<Plan> plan_if_any(const Requirements& requirements) {
  try {
    return plan(requirements);
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

/// A request for up to `most_keys` keys: of any size and rate, with deletes, counts, repeats, thresholds and growth or
/// without, by rate or by memory.
inline PlanRequest random_plan_request(std::uint64_t seed, double most_keys) {
  Random random(seed);
  PlanRequest request;
  Requirements& wanted = request.requirements;
  const auto num_keys = static_cast<std::uint64_t>(log_uniform(random, 1, most_keys + 1));
  if (one_in(random, 2)) wanted.threshold = random.between(1, 12);
  wanted.needs_deletes = one_in(random, 3);
  wanted.needs_counts = one_in(random, 4);
  if (one_in(random, 5)) {
    wanted.max_doublings = static_cast<std::uint32_t>(random.below(3));
    wanted.keeps_rate_when_doubled = one_in(random, 2);
  }
  if (one_in(random, 2)) wanted.lifetime_operations = random.below(3) * num_keys;
  if (one_in(random, 3)) wanted.failure_probability = log_uniform(random, 1e-9, 0.5);
  if (one_in(random, 4)) wanted.max_moves_per_insertion = std::vector{0.0, 0.01, 0.05, 0.5}[random.below(4)];
  wanted.prefers_speed = !one_in(random, 3);
  if (one_in(random, 4)) wanted.preference = static_cast<PlanPreference>(random.below(3));
  if (one_in(random, 6)) wanted.scheme = AllSchemes::names[random.below(AllSchemes::names.size())].name;
  set_counts(request, num_keys, random);

  const bool gives_keys = wanted.histogram || wanted.num_insertions || !one_in(random, 4);
  if (gives_keys && !wanted.histogram) wanted.num_keys = num_keys;
  if (!gives_keys || one_in(random, 2)) wanted.false_positive_rate = log_uniform(random, 1e-6, 0.5);
  if (!gives_keys || !wanted.false_positive_rate) {
    wanted.memory_bytes = std::max<std::uint64_t>(
        8, static_cast<std::uint64_t>(log_uniform(random, 4, 64) * static_cast<double>(num_keys) / 8));
  }
  return request;
}

}  // namespace tally::test
