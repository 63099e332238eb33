// Kirsch and Mitzenmacher 2008, Sections 5 and 8, at the sizes where schemes differ: filters of 100 to 1000 bits, the
// degenerate steps of double hashing, and the library's own scheme, which has none. README.md has the claims.

#include "run_experiment.hpp"

#include <algorithm>
#include <cmath>

#include "chi_square.hpp"
#include "false_positives.hpp"
#include "random.hpp"
#include "tally/planner/scheme_law.hpp"
#include "tally/theory/bloom.hpp"

namespace tally::experiments {
namespace {

constexpr std::uint64_t num_queries = 100;

/// Of a chi-square test to fail by chance, so that all 8 hold together with 99.9%.
constexpr double chance = 0.001 / 8;

/// A prime, a highly composite number and a power of two near 100 and near 1000.
constexpr std::uint64_t sizes[] = {101, 120, 128, 1009, 1008, 1024};
constexpr std::uint64_t small_sizes[] = {101, 120, 128};

struct Load {
  std::uint64_t bits_per_key;
  std::uint32_t num_hashes;
};
constexpr Load loads[] = {{4, 3}, {8, 6}, {16, 11}};

/// Of counting the pairs of hash values.
double most_steps(const Options& options) { return options.small ? 0x1p22 : 0x1p30; }

Measured scaled(const Measured& measured, double factor) {
  return {measured.value * factor, measured.trials, [=](double confidence) -> Limits {
            const Limits limits = measured.limits(confidence);
            return {limits.low * factor, limits.high * factor};
          }};
}

struct Point {
  std::uint64_t num_bits;
  std::uint64_t num_keys;
  std::uint32_t num_hashes;
};

/// The measured rate beside the law of the scheme; and, for the plot, both over that of independent positions.
template <HashScheme Scheme>
void add_rate(const std::string& setting, const std::string& curve, double x, const Point& point,
              const Options& options, Report& report) {
  const BloomShape shape = shape_below<Scheme>(point.num_bits, point.num_hashes);
  if (shape.num_bits == 0) return;  // too few for a prime in every part
  test::MeasuredRate rate(num_queries);
  for (const std::uint64_t num_found :
       false_positives<Scheme>(options, fmt::format("{}; {}", setting, Scheme::name), shape, point.num_keys,
                               options.trials, num_queries))
    rate.add_filter(num_found);
  Row row{.setting = setting,
          .quantity = fmt::format("{}: rate", Scheme::name),
          .x = x,
          .measured = measured(rate, options.trials)};
  const SchemeLaw law = false_positive_law(Scheme::file_id, shape.num_bits, shape.num_hashes, point.num_keys,
                                           most_steps(options));
  if (law.kind == LawKind::exact) row.predicted = std::exp(law.ln_false_positive_rate);
  report.add(row);
  const double independent =
      theory::false_positive_probability_occupancy(point.num_bits, point.num_hashes, point.num_keys);
  row.setting = "curve " + curve;
  row.quantity = std::string(Scheme::name);
  if (row.predicted) row.predicted = *row.predicted / independent;
  row.measured = scaled(*row.measured, 1 / independent);
  report.add(row);
}

void add_rates(const Options& options, Report& report) {
  for (const Load& load : loads) {
    for (const std::uint64_t m : sizes) {
      if (options.small && m > 101) continue;
      const Point point{m, m / load.bits_per_key, load.num_hashes};
      ComparedSchemes::for_each([&](auto scheme) {
        add_rate<typename decltype(scheme)::type>(
            fmt::format("m = {}; n = {}; k = {}", m, point.num_keys, point.num_hashes),
            fmt::format("c = {};", load.bits_per_key), static_cast<double>(m), point, options, report);
      });
    }
  }
  // From a few hashes to more than are good.
  for (const std::uint32_t k : {1u, 2u, 4u, 8u, 12u, 16u}) {
    if (options.small) continue;
    ComparedSchemes::for_each([&](auto scheme) {
      add_rate<typename decltype(scheme)::type>(fmt::format("hashes: m = 128; n = 16; k = {}", k),
                                                "hashes; m = 128;", k, {128, 16, k}, options, report);
    });
  }
}

/// How many of `num_keys` random keys have j distinct positions, j = 0 .. k.
template <HashScheme Scheme>
std::vector<std::uint64_t> distinct_positions(std::uint64_t m, std::uint32_t k, const Options& options,
                                              std::uint64_t num_keys) {
  constexpr std::uint64_t num_parts = 100;
  const auto parts = run_trials(options, fmt::format("m = {}; distinct positions of {}", m, Scheme::name),
                                num_parts, [&](std::uint64_t seed) {
                                  test::Random random(seed);
                                  const Scheme scheme(PositionSpace{m, k, BitArray::positions_per_line});
                                  std::vector<std::uint64_t> counts(k + 1);
                                  std::vector<std::uint64_t> positions;
                                  for (std::uint64_t i = 0; i < num_keys / num_parts; ++i) {
                                    positions.clear();
                                    scheme.all_positions(random.digest(), [&](std::uint64_t position) {
                                      positions.push_back(position);
                                      return true;
                                    });
                                    std::sort(positions.begin(), positions.end());
                                    ++counts[static_cast<std::size_t>(
                                        std::unique(positions.begin(), positions.end()) - positions.begin())];
                                  }
                                  return counts;
                                });
  std::vector<std::uint64_t> all(k + 1);
  for (const auto& counts : parts) {
    for (std::uint32_t j = 0; j <= k; ++j) all[j] += counts[j];
  }
  return all;
}

template <HashScheme Scheme>
void add_collapses(std::uint64_t m, const Options& options, Report& report) {
  if (Scheme::layout == PositionLayout::parts) return;  // never two positions alike
  constexpr std::uint32_t k = 11;
  constexpr std::uint32_t few = 5;
  const std::uint64_t num_keys = options.small ? 20'000 : 1'000'000;
  const std::vector<std::uint64_t> counts = distinct_positions<Scheme>(m, k, options, num_keys);
  const auto double_hashing = double_hashing_of(Scheme::file_id);
  const std::vector<double> independent = theory::independent_distinct_positions(m, k);
  const std::vector<double> shares =
      double_hashing ? theory::double_hashing_distinct_positions(*double_hashing, m, k) : independent;
  const std::string setting = fmt::format("steps; m = {}; k = {}", m, k);
  const auto add = [&](std::uint32_t most, const char* what) {
    double predicted = 0;
    std::uint64_t seen = 0;
    for (std::uint32_t j = 0; j <= most; ++j) {
      predicted += shares[j];
      seen += counts[j];
    }
    Share share;
    for (std::uint64_t i = 0; i < num_keys; ++i) share.add(i < seen);
    report.add({.setting = setting,
                .quantity = fmt::format("{}: keys with {}", Scheme::name, what),
                .x = static_cast<double>(m),
                .predicted = predicted,
                .measured = share});
  };
  add(k - 1, "fewer than k distinct positions");
  add(few, "at most 5 distinct positions");
  if (double_hashing) return;
  report.add(chi_square_row(
      "no degenerate step; " + setting,
      fmt::format("{}: distinct positions; chi-square against independent draws", Scheme::name),
      chi_square(counts, independent), Claim::below, chance));
}

/// What small filters pay: the measured rate is claimed to be above the law of independent positions.
void add_excess(const Options& options, Report& report) {
  for (const std::uint64_t m : small_sizes) {
    const Point point{m, m / 16, 11};
    ComparedSchemes::for_each([&](auto type) {
      using Scheme = typename decltype(type)::type;
      const bool is_independent =
          Scheme::file_id == CongruentialScheme::file_id || Scheme::file_id == StandardScheme::file_id;
      if (is_independent || Scheme::layout == PositionLayout::parts) return;
      const BloomShape shape{m, point.num_hashes};
      test::MeasuredRate rate(num_queries);
      Options fresh = options;
      ++fresh.seed;
      for (const std::uint64_t num_found :
           false_positives<Scheme>(fresh, fmt::format("excess; m = {}; {}", m, Scheme::name), shape,
                                   point.num_keys, options.trials, num_queries))
        rate.add_filter(num_found);
      report.add(
          {.setting = fmt::format("excess; m = {}; n = {}; k = {}", m, point.num_keys, point.num_hashes),
           .quantity = fmt::format("{}: rate; formula: independent positions", Scheme::name),
           .claim = Claim::above,
           .predicted = theory::false_positive_probability_occupancy(m, point.num_hashes, point.num_keys),
           .measured = measured(rate, options.trials)});
    });
  }
}

void run(const Options& options, Report& report) {
  add_rates(options, report);
  if (!options.small) add_excess(options, report);
  for (const std::uint64_t m : {101u, 120u, 128u, 1024u}) {
    if (options.small && m > 120) continue;
    ComparedSchemes::for_each(
        [&](auto scheme) { add_collapses<typename decltype(scheme)::type>(m, options, report); });
  }
}

}  // namespace
}  // namespace tally::experiments

int main(int argc, char** argv) {
  using namespace tally::experiments;
  return run_experiment(argc, argv,
                        {.about = "Kirsch and Mitzenmacher 2008: the schemes in filters of 100 to 1000 bits",
                         .usual = {.trials = 100000},
                         .small = {.trials = 2000},
                         .run = run});
}
