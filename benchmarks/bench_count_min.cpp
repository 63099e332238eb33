// Count-Min sketches of depth 4 beside the physical limit: batched reads of one random line of 64 bytes per key, in
// the sketch's own memory.
//
//   bench_count_min [BYTES [ROUNDS]]     default: 256 KiB and then 1 GiB, 9 rounds
//
// Rounds take turns over all operations of a sketch; a ratio is the median of the rounds' ratios, a time the median
// (and the least) of the times: processor time, in ns per key. That no estimate is below the truth, and that estimates
// keep their bound, is checked before. Keys are ready digests, but in the rows 'hashed', where they are texts of 16 bytes.

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "support/rounds.hpp"
#include "tally/sketches/count_min.hpp"

namespace {

using namespace tally;
using namespace tally::bench;

constexpr std::uint32_t depth = 4;

/// Keys 0 .. 2^20 - 1, and key i once more for every power of two up to 2^10 that divides it.
template <class Rows>
void check_answers(const CountMinShape& shape, const std::string& name) {
  constexpr std::uint64_t num_keys = std::uint64_t{1} << 20;
  CountMinSketch<Rows> sketch(shape, 1);
  Keys keys;
  std::vector<std::uint64_t> weights(batch);
  const auto truth = [](std::uint64_t key) { return 1 + std::uint64_t(std::countr_zero(key | 1024)); };
  for (std::uint64_t first = 0; first < num_keys; first += batch) {
    for (std::size_t i = 0; i < batch; ++i) weights[i] = truth(first + i);
    sketch.add_batch(keys.digests(first), weights);
  }
  std::vector<CountEstimate> estimates(batch);
  std::uint64_t num_off = 0;
  for (std::uint64_t first = 0; first < num_keys; first += batch) {
    sketch.estimate_batch(keys.digests(first), estimates);
    for (std::size_t i = 0; i < batch; ++i) {
      require(estimates[i].saturated || estimates[i].value >= truth(first + i), name + ": below the truth");
      num_off += estimates[i].lower > truth(first + i);
    }
  }
  const double share = static_cast<double>(num_off) / static_cast<double>(num_keys);
  require(share <= sketch.bound().failure_probability, name + ": estimates are off more often than allowed");
}

template <class Rows>
void bench(std::uint64_t num_bytes, std::uint32_t counter_bits, CounterUpdate update, int num_rounds) {
  const CountMinShape shape{.width = Rows::round_width(num_bytes * 8 / counter_bits / depth, Rounding::down),
                            .depth = depth,
                            .counter_bits = counter_bits,
                            .update = update};
  const std::string name = fmt::format("{} rows, {} bits, {}", Rows::name, counter_bits, name_of(update));
  check_answers<Rows>(shape, name);
  CountMinSketch<Rows> sketch(shape, 1);
  Keys keys;
  Times times;
  const std::vector<std::uint64_t> weights(batch, 3);
  std::vector<Count> counts(batch);
  const auto digests = [&](std::uint64_t key) { return keys.digests(key); };
  const auto texts = [&](std::uint64_t key) { return keys.texts(key); };
  for (int round = 0; round <= num_rounds; ++round) {
    const std::uint64_t first = static_cast<std::uint64_t>(round) * keys_per_round;
    const auto keep = [&](const std::string& operation, double time) {
      if (round > 0) times[operation].push_back(time);
    };
    keep("1 line", time_line_reads(sketch.storage().words(), 1, first, keys));
    keep("add", time_round(first, digests, [&](const auto& some) { sketch.add_batch(some); }));
    keep("add, weights",
         time_round(first, digests, [&](const auto& some) { sketch.add_batch(some, weights); }));
    keep("add, hashed", time_round(first, texts, [&](const auto& some) { sketch.add_batch(some); }));
    keep("count", time_round(first, digests, [&](const auto& some) { sketch.count_batch(some, counts); }));
  }
  fmt::print("\n{}: {} bytes\n", name, num_bytes);
  print_times(times, "1 line", {"1 line", "add", "add, weights", "add, hashed", "count"});
}

void bench_all(std::uint64_t num_bytes, int num_rounds) {
  for (const CounterUpdate update : {CounterUpdate::plain, CounterUpdate::conservative}) {
    for (const std::uint32_t counter_bits : {32u, 64u}) {
      bench<CongruentialRows>(num_bytes, counter_bits, update, num_rounds);
    }
  }
  bench<IndependentRows>(num_bytes, 32, CounterUpdate::plain, num_rounds);
  bench<TwoHashRows>(num_bytes, 32, CounterUpdate::plain, num_rounds);
}

}  // namespace

int main(int argc, char** argv) {
  const int num_rounds = argc > 2 ? std::atoi(argv[2]) : 9;
  if (argc > 1) {
    bench_all(static_cast<std::uint64_t>(std::atof(argv[1])), num_rounds);
    return 0;
  }
  for (const std::uint64_t num_bytes : {std::uint64_t{1} << 18, std::uint64_t{1} << 30})
    bench_all(num_bytes, num_rounds);
}
