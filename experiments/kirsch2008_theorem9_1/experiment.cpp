// Kirsch and Mitzenmacher 2008, Theorem 9.1: Count-Min from two hashes, with the classic sketch and the library's own
// rows beside it. README.md has the claims.

#include "run_experiment.hpp"

#include <algorithm>
#include <cmath>

#include "random.hpp"
#include "tally/sketches/count_min.hpp"
#include "tally/theory/count_min.hpp"
#include "tally/theory/partition_double.hpp"

namespace tally::experiments {
namespace {

constexpr std::uint64_t width = 101;  // a prime
constexpr std::uint64_t stream_keys = 2000;
constexpr std::uint64_t stream_length = 50000;
/// 2 e / width: what the theorem's width is for.
const double epsilon = 2 * std::exp(1.0) / width;
/// The number of equal keys for which each is just above a share of epsilon: nearly the worst case of Markov's inequality.
const auto num_heavy = static_cast<std::uint64_t>(1 / epsilon);

struct Rows {
  std::uint32_t depth;
  std::uint32_t num_copies;
};
constexpr Rows all_rows[] = {{2, 1}, {4, 1}, {3, 2}};

/// As many counters in each scheme: copies are only more rows where rows are independent.
template <RowScheme Scheme>
CountMinShape shape_of(Rows rows, CounterUpdate update = CounterUpdate::plain) {
  const bool is_two_hash = Scheme::law == RowLaw::two_hash;
  return {.width = width,
          .depth = is_two_hash ? rows.depth : rows.depth * rows.num_copies,
          .num_copies = is_two_hash ? rows.num_copies : 1,
          .counter_bits = 32,
          .update = update};
}

double bound_of(RowLaw law, Rows rows) {
  return law == RowLaw::two_hash
             ? theory::count_min_two_hash_failure_probability(width, rows.depth, epsilon, rows.num_copies)
             : theory::count_min_failure_probability(width, rows.depth * rows.num_copies, epsilon);
}

/// Pr(a key never added meets a key in every row), of num_heavy keys.
double exact_for_heavy_keys(RowLaw law, Rows rows) {
  if (law == RowLaw::two_hash)
    return std::pow(theory::partition_double_false_positive_probability(width, rows.depth, num_heavy),
                    rows.num_copies);
  const double one_row = -std::expm1(static_cast<double>(num_heavy) * std::log1p(-1.0 / width));
  return std::pow(one_row, rows.depth * rows.num_copies);
}

template <RowScheme Scheme>
std::string setting_of(const std::string& stream, Rows rows) {
  const std::string copies = rows.num_copies > 1 && Scheme::law == RowLaw::two_hash
                                 ? fmt::format("{} x {}", rows.depth, rows.num_copies)
                                 : std::to_string(rows.depth * rows.num_copies);
  return fmt::format("{}; {} rows", stream, copies);
}

/// Counts of the keys 0, 1, ..: they fall as rank^-exponent; 0 is uniform.
std::vector<std::uint64_t> counts_of(double exponent) {
  std::vector<double> weights(stream_keys);
  double sum = 0;
  for (std::uint64_t i = 0; i < stream_keys; ++i)
    sum += weights[i] = std::pow(static_cast<double>(i + 1), -exponent);
  std::vector<std::uint64_t> counts;
  for (const double weight : weights)
    counts.push_back(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(weight / sum * stream_length)));
  return counts;
}

enum class Order { heavy_first, heavy_last, interleaved };

std::string name_of(Order order) {
  switch (order) {
    case Order::heavy_first:
      return "heavy keys first";
    case Order::heavy_last:
      return "heavy keys last";
    default:
      return "interleaved";
  }
}

std::vector<std::uint64_t> stream_of(const std::vector<std::uint64_t>& counts, Order order) {
  std::vector<std::uint64_t> stream;
  for (std::uint64_t key = 0; key < counts.size(); ++key) stream.insert(stream.end(), counts[key], key);
  if (order == Order::heavy_last) std::reverse(stream.begin(), stream.end());
  if (order == Order::interleaved) {
    test::Random random(1);
    for (std::uint64_t i = stream.size(); i > 1; --i) std::swap(stream[i - 1], stream[random.below(i)]);
  }
  return stream;
}

constexpr Order all_orders[] = {Order::heavy_first, Order::heavy_last, Order::interleaved};

/// Of one plain sketch, and of one with conservative update for each order.
struct Result {
  std::uint64_t num_failed = 0;
  double excess = 0;  // mean of estimate - truth, as a share of N
  struct Conservative {
    std::uint64_t num_failed = 0;
    std::uint64_t num_above_plain = 0;
    double excess = 0;
  } conservative[3];
};

/// Estimates under conservative update, of all sketches.
struct Totals {
  std::uint64_t num_asked = 0;
  std::uint64_t num_above = 0;  // that of plain update
};

/// Every key of the stream is asked for, and as many that are not in it.
template <RowScheme Scheme>
Result trial(Rows rows, const std::vector<std::uint64_t>& counts,
             const std::vector<std::vector<std::uint64_t>>& streams, std::uint64_t seed) {
  const std::uint64_t num_queries = 2 * counts.size();
  std::vector<std::uint64_t> keys(num_queries);
  for (std::uint64_t i = 0; i < num_queries; ++i) keys[i] = i;
  CountMinSketch<Scheme> plain(shape_of<Scheme>(rows), seed);
  plain.add_batch(streams[0]);
  const auto total = static_cast<double>(plain.total_count());
  std::vector<Count> plain_counts(num_queries);
  plain.count_batch(keys, plain_counts);
  const auto excess_of = [&](std::uint64_t key, Count count) {
    const std::uint64_t truth = key < counts.size() ? counts[key] : 0;
    if (count.value < truth) throw std::runtime_error("an estimate is below the truth");
    return static_cast<double>(count.value - truth) / total;
  };
  Result result;
  for (const std::uint64_t key : keys) {
    const double excess = excess_of(key, plain_counts[key]);
    result.num_failed += excess > epsilon;
    result.excess += excess / static_cast<double>(num_queries);
  }
  for (const Order order : all_orders) {
    auto& mine = result.conservative[static_cast<int>(order)];
    CountMinSketch<Scheme> sketch(shape_of<Scheme>(rows, CounterUpdate::conservative), seed);
    sketch.add_batch(streams[static_cast<std::size_t>(order)]);
    std::vector<Count> found(num_queries);
    sketch.count_batch(keys, found);
    for (const std::uint64_t key : keys) {
      const double excess = excess_of(key, found[key]);
      mine.num_failed += excess > epsilon;
      mine.num_above_plain += found[key].value > plain_counts[key].value;
      mine.excess += excess / static_cast<double>(num_queries);
    }
  }
  return result;
}

template <RowScheme Scheme>
void add_stream(const std::string& stream, double exponent, Rows rows, const Options& options, Report& report,
                Totals& totals) {
  const std::vector<std::uint64_t> counts = counts_of(exponent);
  std::vector<std::vector<std::uint64_t>> streams;
  for (const Order order : all_orders) streams.push_back(stream_of(counts, order));
  const std::string setting = setting_of<Scheme>(stream, rows);
  const std::string name(Scheme::name);
  const auto results = run_trials(options, setting + "; " + name, options.trials, [&](std::uint64_t seed) {
    return trial<Scheme>(rows, counts, streams, seed);
  });
  const std::uint64_t num_queries = 2 * stream_keys;
  test::MeasuredRate failed(num_queries);
  test::MeasuredRate above(std::size(all_orders) * num_queries);
  Mean excess;
  for (const Result& result : results) {
    failed.add_filter(result.num_failed);
    excess.add(result.excess);
    std::uint64_t num_above = 0;
    for (const auto& each : result.conservative) num_above += each.num_above_plain;
    above.add_filter(num_above);
    totals.num_above += num_above;
    totals.num_asked += std::size(all_orders) * num_queries;
  }
  const double bound = bound_of(Scheme::law, rows);
  report.add({.setting = setting,
              .quantity = fmt::format("{}: Pr(estimate > truth + eps N)", name),
              .x = exponent,
              .claim = Claim::below,
              .predicted = bound,
              .measured = measured(failed, options.trials)});
  report.add({.setting = "curve never; " + setting,
              .quantity = fmt::format("{}: share of the keys with an estimate above plain update's", name),
              .x = exponent,
              .predicted = 0,
              .measured = measured(above, options.trials)});
  report.add({.setting = "curve excess; " + setting,
              .quantity = fmt::format("{}; plain", name),
              .x = exponent,
              .measured = excess});
  for (const Order order : all_orders) {
    test::MeasuredRate failures(num_queries);
    Mean mine;
    for (const Result& result : results) {
      failures.add_filter(result.conservative[static_cast<int>(order)].num_failed);
      mine.add(result.conservative[static_cast<int>(order)].excess);
    }
    report.add({.setting = fmt::format("curve conservative; {}; {}", name_of(order), setting),
                .quantity = fmt::format("{}: Pr(estimate > truth + eps N)", name),
                .x = exponent,
                .claim = Claim::below,
                .predicted = bound,
                .measured = measured(failures, options.trials)});
    report.add({.setting = "curve excess; " + setting,
                .quantity = fmt::format("{}; conservative; {}", name, name_of(order)),
                .x = exponent,
                .claim = Claim::below,
                .predicted = excess.mean(),
                .measured = mine});
  }
}

/// num_heavy keys of equal weight; then keys never added are asked for.
template <RowScheme Scheme>
void add_heavy_keys(Rows rows, const Options& options, Report& report) {
  constexpr std::uint64_t num_queries = 500;
  const std::string setting = setting_of<Scheme>(fmt::format("{} equal keys", num_heavy), rows);
  const auto failures = run_trials(
      options, setting + "; " + std::string(Scheme::name), 20 * options.trials, [&](std::uint64_t seed) {
        test::Random random(seed);
        CountMinSketch<Scheme> sketch(shape_of<Scheme>(rows), random.next());
        for (std::uint64_t key = 0; key < num_heavy; ++key) sketch.add(random.digest(), 1000);
        const auto least = static_cast<std::uint64_t>(epsilon * static_cast<double>(sketch.total_count()));
        std::uint64_t num_failed = 0;
        for (std::uint64_t i = 0; i < num_queries; ++i)
          num_failed += sketch.count(random.digest()).value > least;
        return num_failed;
      });
  test::MeasuredRate rate(num_queries);
  for (const std::uint64_t num_failed : failures) rate.add_filter(num_failed);
  const Measured result = measured(rate, failures.size());
  const std::string name(Scheme::name);
  report.add({.setting = setting,
              .quantity = name + ": Pr(estimate > truth + eps N)",
              .claim = Claim::below,
              .predicted = bound_of(Scheme::law, rows),
              .measured = result});
  report.add({.setting = "exact law; " + setting,
              .quantity = name + ": Pr(estimate > truth + eps N)",
              .predicted = exact_for_heavy_keys(Scheme::law, rows),
              .measured = result});
}

template <RowScheme Scheme>
void add_scheme(const Options& options, Report& report, Totals& totals) {
  for (const Rows rows : all_rows) {
    add_heavy_keys<Scheme>(rows, options, report);
    if (options.small && rows.depth != 4) continue;
    for (const double exponent : {0.0, 0.8, 1.0, 1.2, 1.5}) {
      if (options.small && exponent != 0.8 && exponent != 1.5) continue;
      const std::string stream = exponent == 0 ? "uniform" : fmt::format("Zipf {:.1f}", exponent);
      add_stream<Scheme>(stream, exponent, rows, options, report, totals);
    }
  }
}

void run(const Options& options, Report& report) {
  report.add({.setting = "parameters",
              .quantity = "w of Theorem 9.1 for the eps used here; ours is the next prime",
              .predicted = static_cast<double>(theory::count_min_two_hash_width(epsilon))});
  report.add({.setting = "parameters",
              .quantity = "its depth for a failure probability of eps",
              .predicted = static_cast<double>(theory::count_min_two_hash_depth(epsilon))});
  Totals totals;
  add_scheme<TwoHashRows>(options, report, totals);
  add_scheme<PairwiseRows>(options, report, totals);
  add_scheme<IndependentRows>(options, report, totals);
  add_scheme<CongruentialRows>(options, report, totals);
  report.add({.setting = "conservative update; all streams and orders",
              .quantity = "estimates above those of plain update",
              .predicted = 0,
              .measured = without_limits(static_cast<double>(totals.num_above), totals.num_asked)});
}

}  // namespace
}  // namespace tally::experiments

int main(int argc, char** argv) {
  using namespace tally::experiments;
  return run_experiment(
      argc, argv,
      {.about = "Kirsch and Mitzenmacher 2008, Theorem 9.1: Count-Min sketches from two hashes",
       .usual = {.trials = 200},
       .small = {.trials = 10},
       .run = run});
}
