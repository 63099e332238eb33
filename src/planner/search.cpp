#include "planner/search.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "planner/saturation.hpp"
#include "tally/detail/batches/counter_kernels.hpp"
#include "tally/detail/checked_math.hpp"
#include "tally/detail/parameter_error.hpp"
#include "tally/hashing/scheme_list.hpp"
#include "tally/planner/scheme_law.hpp"
#include "tally/shapes/duplicate.hpp"
#include "tally/storage/bit_array.hpp"
#include "tally/storage/counter_array.hpp"
#include "tally/theory/blocked_bloom.hpp"
#include "tally/theory/blocked_counters.hpp"
#include "tally/theory/bloom.hpp"
#include "tally/theory/double_hashing_expansion.hpp"
#include "tally/theory/partition_double.hpp"
#include "tally/theory/register_bloom.hpp"

namespace tally::planner_detail {
namespace {

constexpr std::uint64_t max_num_keys = max_num_positions;
/// Up to this many, the words that are allocated are filled.
constexpr std::uint64_t positions_that_fill_words = 4096;

std::uint64_t round_up(const Law& law, std::uint64_t m, std::uint32_t k) {
  const std::uint64_t rounded = law.round(m, k, Rounding::up);
  return rounded > max_num_positions ? 0 : rounded;
}

/// The least m <= `enough` that is good. `enough` must be good.
template <class Good>
std::uint64_t least_good(std::uint64_t enough, Good good) {
  std::uint64_t low = 0;  // not enough
  while (enough - low > 1) {
    const std::uint64_t middle = low + (enough - low) / 2;
    (good(middle) ? enough : low) = middle;
  }
  return enough;
}

/// Calls better(k) for the scheme's values of k, from the least one up; stops after `patience` calls in a row that
/// returned false.
template <class Better>
void for_each_num_hashes(const Law& law, Better better) {
  std::uint32_t in_vain = 0;
  bool any = false;
  for (std::uint32_t k = law.hashes_step; k <= law.max_hashes; k += law.hashes_step) {
    const bool improved = better(k);
    any = any || improved;
    in_vain = improved ? 0 : in_vain + 1;
    if (any && law.patience != 0 && in_vain == law.patience) return;
  }
}

/// The law of independent positions. Of few it is the exact one, or an expansion that from 100 keys on is off by less than
/// 1e-6.
double ln_independent_rate(std::uint64_t m, std::uint32_t k, std::uint64_t n) {
  if (m > few_positions) return theory::ln_false_positive_probability(m, k, n);
  constexpr std::uint64_t most_steps = std::uint64_t{1} << 17;
  const bool is_quick = n < 100 && std::uint64_t{k} * k * n <= most_steps;
  return is_quick ? theory::ln_false_positive_probability_occupancy(m, k, n)
                  : theory::ln_false_positive_probability_expansion(m, k, n);
}

/// The expansion of double hashing, with a margin for what it leaves out where positions are few: nothing for one or two hashes.
double ln_double_hashing_rate(theory::DoubleHashing scheme, std::uint64_t m, std::uint32_t k,
                              std::uint64_t n) {
  constexpr double usual_margin = 24;
  const double margin = k > 2 ? usual_margin / static_cast<double>(m) : 0;
  return std::min(0.0, theory::ln_double_hashing_false_positive_probability_expansion(scheme, m, k, n) +
                           std::log1p(margin));
}

/// Of lines with B positions.
Law lines_law(std::uint32_t B) {
  Law law;
  law.positions = PositionLaw::lines;
  law.ln_rate = [B](std::uint64_t m, std::uint32_t k, std::uint64_t n) {
    return theory::ln_blocked_bloom_false_positive_probability(m / B, B, k, n);
  };
  law.round = [B](std::uint64_t m, std::uint32_t k, Rounding rounding) {
    return BlockedScheme::round_positions({m, k, B}, rounding);
  };
  law.max_hashes = 64;
  law.patience = slow_law_patience;
  return law;
}

Law law_of(PositionLaw kind) {
  constexpr std::uint32_t most_hashes_of_double_hashing = 64;  // more never pay: 1 of m keys has one position
  Law law;
  law.positions = kind;
  switch (kind) {
    case PositionLaw::parts:
      law.ln_rate = theory::ln_false_positive_probability_partitioned;
      break;
    case PositionLaw::partition_double:
      law.ln_rate = [](std::uint64_t m, std::uint32_t k, std::uint64_t n) {
        const std::uint64_t p = m / k;
        return p < std::max(2u, k) ? 0.0 : theory::ln_partition_double_false_positive_probability(p, k, n);
      };
      law.patience = slow_law_patience;
      break;
    case PositionLaw::lines:
      return lines_law(BitArray::positions_per_line);
    case PositionLaw::words:
      law.ln_rate = [](std::uint64_t m, std::uint32_t k, std::uint64_t n) {
        constexpr std::uint32_t num_words = RegisterBlockedScheme::words_per_line;
        constexpr std::uint32_t B = BitArray::positions_per_line;
        return theory::ln_register_bloom_false_positive_probability(m / B, num_words, B / num_words, k, n);
      };
      law.max_hashes = 64;
      law.patience = 1;  // one step is 8 hashes
      break;
    case PositionLaw::plain_double:
    case PositionLaw::quadratic_double:
    case PositionLaw::cubic_double:
    case PositionLaw::triple:
      law.ln_rate = [scheme = *double_hashing_of(kind)](std::uint64_t m, std::uint32_t k, std::uint64_t n) {
        return ln_double_hashing_rate(scheme, m, k, n);
      };
      law.is_limit = true;
      law.max_hashes = most_hashes_of_double_hashing;
      law.patience = slow_law_patience;
      break;
    case PositionLaw::independent:
      law.ln_rate = ln_independent_rate;
      law.patience = 32;  // of few positions the law takes long
  }
  return law;
}

[[noreturn]] void throw_out_of_reach(std::string_view structure, std::string_view what,
                                     const std::string& fix) {
  throw std::invalid_argument(std::string(structure) + ": " + std::string(what) + "; " + fix);
}

/// The law of a scheme, counted at small sizes.
double ln_counted_rate(std::uint16_t scheme_id, const Law& law, std::uint64_t m, std::uint32_t k,
                       std::uint64_t n) {
  if (m > few_positions) return law.ln_rate(m, k, n);
  const SchemeLaw counted = false_positive_law(scheme_id, m, k, n, counted_steps);
  return counted.kind == LawKind::exact ? counted.ln_false_positive_rate : law.ln_rate(m, k, n);
}

/// Adds positions until the promise is kept, of few; and then those that the allocated words have to spare.
void keep_promise(const Law& law, double ln_target, std::uint32_t counter_bits, Solution& solution) {
  const std::uint64_t n = solution.num_keys;
  while (solution.num_positions <= few_positions &&
         law.ln_promised_rate(solution.num_positions, solution.num_hashes, n) > ln_target) {
    const std::uint64_t more =
        solution.num_positions + std::max<std::uint64_t>(1, solution.num_positions / 256);
    solution.num_positions = round_up(law, more, solution.num_hashes);
  }
  if (solution.num_positions > positions_that_fill_words) return;
  const std::uint64_t per_word = 64 / counter_bits;
  const std::uint64_t allocated = (solution.num_positions + per_word - 1) / per_word * per_word;
  const std::uint32_t k = solution.num_hashes;
  const Solution filled = law.is_limit ? Solution{law.round(allocated, k, Rounding::down), k, n}
                                       : best_hashes(law, n, allocated).value_or(solution);
  if (law.ln_promised_rate(filled.num_positions, filled.num_hashes, n) <= ln_target) solution = filled;
}

}  // namespace

std::optional<Solution> least_positions(const Law& law, std::uint64_t n, double ln_target) {
  Solution best{0, 0, n};
  for_each_num_hashes(law, [&](std::uint32_t k) {
    const auto good = [&](std::uint64_t m) {
      const std::uint64_t usable = round_up(law, m, k);
      return usable != 0 && law.ln_rate(usable, k, n) <= ln_target;
    };
    // Only fewer positions than the best so far are of interest; one evaluation shows whether that is possible.
    std::uint64_t enough = 0;
    if (best.num_hashes != 0) {
      enough = law.round(best.num_positions - 1, k, Rounding::down);
      if (enough == 0 || !good(enough)) return false;
    } else {
      enough = std::max<std::uint64_t>(n, 1);
      while (!good(enough)) {
        if (enough >= max_num_positions / 2) return false;
        enough *= 2;
      }
    }
    best.num_positions = round_up(law, least_good(enough, good), k);
    best.num_hashes = k;
    return true;
  });
  if (best.num_hashes == 0) return std::nullopt;
  return best;
}

std::optional<Solution> best_hashes(const Law& law, std::uint64_t n, std::uint64_t m) {
  Solution best{0, 0, n};
  double least = std::numeric_limits<double>::infinity();
  for_each_num_hashes(law, [&](std::uint32_t k) {
    const std::uint64_t usable = law.round(m, k, Rounding::down);
    if (usable == 0) return false;
    const double rate = law.ln_rate(usable, k, n);
    if (!(rate < least)) return false;
    least = rate;
    best.num_positions = usable;
    best.num_hashes = k;
    return true;
  });
  if (best.num_hashes == 0) return std::nullopt;
  return best;
}

std::uint64_t most_keys_at(const Law& law, std::uint64_t m, std::uint32_t k, double ln_target) {
  std::uint64_t low = 0;  // meets the rate
  std::uint64_t high = 1;
  while (high <= max_num_keys && law.ln_rate(m, k, high) <= ln_target) {
    low = high;
    high *= 2;
  }
  high = std::min(high, max_num_keys + 1);
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (law.ln_rate(m, k, middle) <= ln_target ? low : high) = middle;
  }
  return low;
}

std::optional<Solution> most_keys(const Law& law, std::uint64_t m, double ln_target) {
  Solution best;
  for_each_num_hashes(law, [&](std::uint32_t k) {
    const std::uint64_t usable = law.round(m, k, Rounding::down);
    if (usable == 0 || best.num_keys == max_num_keys) return false;
    if (law.ln_rate(usable, k, best.num_keys + 1) > ln_target) return false;
    best = {usable, k, most_keys_at(law, usable, k, ln_target)};
    return true;
  });
  if (best.num_hashes == 0) return std::nullopt;
  return best;
}

SearchLaw search_law(std::string_view scheme) {
  SearchLaw result;
  AllSchemes::with_id(scheme_id(scheme), [&]<class Scheme>(std::type_identity<Scheme>) {
    result = {Scheme::file_id, Scheme::law, law_of(Scheme::law)};
    result.law.hashes_step = num_hashes_step<Scheme>;
    result.law.ln_promised = [law = result.law](std::uint64_t m, std::uint32_t k, std::uint64_t n) {
      return ln_counted_rate(Scheme::file_id, law, m, k, n);
    };
    result.law.round = [](std::uint64_t m, std::uint32_t k, Rounding rounding) {
      return Scheme::round_positions({m, k, BitArray::positions_per_line}, rounding);
    };
  });
  return result;
}

CountingLaw counting_law(const Law& scheme) {
  return {[scheme](std::uint32_t) { return scheme; }, expected_saturated};
}

Law duplicate_law() {
  Law law = lines_law(DuplicateShape::bits_per_word);
  law.max_hashes = DuplicateShape::max_num_hashes;
  return law;
}

/// Of the counters of a key that was inserted once, for theta = 2. It is that of every theta above 1, for a key that was
/// inserted theta - 1 times: a counter that two of the key's positions share reaches theta without another key, and any other
/// counter needs one. Above 24 hashes, which no plan has, it is the law of absent keys.
Law lines_law_of_inserted_keys(std::uint32_t B) {
  constexpr std::uint32_t most_hashes_of_the_formula = 24;
  Law law = lines_law(B);
  law.ln_rate = [B, of_absent_keys = law.ln_rate](std::uint64_t m, std::uint32_t k, std::uint64_t n) {
    if (k > most_hashes_of_the_formula) return of_absent_keys(m, k, n);
    const theory::RepeatedKeys others{1, n};
    return theory::ln_blocked_threshold_false_positive_probability(2, m / B, B, k, {&others, 1}, 1);
  };
  law.max_hashes = most_hashes_of_the_formula;
  return law;
}

CountingLaw blocked_counting_law(std::uint64_t theta) {
  return {[theta](std::uint32_t counter_bits) {
            const std::uint32_t B = CounterArray::positions_per_line(counter_bits);
            Law law = theta > 1 ? lines_law_of_inserted_keys(B) : lines_law(B);
            // The kernels take no more hashes.
            if (counter_bits == 4)
              law.max_hashes =
                  std::min<std::uint32_t>(law.max_hashes, detail::most_hashes_of_counter_kernels);
            return law;
          },
          expected_saturated_in_lines};
}

std::uint64_t positions_in(std::uint64_t memory_bytes, std::uint32_t counter_bits) noexcept {
  const std::uint64_t per_word = 64 / counter_bits;
  return std::min(memory_bytes / 8, max_num_positions / per_word) * per_word;
}

void require_count(std::string_view structure, std::string_view field, std::uint64_t value, std::uint64_t low,
                   std::uint64_t high) {
  if (value == 0 && low > 0) {
    detail::throw_parameter_error(structure, field, "0",
                                  std::to_string(low) + " to " + std::to_string(high) + ", or not given");
  }
  detail::require_in_range(structure, field, value, low, high);
}

void require_rate(std::string_view structure, std::string_view field, double value) {
  if (value == 0) detail::throw_parameter_error(structure, field, "0", "above 0 and below 1, or not given");
  detail::require_probability(structure, field, value);
}

Wanted check_wanted(std::string_view structure, const Requirements& requirements) {
  return check_wanted(structure, requirements, requirements.num_keys);
}

Wanted check_wanted(std::string_view structure, const Requirements& requirements,
                    std::optional<std::uint64_t> num_keys) {
  const std::optional<double>& rate = requirements.false_positive_rate;
  const std::optional<std::uint64_t>& memory_bytes = requirements.memory_bytes;
  const int given = num_keys.has_value() + rate.has_value() + memory_bytes.has_value();
  if (given != 2) {
    constexpr std::string_view rule = "give exactly two of num_keys, false_positive_rate and memory_bytes";
    std::string names;
    const auto add = [&](bool is_given, std::string_view name) {
      if (is_given == (given == 1)) names.append(names.empty() ? "" : ", ").append(name);
    };
    add(num_keys.has_value(), "num_keys");
    add(rate.has_value(), "false_positive_rate");
    add(memory_bytes.has_value(), "memory_bytes");
    if (given == 3) throw_out_of_reach(structure, rule, "all three are given; leave one out");
    if (given == 0) throw_out_of_reach(structure, rule, "none is given");
    throw_out_of_reach(structure, rule, "only " + names + " is given; add another");
  }
  if (num_keys) require_count(structure, "num_keys", *num_keys, 1, max_num_keys);
  if (rate) require_rate(structure, "false_positive_rate", *rate);
  if (memory_bytes) require_count(structure, "memory_bytes", *memory_bytes, 8, ~std::uint64_t{0});
  return {num_keys, rate ? std::optional(std::log(*rate)) : std::nullopt, memory_bytes};
}

std::uint64_t num_keys_of(std::string_view structure, const theory::CountHistogram& histogram) {
  const double num_keys = std::ceil(histogram.num_distinct());
  detail::require_in_range(structure, "number of keys in the histogram", num_keys, 1.0,
                           static_cast<double>(max_num_keys));
  return static_cast<std::uint64_t>(num_keys);
}

namespace {

// Under double hashing positions of a key coincide more often if their number has small divisors. So a prime number of positions
// may be better than all that fit; by how much, in ln of the rate or as a share of the keys, to be taken instead.
constexpr double least_gain_of_prime = 0.01;

/// The largest prime up to m; 0 if the law does not depend on divisors.
std::uint64_t prime_for(const Law& law, std::uint64_t m) {
  const bool depends = double_hashing_of(law.positions) && law.positions != PositionLaw::partition_double;
  return depends && m >= 2 ? PartitionDoubleScheme::round_positions({m, 1, 1}, Rounding::down) : 0;
}

std::optional<Solution> best_in_memory(const Law& law, std::uint64_t n, std::uint64_t m) {
  const auto all = best_hashes(law, n, m);
  const std::uint64_t prime = prime_for(law, m);
  if (!all || prime == 0) return all;
  const auto fewer = best_hashes(law, n, prime);
  const auto ln_rate = [&](const Solution& own) {
    return law.ln_promised_rate(own.num_positions, own.num_hashes, n);
  };
  return fewer && ln_rate(*fewer) < ln_rate(*all) - least_gain_of_prime ? fewer : all;
}

std::optional<Solution> most_keys_in_memory(const Law& law, std::uint64_t m, double ln_target) {
  const auto all = most_keys(law, m, ln_target);
  const std::uint64_t prime = prime_for(law, m);
  if (prime == 0) return all;
  const auto fewer = most_keys(law, prime, ln_target);
  const auto num_keys = [](const auto& own) { return own ? static_cast<double>(own->num_keys) : 0.0; };
  return num_keys(fewer) > num_keys(all) * (1 + least_gain_of_prime) ? fewer : all;
}

}  // namespace

Solution solve(std::string_view structure, const Law& law, const Wanted& wanted, std::uint32_t counter_bits) {
  if (!wanted.memory_bytes) {
    if (auto found = least_positions(law, *wanted.num_keys, *wanted.ln_rate)) {
      keep_promise(law, *wanted.ln_rate, counter_bits, *found);
      return *found;
    }
    throw_out_of_reach(structure,
                       "no shape of at most 2^56 positions and " + std::to_string(law.max_hashes) +
                           " hashes meets this false_positive_rate for this num_keys",
                       "give fewer keys or a higher rate");
  }
  const std::uint64_t m = positions_in(*wanted.memory_bytes, counter_bits);
  if (wanted.num_keys) {
    if (const auto found = best_in_memory(law, *wanted.num_keys, m)) return *found;
    throw_out_of_reach(structure,
                       "memory_bytes is " + std::to_string(*wanted.memory_bytes) +
                           ", which is too little for the smallest filter of this scheme",
                       "give more memory");
  }
  if (auto found = most_keys_in_memory(law, m, *wanted.ln_rate)) {
    while (found->num_positions <= few_positions && found->num_keys > 0 &&
           law.ln_promised_rate(found->num_positions, found->num_hashes, found->num_keys) > *wanted.ln_rate)
      --found->num_keys;
    if (found->num_keys > 0) return *found;
  }
  throw_out_of_reach(structure,
                     "memory_bytes is " + std::to_string(*wanted.memory_bytes) +
                         ", which is too little to meet this false_positive_rate for even one key",
                     "give more memory or a higher rate");
}

}  // namespace tally::planner_detail
