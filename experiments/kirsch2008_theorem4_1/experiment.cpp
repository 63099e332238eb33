// Kirsch and Mitzenmacher 2008, Theorem 4.1 and what follows from it: the joint law of the keys that set the positions of a
// query, random f (Remark 3), and an error of O(1/n) (Section 6). README.md has the claims.

#include "run_experiment.hpp"

#include <cmath>

#include "any_offsets.hpp"
#include "chi_square.hpp"
#include "collisions.hpp"
#include "false_positives.hpp"
#include "power_fit.hpp"
#include "tally/planner/scheme_law.hpp"
#include "tally/theory/bloom.hpp"
#include "tally/theory/tails.hpp"

namespace tally::experiments {
namespace {

struct Load {
  std::uint64_t bits_per_key;
  std::uint32_t num_hashes;
  std::uint64_t most;  // keys at a position that are counted
};
constexpr Load loads[] = {{4, 3, 3}, {8, 6, 1}};

/// Of a chi-square test to fail by chance, so that all of them hold together with 99.9%.
constexpr double chance = 0.001 / 40;

double limit(double bits_per_key, std::uint32_t k) { return std::pow(-std::expm1(-(k / bits_per_key)), k); }

/// Of 0, 1, .. most - 1 and at least `most` keys, by Poisson's law.
std::vector<double> poisson_shares(double mean, std::uint64_t most) {
  std::vector<double> shares;
  for (std::uint64_t x = 0; x < most; ++x) shares.push_back(std::exp(theory::ln_poisson_point(x, mean)));
  shares.push_back(std::exp(theory::ln_poisson_upper_tail(most, mean)));
  return shares;
}

/// All counts of one query as one number: each from 0 to `most`.
std::uint64_t cell_of(const std::vector<std::uint64_t>& keys_at, std::uint64_t most) {
  std::uint64_t cell = 0;
  for (const std::uint64_t x : keys_at) cell = cell * (most + 1) + std::min(x, most);
  return cell;
}

std::vector<double> joint_shares(const Load& load) {
  const std::vector<double> one = poisson_shares(
      static_cast<double>(load.num_hashes) / static_cast<double>(load.bits_per_key), load.most);
  std::vector<double> joint{1};
  for (std::uint32_t i = 0; i < load.num_hashes; ++i) {
    std::vector<double> longer;
    for (const double share : joint) {
      for (const double next : one) longer.push_back(share * next);
    }
    joint = longer;
  }
  return joint;
}

/// Enhanced double hashing with an f that is drawn for each query and its set.
class RandomOffsets {
 public:
  RandomOffsets(const BloomShape& shape, test::Random& random) : m_(shape.num_bits) {
    for (std::uint32_t i = 0; i < shape.num_hashes; ++i) offsets_.push_back(random.below(m_));
  }
  template <class Visit>
  void all_positions(Hash128 digest, Visit visit) const {
    std::uint64_t position = reduce_to_range(digest.low, m_);
    const std::uint64_t step = reduce_to_range(digest.high, m_);
    for (const std::uint64_t offset : offsets_) {
      visit(position + offset < m_ ? position + offset : position + offset - m_);
      position = position + step < m_ ? position + step : position + step - m_;
    }
  }

 private:
  std::uint64_t m_;
  std::vector<std::uint64_t> offsets_;
};

/// `make_scheme(random)` is asked once for each query and its set.
template <class MakeScheme>
std::vector<Collisions> collisions(const Options& options, const std::string& name, const BloomShape& shape,
                                   std::uint64_t num_keys, MakeScheme make_scheme) {
  constexpr std::uint64_t queries_per_trial = 500;
  std::vector<Collisions> all;
  for (auto& some : run_trials(options, name, options.trials / queries_per_trial, [&](std::uint64_t seed) {
         test::Random random(seed);
         CollisionCounter counter(shape.num_bits, shape.num_hashes);
         std::vector<Collisions> drawn;
         for (std::uint64_t i = 0; i < queries_per_trial; ++i) {
           const auto scheme = make_scheme(random);
           drawn.push_back(counter.draw(
               random, num_keys, [&](Hash128 digest, auto visit) { scheme.all_positions(digest, visit); }));
         }
         return drawn;
       }))
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

std::string setting_of(const Load& load, std::uint64_t n) {
  return fmt::format("c = {}; k = {}; n = {}", load.bits_per_key, load.num_hashes, n);
}

void add_joint_law(const std::string& name, const Load& load, std::uint64_t n,
                   const std::vector<Collisions>& all, Claim claim, Report& report) {
  const std::vector<double> shares = joint_shares(load);
  std::vector<std::uint64_t> seen(shares.size());
  for (const Collisions& each : all) ++seen[cell_of(each.keys_at, load.most)];
  report.add(chi_square_row(
      setting_of(load, n), name + ": keys at the k positions; chi-square against independent Poisson numbers",
      chi_square(seen, shares), claim, chance));
}

void add_collisions(const std::string& name, const Load& load, std::uint64_t n,
                    const std::vector<Collisions>& all, std::optional<double> two_or_more, Report& report) {
  const double lambda = load.num_hashes * load.num_hashes / static_cast<double>(load.bits_per_key);
  std::vector<std::uint64_t> seen(24);
  Share more;
  for (const Collisions& each : all) {
    ++seen[std::min<std::uint64_t>(each.keys_with_one, seen.size() - 1)];
    more.add(each.keys_with_more > 0);
  }
  report.add(chi_square_row(setting_of(load, n),
                            name + ": keys with one collision; chi-square against Poisson(lambda)",
                            chi_square(seen, poisson_shares(lambda, seen.size() - 1)), Claim::below, chance));
  report.add({.setting = setting_of(load, n),
              .quantity = name + ": queries with a key of two or more collisions",
              .predicted = two_or_more,
              .measured = more});
}

/// Where Theorem 4.1 is claimed to be visible, and, in a small filter, not yet.
void add_laws(const Options& options, const Load& load, Report& report) {
  const std::uint64_t n = 1000;
  ComparedSchemes::for_each([&](auto type) {
    using Scheme = typename decltype(type)::type;
    const std::string name(Scheme::name);
    const bool is_partition = Scheme::file_id == PartitionDoubleScheme::file_id;
    const auto draw = [&](std::uint64_t num_keys) {
      const BloomShape shape = shape_below<Scheme>(load.bits_per_key * num_keys, load.num_hashes);
      return std::pair{
          shape,
          collisions(
              options, fmt::format("{}; {}", setting_of(load, num_keys), name), shape, num_keys,
              [&](test::Random&) {
                return Scheme(PositionSpace{shape.num_bits, shape.num_hashes, BitArray::positions_per_line});
              })};
    };
    // Of a query to have such a key: in the partition scheme, one that has both of its hash values.
    const auto two_or_more = [&](const BloomShape& shape, std::uint64_t num_keys) -> std::optional<double> {
      if (Scheme::layout != PositionLayout::parts) return std::nullopt;
      const double place = load.num_hashes / static_cast<double>(shape.num_bits);
      const double a_key =
          is_partition ? place * place : std::exp(theory::ln_binomial_upper_tail(2, load.num_hashes, place));
      return -std::expm1(static_cast<double>(num_keys) * std::log1p(-a_key));
    };
    const auto [shape, all] = draw(n);
    add_joint_law(name, load, n, all, Claim::below, report);
    add_collisions(name, load, n, all, two_or_more(shape, n), report);
    if (!is_partition || options.small) return;
    const auto few = draw(100).second;
    add_joint_law(name, load, 100, few, Claim::above, report);
  });
  const BloomShape shape{load.bits_per_key * n, load.num_hashes};
  const auto all = collisions(options, setting_of(load, n) + "; random f", shape, n,
                              [&](test::Random& random) { return RandomOffsets(shape, random); });
  add_joint_law("random f", load, n, all, Claim::below, report);
  add_collisions("random f", load, n, all, std::nullopt, report);
}

constexpr double fit_bits_per_key = 8;
constexpr std::uint32_t fit_num_hashes = 6;

/// n from `least` on, each sqrt(2) times the one before.
std::vector<std::uint64_t> sizes(double least, double most) {
  std::vector<std::uint64_t> all;
  for (double n = least; n < most * 1.01; n *= std::sqrt(2))
    all.push_back(static_cast<std::uint64_t>(n / 2) * 2);
  return all;
}

/// Rows of a scheme whose error at ns[i] is errors[i].
void add_fit(const std::string& name, const std::vector<std::uint64_t>& ns, const std::vector<double>& errors,
             bool is_curved, Report& report) {
  std::vector<double> x, y;
  for (std::size_t i = 0; i < ns.size(); ++i) {
    x.push_back(static_cast<double>(ns[i]));
    y.push_back(errors[i]);
    report.add({.setting = "curve error", .quantity = name, .x = x.back(), .predicted = errors[i]});
  }
  const std::string setting = fmt::format("O(1/n): {}; n = {} to {}", name, ns.front(), ns.back());
  report.add(
      {.setting = setting,
       .quantity = is_curved ? "power s of Pr(F) - p = C n^-s (1 + b/n)" : "power s of Pr(F) - p = C n^-s",
       .predicted = 1,
       .measured = fitted_power(x, y, is_curved)});
  report.add(
      {.setting = setting, .quantity = "n (Pr(F) - p) at the greatest n", .predicted = x.back() * y.back()});
}

/// Steps of a small order modulo m would make the error of double hashing rise and fall with the divisors of m.
std::uint64_t greatest_prime_below(std::uint64_t m) {
  const auto is_prime = [](std::uint64_t x) {
    for (std::uint64_t factor = 2; factor * factor <= x; ++factor) {
      if (x % factor == 0) return false;
    }
    return true;
  };
  while (!is_prime(m)) --m;
  return m;
}

template <class Scheme>
void add_exact_fit(double most_keys, Report& report) {
  const std::vector<std::uint64_t> ns = sizes(64, most_keys);
  std::vector<double> errors;
  for (const std::uint64_t n : ns) {
    const BloomShape shape = shape_below<Scheme>(
        Scheme::layout == PositionLayout::parts ? 8 * n : greatest_prime_below(8 * n), fit_num_hashes);
    const SchemeLaw law = false_positive_law(Scheme::file_id, shape.num_bits, fit_num_hashes, n, 0x1p36);
    const double rate = Scheme::file_id == StandardScheme::file_id
                            ? theory::false_positive_probability_occupancy(shape.num_bits, fit_num_hashes, n)
                            : std::exp(law.ln_false_positive_rate);
    errors.push_back(rate -
                     limit(static_cast<double>(shape.num_bits) / static_cast<double>(n), fit_num_hashes));
  }
  add_fit(std::string(Scheme::name), ns, errors, ns.back() > 1000, report);
}

/// Remark 3: the exact Pr(F | f) of some random f.
void add_random_offsets(const Options& options, Report& report) {
  const double p = limit(fit_bits_per_key, fit_num_hashes);
  const std::vector<std::uint64_t> ns = sizes(16, options.small ? 32 : 128);
  std::vector<double> errors;
  for (const std::uint64_t n : ns) {
    Mean excess;
    for (const double each : run_trials(options, fmt::format("random f; n = {}", n), options.small ? 4 : 40,
                                        [&](std::uint64_t seed) {
                                          test::Random random(seed);
                                          std::vector<std::uint64_t> f(fit_num_hashes);
                                          for (std::uint64_t& offset : f) offset = random.below(8 * n);
                                          return any_offsets_false_positive_probability(f, 8 * n, n) - p;
                                        }))
      excess.add(static_cast<double>(n) * each);
    errors.push_back(excess.mean() / static_cast<double>(n));
    if (options.small || (n != 16 && n != ns.back())) continue;
    const std::string setting = fmt::format("Remark 3: c = 8; k = 6; n = {}", n);
    report.add(
        {.setting = setting, .quantity = "n (Pr(F given f) - p); mean over random f", .measured = excess});
    report.add({.setting = setting,
                .quantity = "the least of all f drawn",
                .measured = without_limits(excess.least(), 40)});
    report.add(
        {.setting = setting, .quantity = "the greatest", .measured = without_limits(excess.greatest(), 40)});
    std::vector<std::uint64_t> zero(fit_num_hashes), squares;
    for (std::uint64_t i = 0; i < fit_num_hashes; ++i) squares.push_back(i * i);
    for (const auto& [name, f] :
         {std::pair{"the same at f = 0", zero}, {"the same at f(i) = i^2", squares}}) {
      report.add(
          {.setting = setting,
           .quantity = name,
           .predicted = static_cast<double>(n) * (any_offsets_false_positive_probability(f, 8 * n, n) - p)});
    }
  }
  if (!options.small) add_fit("random f", ns, errors, false, report);
}

void run(const Options& options, Report& report) {
  for (const Load& load : loads) add_laws(options, load, report);
  add_random_offsets(options, report);
  add_exact_fit<StandardScheme>(4096, report);
  add_exact_fit<PartitionedScheme>(4096, report);
  add_exact_fit<PartitionDoubleScheme>(4096, report);
  add_exact_fit<DoubleScheme>(options.small ? 512 : 4096, report);
  if (options.small) return;
  add_exact_fit<EnhancedDoubleQuadraticScheme>(512, report);
  add_exact_fit<EnhancedDoubleCubicScheme>(512, report);
}

}  // namespace
}  // namespace tally::experiments

int main(int argc, char** argv) {
  using namespace tally::experiments;
  return run_experiment(argc, argv,
                        {.about = "Kirsch and Mitzenmacher 2008, Theorem 4.1: the joint law of collisions",
                         .usual = {.trials = 100'000},
                         .small = {.trials = 2000},
                         .run = run});
}
