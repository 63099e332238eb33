// How far counts are too high with conservative update, beside the prediction. README.md has the claims.

#include <algorithm>
#include <cmath>

#include "fresh_filters.hpp"
#include "run_experiment.hpp"
#include "tally/sketches/count_min.hpp"
#include "tally/theory/compound_poisson.hpp"
#include "tally/theory/conservative_update.hpp"
#include "weighted_draw.hpp"

namespace tally::experiments {
namespace {

constexpr std::uint64_t num_ranks = 1 << 18;
constexpr std::uint64_t n = 1 << 19;  // insertions
constexpr std::uint64_t num_absent = 1 << 17;
constexpr double exponents[] = {0, 0.6, 0.8, 1.0, 1.2, 1.4};

// The limits that are claimed, as the predicted value over the measured one.
constexpr double least_of_mean = 0.8;
constexpr double most_of_mean = 1.25;
constexpr double least_of_rate = 0.6;
constexpr double most_of_rate = 3;

/// n insertions of ranks by Zipf's law, each independent of the others.
struct Stream {
  std::vector<std::uint32_t> ranks;
  std::vector<std::uint32_t> counts;  // of each rank
  std::uint64_t salt = 0;

  Hash128 digest(std::uint64_t rank) const { return {mix64(salt + rank), mix64(salt ^ (rank << 32))}; }
  Hash128 absent(std::uint64_t i) const { return digest(num_ranks + i); }
};

Stream make_stream(double exponent, std::uint64_t seed) {
  const test::WeightedDraw draw = test::WeightedDraw::by_zipf(num_ranks, exponent);
  test::Random random(seed);
  Stream stream;
  stream.salt = random.next();
  stream.counts.resize(num_ranks);
  for (std::uint64_t i = 0; i < n; ++i) {
    const auto rank = static_cast<std::uint32_t>(draw(random));
    stream.ranks.push_back(rank);
    ++stream.counts[rank];
  }
  return stream;
}

template <class Structure>
Structure filled(const auto& shape, const Stream& stream) {
  Structure result(shape, KeyHasher(0));
  for (const std::uint32_t rank : stream.ranks) {
    if constexpr (requires { result.add(stream.digest(rank)); }) {
      result.add(stream.digest(rank));
    } else {
      result.insert_times(stream.digest(rank), 1);
    }
  }
  return result;
}

/// The mean of `of_digest` over all keys that the stream has `true_count` times.
double mean_over(const Stream& stream, std::uint32_t true_count, auto of_digest) {
  double sum = 0;
  std::uint64_t num_keys = 0;
  const auto add = [&](const Hash128& digest) {
    sum += of_digest(digest);
    ++num_keys;
  };
  if (true_count == 0) {
    for (std::uint64_t i = 0; i < num_absent; ++i) add(stream.absent(i));
  } else {
    for (std::uint64_t rank = 0; rank < num_ranks; ++rank)
      if (stream.counts[rank] == true_count) add(stream.digest(rank));
  }
  return sum / static_cast<double>(std::max<std::uint64_t>(1, num_keys));
}

struct Cell {
  std::string setting;
  double x = 0;
  std::string quantity;
  double predicted = 0;
  double least = 0, most = 0;
};

void add_cell(const Cell& cell, const std::vector<std::pair<double, double>>& of_trials, Report& report) {
  Mean measured;
  Mean plain;
  for (const auto& [conservative, of_plain] : of_trials) {
    measured.add(conservative);
    plain.add(of_plain);
  }
  const auto add = [&](const std::string& quantity, Claim claim, std::optional<double> predicted,
                       Measured value) {
    report.add({.setting = cell.setting,
                .quantity = quantity,
                .x = cell.x,
                .claim = claim,
                .predicted = predicted,
                .measured = std::move(value)});
  };
  add(cell.quantity, Claim::above, cell.predicted / cell.most, measured);
  add(cell.quantity + " from above", Claim::below, cell.predicted / cell.least, measured);
  add("predicted over measured " + cell.quantity, Claim::equal, {},
      without_limits(cell.predicted / measured.mean(), of_trials.size()));
  add("plain over conservative " + cell.quantity, Claim::equal, {},
      without_limits(plain.mean() / measured.mean(), of_trials.size()));
}

struct Sketch {
  std::uint64_t width;
  std::uint32_t depth;
};
constexpr Sketch sketches[] = {{1 << 16, 3}, {1 << 14, 4}, {1 << 12, 4}, {1 << 12, 8}};

void run_sketch(const Options& options, const Sketch& sketch, double exponent,
                const theory::CountHistogram& histogram, Report& report) {
  constexpr std::uint32_t true_counts[] = {0, 1, 3};
  const std::string setting = fmt::format("{} x {} Zipf {}", sketch.depth, sketch.width, exponent);
  using Result = std::vector<std::pair<double, double>>;
  const auto trials = run_trials(options, setting, options.trials, [&](std::uint64_t seed) {
    const Stream stream = make_stream(exponent, seed);
    CountMinShape shape{sketch.width, sketch.depth, 1, 32};
    const auto plain = filled<CountMinSketch<>>(shape, stream);
    shape.update = CounterUpdate::conservative;
    const auto conservative = filled<CountMinSketch<>>(shape, stream);
    Result result;
    for (const std::uint32_t t : true_counts) {
      const auto excess = [&](const auto& counts) {
        return mean_over(stream, t, [&](const Hash128& digest) {
          return static_cast<double>(counts.count(digest).value - t);
        });
      };
      result.emplace_back(excess(conservative), excess(plain));
    }
    return result;
  });
  for (std::size_t i = 0; i < std::size(true_counts); ++i) {
    Result of_trials;
    for (const Result& trial : trials) of_trials.push_back(trial[i]);
    add_cell({setting, exponent, fmt::format("mean excess of keys that occurred {} times", true_counts[i]),
              theory::conservative_mean_excess(histogram, sketch.depth, sketch.width * sketch.depth,
                                               true_counts[i]),
              least_of_mean, most_of_mean},
             of_trials, report);
  }
}

struct Filter {
  std::uint64_t m;
  std::uint32_t k;
  std::uint64_t theta;
};
constexpr Filter filters[] = {{1 << 20, 6, 3}, {1 << 20, 4, 6}, {1 << 18, 4, 12}};

void run_filter(const Options& options, const Filter& filter, double exponent,
                const theory::CountHistogram& histogram, Report& report) {
  const std::uint32_t true_counts[] = {0, 1, static_cast<std::uint32_t>(filter.theta - 1)};
  const std::string setting =
      fmt::format("m {} k {} theta {} Zipf {}", filter.m, filter.k, filter.theta, exponent);
  using Result = std::vector<std::pair<double, double>>;
  const auto trials = run_trials(options, setting, options.trials, [&](std::uint64_t seed) {
    const Stream stream = make_stream(exponent, seed);
    ThresholdShape shape{filter.m, filter.k, filter.theta, CounterUpdate::plain};
    const auto plain = filled<ThresholdFilter<>>(shape, stream);
    shape.update = CounterUpdate::conservative;
    const auto conservative = filled<ThresholdFilter<>>(shape, stream);
    Result result;
    for (const std::uint32_t t : true_counts) {
      const auto share = [&](const auto& counts) {
        return mean_over(stream, t,
                         [&](const Hash128& digest) { return counts.at_least(digest) ? 1.0 : 0.0; });
      };
      result.emplace_back(share(conservative), share(plain));
    }
    return result;
  });
  for (std::size_t i = 0; i < std::size(true_counts); ++i) {
    Result of_trials;
    for (const Result& trial : trials) of_trials.push_back(trial[i]);
    const double predicted = theory::conservative_threshold_false_positive_probability(
        histogram, filter.theta, filter.k, filter.m, true_counts[i]);
    // Of lower rates too few keys are seen.
    if (predicted < 1e-3 || predicted > 0.5) continue;
    add_cell(
        {setting, exponent, fmt::format("false positive rate of keys that occurred {} times", true_counts[i]),
         predicted, least_of_rate, most_of_rate},
        of_trials, report);
  }
}

void run(const Options& options, Report& report) {
  for (const double exponent : exponents) {
    if (options.small && exponent != 0 && exponent != 1.0) continue;
    const theory::CountHistogram histogram = theory::zipf_count_histogram(num_ranks, exponent, n, 10'000);
    for (const Sketch& sketch : sketches) {
      if (options.small && sketch.width != 1 << 14) continue;
      run_sketch(options, sketch, exponent, histogram, report);
    }
    for (const Filter& filter : filters) {
      if (options.small && filter.k != 6) continue;
      run_filter(options, filter, exponent, histogram, report);
    }
  }
}

}  // namespace
}  // namespace tally::experiments

int main(int argc, char** argv) {
  using namespace tally::experiments;
  return run_experiment(argc, argv,
                        {.about = "Conservative update beside its prediction, on uniform and Zipf streams",
                         .usual = {.trials = 10},
                         .small = {.trials = 3},
                         .run = run});
}
