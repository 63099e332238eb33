// d-left counting Bloom filters beside a counting Bloom filter of the same error, and beside the physical limit:
// random reads of 2 and of 4 lines of 64 bytes per key, batched, in the filter's own memory.
//
//   bench_dleft [KEYS [ROUNDS]]      default: 1e6 and then 64e6 keys, 9 rounds
//
// Rounds take turns over all operations of a filter; a ratio is the median of the rounds' ratios, a time the median
// (and the least) of the times: processor time, in ns per key. Answers and the false positive rate are checked before. Keys are ready
// digests, but in the rows 'hashed', where they are texts of 16 bytes.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "support/rounds.hpp"
#include "tally/filters/counting_bloom.hpp"
#include "tally/filters/dleft_counting_bloom.hpp"
#include "tally/planner.hpp"

namespace {

using namespace tally;
using namespace tally::bench;

constexpr double load_factor = 0.87;

template <class Filter>
std::uint64_t num_found(const Filter& filter, std::uint64_t first, std::uint64_t count, Keys& keys) {
  std::array<bool, batch> found;
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < count; i += batch) {
    const auto part = std::span(found).first(std::min<std::uint64_t>(batch, count - i));
    filter.may_contain_batch(keys.digests(first + i, part.size()), part);
    sum += static_cast<std::uint64_t>(std::ranges::count(part, true));
  }
  return sum;
}

/// Fills the filter, checks its answers, times every operation. Results of batches go to `insert`.
template <class Filter, class Insert>
void bench(const std::string& name, Filter& filter, double predicted_rate, std::uint64_t num_keys,
           int num_rounds, Insert insert) {
  Keys keys;
  for (std::uint64_t i = 0; i < num_keys; i += batch)
    insert(keys.digests(i, std::min<std::uint64_t>(batch, num_keys - i)));
  require(num_found(filter, 0, num_keys, keys) == num_keys, name + ": a key is missing");
  const std::uint64_t num_queries = std::min<std::uint64_t>(num_keys, 10'000'000);
  const auto num_false = static_cast<double>(num_found(filter, first_absent, num_queries, keys));
  const double expected = predicted_rate * static_cast<double>(num_queries);
  require(std::abs(num_false - expected) < 6 * std::sqrt(expected) + 0.02 * expected,
          fmt::format("{}: {} false positives, expected {}", name, num_false, expected));
  const auto words = filter.storage_words();
  fmt::print("\n{}: {} keys, {:.2f} bits per key, false positive rate {:.3g}% (predicted {:.3g}%)\n", name,
             num_keys, 64.0 * static_cast<double>(words.size()) / static_cast<double>(num_keys),
             100 * num_false / static_cast<double>(num_queries), 100 * predicted_rate);

  Times times;
  std::array<bool, batch> found;
  std::array<RemoveResult, batch> removed;
  const auto digests = [&](std::uint64_t key) { return keys.digests(key); };
  const auto texts = [&](std::uint64_t key) { return keys.texts(key); };
  const auto look_up = [&](const auto& some) {
    filter.may_contain_batch(some, std::span(found).first(some.size()));
  };
  const auto remove = [&](const auto& some) {
    filter.remove_batch(some, std::span(removed).first(some.size()));
  };
  std::uint64_t num_single = 0;  // so that answers are used
  const auto look_up_singly = [&](std::span<const Hash128> some) {
    for (const Hash128& digest : some) num_single += filter.may_contain(digest);
  };
  const auto insert_singly = [&](std::span<const Hash128> some) {
    for (const Hash128& digest : some) num_single += filter.insert(digest) == InsertResult::counted;
  };
  const auto remove_singly = [&](std::span<const Hash128> some) {
    for (const Hash128& digest : some) num_single += filter.remove(digest) == RemoveResult::removed;
  };
  for (int round = 0; round <= num_rounds; ++round) {
    // Sections of the keys in turn; a round of warming up is not kept.
    const std::uint64_t first =
        num_keys < 2 * keys_per_round
            ? 0
            : static_cast<std::uint64_t>(round) * keys_per_round % (num_keys - keys_per_round);
    const auto keep = [&](const std::string& operation, double time) {
      if (round > 0) times[operation].push_back(time);
    };
    keep("2 lines", time_line_reads(words, 2, first, keys));
    keep("4 lines", time_line_reads(words, 4, first, keys));
    keep("lookup, present", time_round(first, digests, look_up));
    keep("lookup, absent", time_round(first_absent + first, digests, look_up));
    keep("lookup, present, hashed", time_round(first, texts, look_up));
    keep("lookup, present, single", time_round(first, digests, look_up_singly));
    keep("lookup, absent, single", time_round(first_absent + first, digests, look_up_singly));
    const auto change = [&](const std::string& how, auto take_out, auto put_in) {
      double removing = 0;
      double inserting = 0;
      for (std::uint64_t key = first; key < first + keys_per_round; key += batch) {
        const auto some = keys.digests(key);
        const double start = processor_seconds();
        take_out(some);
        const double middle = processor_seconds();
        put_in(some);
        removing += middle - start;
        inserting += processor_seconds() - middle;
      }
      constexpr double ns_per_key = 1e9 / static_cast<double>(keys_per_round);
      keep("remove" + how, removing * ns_per_key);
      keep("insert" + how, inserting * ns_per_key);
      keep("remove and insert" + how, (removing + inserting) * ns_per_key);
    };
    change("", remove, insert);
    change(", single", remove_singly, insert_singly);
  }
  require(num_single != 0, name + ": no key was found");
  require(num_found(filter, 0, num_keys, keys) == num_keys, name + ": a key got lost");
  print_times(times, "2 lines",
              {"2 lines", "4 lines", "lookup, present", "lookup, absent", "lookup, present, hashed", "remove",
               "insert", "remove and insert", "lookup, present, single", "lookup, absent, single",
               "remove, single", "insert, single", "remove and insert, single"});
}

/// A filter with the one name for its words that `bench` asks for.
template <class Filter>
struct Named : Filter {
  using Filter::Filter;
  std::span<const std::uint64_t> storage_words() const {
    if constexpr (requires { this->table(); }) {
      return this->table().cells().words();
    } else {
      return this->storage().words();
    }
  }
};

void bench_all(std::uint64_t num_keys, int num_rounds) {
  const KeyHasher hasher(7);
  double rate = 0;
  const DLeftShape layouts[] = {{.num_subtables = 4, .cells_per_bucket = 32, .remainder_bits = 22},
                                {.num_subtables = 4, .cells_per_bucket = 8, .remainder_bits = 10},
                                {.num_subtables = 4, .cells_per_bucket = 32},
                                {.num_subtables = 2, .cells_per_bucket = 32},
                                {.num_subtables = 4, .cells_per_bucket = 8}};
  for (DLeftShape shape : layouts) {
    const auto [d, cells] = std::pair(shape.num_subtables, shape.cells_per_bucket);
    shape.least_remainder_bits = shape.remainder_bits;
    shape.buckets_per_subtable =
        static_cast<std::uint64_t>(static_cast<double>(num_keys) / (load_factor * d * cells)) + 1;
    Named<DLeftCountingBloomFilter<>> filter(shape, hasher);
    rate = -std::expm1(-static_cast<double>(num_keys) / shape.fingerprint_space().num_fingerprints());
    std::array<InsertResult, batch> results;
    bench(fmt::format("d-left, {} x {} cells of {} + 2 bits", d, cells, shape.remainder_bits), filter, rate,
          num_keys, num_rounds, [&](std::span<const Hash128> keys) {
            const auto own = std::span(results).first(keys.size());
            filter.insert_batch(keys, own);
            require(std::ranges::count(own, InsertResult::full) == 0, "full");
          });
  }
  const CountingBloomShape shape = plan_counting_bloom({.num_keys = num_keys, .false_positive_rate = rate});
  Named<CountingBloomFilter<>> counting(shape, hasher);
  bench(fmt::format("counting Bloom filter, k = {}", shape.num_hashes), counting, rate, num_keys, num_rounds,
        [&](std::span<const Hash128> keys) { counting.insert_batch(keys); });
}

}  // namespace

int main(int argc, char** argv) {
  const int num_rounds = argc > 2 ? std::atoi(argv[2]) : 9;
  if (argc > 1) {
    const double num_keys = std::atof(argv[1]);
    if (!(num_keys >= 1000) || num_rounds < 1) {
      fmt::print(stderr, "usage: bench_dleft [KEYS [ROUNDS]], at least 1000 keys and 1 round\n");
      return 2;
    }
    bench_all(static_cast<std::uint64_t>(num_keys), num_rounds);
    return 0;
  }
  for (const double num_keys : {1e6, 64e6}) bench_all(static_cast<std::uint64_t>(num_keys), num_rounds);
}
