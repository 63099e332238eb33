// Kirsch and Mitzenmacher 2008, Figure 2: the number of false positives among 464 queries, in 10,000 filters of n = 5000
// keys at c = 8; and Theorems 7.1 and 7.2 beside it. README.md has the claims.

#include "run_experiment.hpp"

#include <algorithm>
#include <bit>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>

#include "chi_square.hpp"
#include "false_positives.hpp"
#include "random.hpp"
#include "tally/planner/scheme_law.hpp"
#include "tally/theory/rate_concentration.hpp"

namespace tally::experiments {
namespace {

constexpr std::uint64_t num_keys = 5000;
constexpr std::uint64_t bits_per_key = 8;
constexpr std::uint32_t num_hashes = 6;
constexpr std::uint64_t num_queries = 464;
constexpr double lambda = num_hashes * num_hashes / 8.0;
const double p = std::pow(-std::expm1(-(num_hashes / 8.0)), num_hashes);

/// Of a chi-square test to fail by chance, so that all 16 hold together with 99.9%.
constexpr double chance = 0.001 / 16;

double binomial_share(std::uint64_t q) {
  return boost::math::pdf(boost::math::binomial(num_queries, p), static_cast<double>(q));
}

/// The density of the figure, summed over [q - 1/2, q + 1/2), and over all below for q = 0.
double normal_share(std::uint64_t q) {
  const boost::math::normal law(num_queries * p, std::sqrt(num_queries * p * (1 - p)));
  const auto x = static_cast<double>(q);
  return boost::math::cdf(law, x + 0.5) - (q == 0 ? 0 : boost::math::cdf(law, x - 0.5));
}

/// Of the values 0 .. 464, the tails with the ends.
template <class Law>
std::vector<double> shares_of(Law share) {
  std::vector<double> shares;
  double rest = 1;
  for (std::uint64_t q = 0; q < num_queries; ++q) {
    shares.push_back(share(q));
    rest -= shares.back();
  }
  shares.push_back(std::max(rest, 0.0));
  return shares;
}

/// Part 3, with |Pr(F) - p| by the law of the scheme.
template <HashScheme Scheme>
void add_theorem_7_2(const BloomShape& shape, const std::vector<std::uint64_t>& counts, Report& report) {
  const SchemeLaw law = false_positive_law(Scheme::file_id, shape.num_bits, num_hashes, num_keys);
  const double bias = std::fabs(std::exp(law.ln_false_positive_rate) - p);
  for (const double epsilon : {0.02, 0.1, 0.15}) {
    Share far;
    for (const std::uint64_t q : counts)
      far.add(std::fabs(static_cast<double>(q) / num_queries - p) > epsilon);
    report.add(
        {.setting = fmt::format("Theorem 7.2; {}", Scheme::name),
         .quantity = fmt::format("Pr(Q / 464 is farther than {} from p)", epsilon),
         .claim = Claim::below,
         .predicted = theory::measured_rate_deviation_bound(num_keys, lambda, 0, epsilon, bias, num_queries),
         .measured = far});
  }
}

template <HashScheme Scheme>
void add_counts(const Options& options, Report& report) {
  const std::string name(Scheme::name);
  const BloomShape shape = shape_below<Scheme>(bits_per_key * num_keys, num_hashes);
  const auto counts = false_positives<Scheme>(options, name, shape, num_keys, options.trials, num_queries);
  Mean rate, squares;
  for (const std::uint64_t q : counts) {
    const auto x = static_cast<double>(q);
    rate.add(x / num_queries);
    squares.add((x - num_queries * p) * (x - num_queries * p));
  }
  report.add({.setting = name, .quantity = "mean of Q / 464; formula: p", .predicted = p, .measured = rate});
  report.add({.setting = name,
              .quantity = "mean of (Q - 464 p)^2; formula: 464 p (1 - p)",
              .predicted = num_queries * p * (1 - p),
              .measured = squares});
  std::vector<std::uint64_t> seen(num_queries + 1);
  for (const std::uint64_t q : counts) ++seen[q];
  report.add(chi_square_row(name, "chi-square against Binomial(464 p)",
                            chi_square(seen, shares_of(binomial_share)), Claim::below, chance));
  if (!options.small) {
    report.add(chi_square_row(name, "chi-square against the normal density",
                              chi_square(seen, shares_of(normal_share)), Claim::above, chance));
  }
  if (Scheme::file_id == PartitionDoubleScheme::file_id) add_theorem_7_2<Scheme>(shape, counts, report);
  // The histogram of the figure.
  for (std::uint64_t q = 0; q <= 24; ++q) {
    Share share;
    for (const std::uint64_t each : counts) share.add(each == q);
    report.add({.setting = fmt::format("curve {};", name),
                .quantity = "share of the filters",
                .x = static_cast<double>(q),
                .predicted = binomial_share(q),
                .measured = share});
  }
}

/// The rate R of one filter, exactly: the share of all pairs (h1, h2) that a query of the partition scheme may have.
class PartitionRate {
 public:
  explicit PartitionRate(const BitArray& bits) : part_size_(bits.size() / num_hashes) {
    // Each part twice, one after the other, so that a shift by h2 is a read at another place.
    for (std::uint64_t part = 0; part < num_hashes; ++part) {
      std::vector<std::uint64_t> words(part_size_ / 32 + 3);
      for (std::uint64_t at = 0; at < 2 * part_size_; ++at) {
        const bool bit = bits.get(part * part_size_ + at % part_size_);
        words[at / 64] |= std::uint64_t{bit} << (at % 64);
      }
      parts_.push_back(words);
    }
  }

  double rate() const {
    std::uint64_t num_pairs = 0;
    for (std::uint64_t h2 = 0; h2 < part_size_; ++h2) {
      for (std::uint64_t h1 = 0; h1 < part_size_; h1 += 64) {
        std::uint64_t found = ~std::uint64_t{0};
        std::uint64_t shift = 0;
        for (const auto& part : parts_) {
          const std::uint64_t at = h1 + shift;
          const std::uint64_t high = at % 64 == 0 ? 0 : part[at / 64 + 1] << (64 - at % 64);
          found &= part[at / 64] >> (at % 64) | high;
          shift += h2;
          if (shift >= part_size_) shift -= part_size_;
        }
        if (part_size_ - h1 < 64) found &= ~std::uint64_t{0} >> (64 - (part_size_ - h1));
        num_pairs += static_cast<std::uint64_t>(std::popcount(found));
      }
    }
    const auto size = static_cast<double>(part_size_);
    return static_cast<double>(num_pairs) / size / size;
  }

 private:
  std::uint64_t part_size_;
  std::vector<std::vector<std::uint64_t>> parts_;
};

/// The epsilon at which a bound that falls with it is 1%.
template <class Bound>
double distance_at_1_percent(Bound bound) {
  double low = 0, high = 1;
  while (high - low > 1e-12) {
    const double middle = (low + high) / 2;
    (bound(middle) > 0.01 ? low : high) = middle;
  }
  return high;
}

/// Sharper than Theorem 7.1, by the variance of R.
void add_sharper(const std::string& setting, const BloomShape& shape, double mean, bool is_independent,
                 const std::vector<double>& rates, Report& report) {
  Mean squares;
  std::vector<double> deviations;
  for (const double rate : rates) {
    squares.add((rate - mean) * (rate - mean));
    deviations.push_back(std::fabs(rate - mean));
  }
  const double variance = theory::rate_variance_approximate(shape.num_bits, num_hashes, num_keys);
  const double variance_bound = theory::rate_variance_bound(shape.num_bits, num_hashes, mean);
  report.add({.setting = setting,
              .quantity = "variance of R; formula: its limit law",
              .predicted = variance,
              .measured = squares});
  report.add({.setting = setting,
              .quantity = "variance of R; formula: bound by Efron and Stein",
              .claim = Claim::below,
              .predicted = variance_bound,
              .measured = squares});
  const auto add_distance = [&](const char* by, double distance) {
    Share far;
    for (const double each : deviations) far.add(each >= distance);
    report.add({.setting = setting,
                .quantity = fmt::format("Pr(R is farther than {:.4g} from its mean): 1% {}", distance, by),
                .claim = Claim::below,
                .predicted = 0.01,
                .measured = far});
  };
  const auto by_rate = [&](double epsilon) {
    return theory::rate_deviation_bound_by_rate(shape.num_bits, num_hashes, mean, epsilon);
  };
  add_distance("by Theorem 7.1", theory::rate_deviation(num_keys, lambda, 0, 0, 0.01));
  add_distance("by the rate (McDiarmid and Reed)", distance_at_1_percent(by_rate));
  add_distance("by the limit of the variance (Chebyshev)", std::sqrt(variance / 0.01));
  if (is_independent) {
    add_distance("for independent positions (Chernoff)", distance_at_1_percent([&](double epsilon) {
                   return theory::rate_deviation_bound_independent(shape.num_bits, num_hashes, num_keys,
                                                                   epsilon);
                 }));
  }
  Share far;
  const double normal = std::sqrt(variance) * boost::math::quantile(boost::math::normal(), 0.995);
  for (const double each : deviations) far.add(each >= normal);
  report.add(
      {.setting = setting,
       .quantity = fmt::format("Pr(R is farther than {:.4g} from its mean): 1% by the normal law", normal),
       .predicted = 0.01,
       .measured = far});
}

template <HashScheme Scheme>
void add_rates(const Options& options, std::uint64_t num_filters, Report& report) {
  const BloomShape shape = shape_below<Scheme>(bits_per_key * num_keys, num_hashes);
  const auto rates =
      run_trials(options, fmt::format("rates of {}", Scheme::name), num_filters, [&](std::uint64_t seed) {
        test::Random random(seed);
        BloomFilter<Scheme> filter(shape, 0);
        for (std::uint64_t i = 0; i < num_keys; ++i) filter.insert(random.digest());
        if (Scheme::file_id == PartitionDoubleScheme::file_id) return PartitionRate(filter.storage()).rate();
        return std::pow(filter.statistics().fill_ratio(), num_hashes);
      });
  const double mean = std::exp(
      false_positive_law(Scheme::file_id, shape.num_bits, num_hashes, num_keys).ln_false_positive_rate);
  const std::string setting = fmt::format("Theorem 7.1; {}", Scheme::name);
  Mean all, deviations;
  for (const double rate : rates) {
    all.add(rate);
    deviations.add(std::fabs(rate - p));
  }
  report.add({.setting = setting,
              .quantity = "mean of R; formula: the law at n",
              .predicted = mean,
              .measured = all});
  for (const double epsilon : {0.001, 0.1}) {
    Share far;
    for (const double rate : rates) far.add(std::fabs(rate - p) > epsilon);
    report.add({.setting = setting,
                .quantity = fmt::format("Pr(R is farther than {} from p)", epsilon),
                .claim = Claim::below,
                .predicted = theory::rate_deviation_bound(num_keys, lambda, 0, epsilon, std::fabs(mean - p)),
                .measured = far});
  }
  report.add({.setting = setting,
              .quantity = "distance of R from p that 1% of the filters pass; formula: Theorem 7.1",
              .predicted = theory::rate_deviation(num_keys, lambda, 0, std::fabs(mean - p), 0.01),
              .measured = without_limits(deviations.quantile(0.99), num_filters)});
  add_sharper(setting, shape, mean, Scheme::file_id == StandardScheme::file_id, rates, report);
}

void run(const Options& options, Report& report) {
  report.add(
      {.setting = "limit", .quantity = "p = (1 - exp(-k/c))^k", .published = "0.021577", .predicted = p});
  report.add(
      {.setting = "limit", .quantity = "queries: 10/p", .published = "464", .predicted = std::ceil(10 / p)});
  double distance = 0;
  for (std::uint64_t q = 0; q <= 60; ++q) {
    distance += std::fabs(binomial_share(q) - normal_share(q)) / 2;
    if (q > 24) continue;
    for (const bool is_normal : {false, true}) {
      report.add({.setting = is_normal ? "curve law normal" : "curve law binomial",
                  .quantity = "share of the filters",
                  .x = static_cast<double>(q),
                  .predicted = is_normal ? normal_share(q) : binomial_share(q)});
    }
  }
  report.add({.setting = "laws",
              .quantity = "total variation distance of the binomial law and the normal density",
              .predicted = distance});
  ComparedSchemes::for_each(
      [&](auto scheme) { add_counts<typename decltype(scheme)::type>(options, report); });
  add_rates<StandardScheme>(options, options.trials, report);
  add_rates<PartitionDoubleScheme>(options, options.small ? 4 : options.other_trials, report);
}

}  // namespace
}  // namespace tally::experiments

int main(int argc, char** argv) {
  using namespace tally::experiments;
  return run_experiment(
      argc, argv,
      {.about = "Kirsch and Mitzenmacher 2008, Figure 2: the distribution of the number of false positives",
       .usual = {.trials = 10000, .other_trials = 2000},
       .small = {.trials = 200},
       .other_trials = "Filters of the partition scheme whose rate is counted exactly",
       .run = run});
}
