// Bonomi et al. 2006, Section 4: false positive rate against bits per key, d-left filter beside a standard counting
// Bloom filter. README.md has the claims.

#include "run_experiment.hpp"

#include <cmath>

#include "churn.hpp"
#include "paper_shape.hpp"
#include "space_constant.hpp"
#include "tally/hashing/multiplier_buckets.hpp"
#include "tally/theory/bloom.hpp"

namespace tally::experiments {
namespace {

const std::uint64_t num_keys = keys_at(6);
constexpr std::uint64_t num_queries = 10000;

struct Result {
  double false_positive_rate = 0;  // of the final state, exactly
  std::uint64_t num_false_positives = 0;
};

struct Point {
  std::string name;
  double bits_per_key;
  double predicted;
};

/// Of memory really allocated: cells or counters, and the side table.
double bits_per_key(std::uint64_t bytes) {
  return 8 * static_cast<double>(bytes) / static_cast<double>(num_keys);
}

template <class Trial>
double add_point(const Point& point, const Options& options, Report& report, Trial trial) {
  Mean rate;
  test::MeasuredRate queries(num_queries);
  for (const Result& result : run_trials(options, point.name, options.trials, trial)) {
    rate.add(result.false_positive_rate);
    queries.add_filter(result.num_false_positives);
  }
  const auto add = [&](const char* quantity, Measured measured) {
    report.add({.setting = point.name,
                .quantity = quantity,
                .x = point.bits_per_key,
                .predicted = point.predicted,
                .measured = std::move(measured)});
  };
  add("false positive rate of the final states", rate);
  add("false positive rate by 10000 queries per trial", measured(queries, options.trials));
  return rate.mean();
}

/// Cells of a width that the library has. A remainder of 11 bits leaves one for the counter; what it cannot count is
/// in the side table.
void add_dleft(std::uint32_t remainder_bits, std::uint32_t counter_bits, const Options& options,
               Report& report) {
  DLeftShape shape = paper_shape;
  shape.remainder_bits = remainder_bits;
  shape.least_remainder_bits = remainder_bits;
  shape.counter_bits = counter_bits;
  const FingerprintSpace space = shape.fingerprint_space();
  const Point point{
      fmt::format("dlCBF of {} + {} bits per cell", remainder_bits, counter_bits),
      bits_per_key(num_bytes(shape)),
      theory::dleft_false_positive_probability(shape.buckets_per_subtable, space.num_remainders(), num_keys)};
  const double rate = add_point(point, options, report, [&](std::uint64_t seed) -> Result {
    DLeftChurn<MultiplierBuckets> process(shape, seed);
    process.fill(num_keys);
    process.churn(options.steps);
    Result result{static_cast<double>(process.table().num_fingerprints()) / space.num_fingerprints()};
    for (std::uint64_t i = 0; i < num_queries; ++i) {
      result.num_false_positives += process.filter().may_contain(process.random().digest());
    }
    return result;
  });
  if (counter_bits != 2) return;
  const auto cell_bits = static_cast<double>(shape.num_cells() * shape.cell_bits());
  report.add({.setting = fmt::format("space formula: r = {}", remainder_bits),
              .quantity = "bits per key of the cells; formula at the measured rate",
              .claim = Claim::below,
              .predicted = paper_space(rate),
              .measured = computed(cell_bits / static_cast<double>(num_keys), options.trials)});
}

/// `counters_to_6_keys` counters of 4 bits for every 6 keys.
void add_counting_bloom(std::uint64_t counters_to_6_keys, const Options& options, Report& report) {
  const std::uint64_t m = num_keys * counters_to_6_keys / 6;
  const std::uint32_t k = theory::best_num_hashes(m, num_keys);
  const CountingBloomShape shape{.num_counters = m, .num_hashes = k, .counter_bits = 4};
  const Point point{
      fmt::format("standard CBF of {:.4g} counters per key", static_cast<double>(counters_to_6_keys) / 6),
      bits_per_key(num_bytes(shape)), theory::false_positive_probability_occupancy(m, k, num_keys)};
  add_point(point, options, report, [&](std::uint64_t seed) -> Result {
    CountingBloomChurn process(shape, seed);
    process.fill(num_keys);
    process.churn(options.steps);
    Result result{std::pow(process.filter().statistics().fill_ratio(), k)};
    for (std::uint64_t i = 0; i < num_queries; ++i)
      result.num_false_positives += process.filter().may_contain(process.random().digest());
    return result;
  });
}

double paper_dleft(double r) { return std::exp2(-r) * 24; }
double paper_counting_bloom(double counters_per_key) { return std::exp2(-std::log(2) * counters_per_key); }

void add_formulas(Report& report) {
  const auto add = [&](std::string setting, std::string quantity, std::string published, double predicted) {
    report.add({.setting = std::move(setting),
                .quantity = std::move(quantity),
                .published = std::move(published),
                .predicted = predicted});
  };
  int least_r = 40;
  while (least_r > 5 && paper_counting_bloom((least_r + 1) / 3.0) > paper_dleft(least_r - 1)) --least_r;
  for (const int r : {5, 14, 39}) {
    add(fmt::format("space formula: r = {}", r), "bits per key at f = 24/2^r",
        fmt::format("{:.4f}", 4 * (r + 2) / 3.0), paper_space(paper_dleft(r)));
  }
  add("equal space", "least remainder bits from which the dlCBF is better", "7", least_r);
  add("equal space", "ratio of the error probabilities at r = 14 and c = 16/3", "over 100",
      paper_counting_bloom(16.0 / 3) / paper_dleft(14));
  add("equal error", "standard CBF of 9 counters and 6 hashes", "0.01327",
      theory::false_positive_probability_approximate(9 * num_keys, 6, num_keys));
  add("equal error", "dlCBF of 11-bit remainders: 24/2^11", "0.01172", paper_dleft(11));
  add("equal error", "bits of that dlCBF over bits of that CBF", "less than 1/2", 4 * (11 + 2) / 3.0 / 36);
  const auto dleft_bits = [](std::uint32_t r, std::uint32_t counter_bits) {
    DLeftShape shape = paper_shape;
    shape.remainder_bits = shape.least_remainder_bits = r;
    shape.counter_bits = counter_bits;
    return bits_per_key(num_bytes(shape));
  };
  const auto counting_bits = [](double counters_per_key) {
    const auto m = static_cast<std::uint64_t>(counters_per_key * static_cast<double>(num_keys));
    return bits_per_key(num_bytes(CountingBloomShape{.num_counters = m, .num_hashes = 1}));
  };
  const auto add_ratio = [&](const char* quantity, const char* published, double ratio) {
    report.add({.setting = "allocated memory",
                .quantity = quantity,
                .published = published,
                .measured = without_limits(ratio, 1)});
  };
  add_ratio("dlCBF of 11 + 1 bits over CBF of 9 counters: 1.2% to 1.3%", "less than 1/2",
            dleft_bits(11, 1) / counting_bits(9));
  add_ratio("dlCBF of 14 + 2 bits over CBF of 13.5 counters: 0.15%", "1/2.5",
            dleft_bits(14, 2) / counting_bits(13.5));
  for (int r = 5; r <= 39; ++r) {
    for (const bool is_dleft : {true, false}) {
      report.add({.setting = is_dleft ? "curve dlCBF" : "curve standard CBF",
                  .quantity = "false positive rate",
                  .x = 4 * (r + 2) / 3.0,
                  .predicted = is_dleft ? paper_dleft(r) : paper_counting_bloom((r + 2) / 3.0)});
    }
  }
}

void run(const Options& options, Report& report) {
  for (const auto& [remainder_bits, counter_bits] :
       {std::pair{6u, 2u}, {10u, 2u}, {11u, 1u}, {14u, 2u}, {22u, 2u}})
    add_dleft(remainder_bits, counter_bits, options, report);
  for (const std::uint64_t counters : {16u, 24u, 32u, 48u, 54u, 81u})
    add_counting_bloom(counters, options, report);
  add_formulas(report);
  add_space_constant(options, report);
}

}  // namespace
}  // namespace tally::experiments

int main(int argc, char** argv) {
  using namespace tally::experiments;
  return run_experiment(argc, argv,
                        {.about = "Bonomi et al. 2006, Section 4: false positive rate against bits per key",
                         .usual = {.trials = 200, .steps = 1 << 20},
                         .small = {.trials = 10, .steps = 1 << 14},
                         .run = run});
}
