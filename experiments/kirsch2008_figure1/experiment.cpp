// Kirsch and Mitzenmacher 2008, Figure 1: false positive probability against n, for c = 4, 8, 12 and 16 bits per key and
// every scheme. README.md has the claims.

#include "run_experiment.hpp"

#include <cmath>
#include <optional>

#include "false_positives.hpp"
#include "tally/planner/scheme_law.hpp"
#include "tally/theory/bloom.hpp"
#include "tally/theory/partition_double.hpp"

namespace tally::experiments {
namespace {

struct Panel {
  std::uint64_t bits_per_key;
  std::uint32_t num_hashes;
  const char* limit_in_the_paper;
};

constexpr Panel panels[] = {{4, 3, ""}, {8, 6, "0.021577"}, {12, 8, ""}, {16, 11, ""}};

/// p of the paper.
double limit_of(const Panel& panel) {
  const double k = panel.num_hashes;
  return std::pow(-std::expm1(-k / static_cast<double>(panel.bits_per_key)), k);
}

/// Of counting the pairs of hash values: seconds, or what sanitizers can do.
double most_steps(const Options& options) { return options.small ? 0x1p22 : 0x1p30; }

std::string setting_of(const Panel& panel, std::uint64_t num_keys) {
  return fmt::format("c = {}; k = {}; n = {}", panel.bits_per_key, panel.num_hashes, num_keys);
}

template <HashScheme Scheme>
void add_scheme(const Panel& panel, std::uint64_t num_keys, const Options& options, Report& report) {
  const BloomShape shape = shape_below<Scheme>(panel.bits_per_key * num_keys, panel.num_hashes);
  const auto num_queries = static_cast<std::uint64_t>(std::ceil(10 / limit_of(panel)));
  const std::string name = fmt::format("{}; {}", setting_of(panel, num_keys), Scheme::name);
  test::MeasuredRate rate(num_queries);
  for (const std::uint64_t num_found :
       false_positives<Scheme>(options, name, shape, num_keys, options.trials, num_queries))
    rate.add_filter(num_found);
  Row row{.setting = setting_of(panel, num_keys),
          .quantity = std::string(Scheme::name),
          .x = static_cast<double>(num_keys),
          .measured = measured(rate, options.trials)};
  const SchemeLaw law =
      false_positive_law(Scheme::file_id, shape.num_bits, shape.num_hashes, num_keys, most_steps(options));
  if (law.kind == LawKind::exact) row.predicted = std::exp(law.ln_false_positive_rate);
  report.add(row);

  // The paper's claims, for everything that is distinguishable.
  const double standard =
      theory::false_positive_probability_occupancy(panel.bits_per_key * num_keys, panel.num_hashes, num_keys);
  const BloomShape parts =
      shape_below<PartitionDoubleScheme>(panel.bits_per_key * num_keys, panel.num_hashes);
  const double partition = theory::partition_double_false_positive_probability(
      parts.num_bits / parts.num_hashes, parts.num_hashes, num_keys);
  const bool is_partition = Scheme::file_id == PartitionDoubleScheme::file_id;
  row.setting = fmt::format("worst scheme; {}", setting_of(panel, num_keys));
  row.quantity = is_partition ? "partition-double: above the standard law"
                              : fmt::format("{}: below the law of partition-double", Scheme::name);
  row.claim = is_partition ? Claim::above : Claim::below;
  row.predicted = is_partition ? standard : partition;
  if (panel.bits_per_key >= 12 && num_keys <= 1000) report.add(row);
}

void add_curves(const Panel& panel, double most_steps, Report& report) {
  report.add({.setting = fmt::format("c = {}; k = {}; limit", panel.bits_per_key, panel.num_hashes),
              .quantity = "p = (1 - exp(-k/c))^k",
              .published = panel.limit_in_the_paper,
              .predicted = limit_of(panel)});
  for (double x = 2; x <= 4.01; x += 0.1) {
    const auto num_keys = static_cast<std::uint64_t>(std::llround(std::pow(10, x)));
    const auto add = [&](auto scheme, const char* name) {
      using Scheme = typename decltype(scheme)::type;
      const BloomShape shape = shape_below<Scheme>(panel.bits_per_key * num_keys, panel.num_hashes);
      const SchemeLaw law =
          false_positive_law(Scheme::file_id, shape.num_bits, shape.num_hashes, num_keys, most_steps);
      if (law.kind != LawKind::exact) return;
      report.add({.setting = fmt::format("curve c = {};", panel.bits_per_key),
                  .quantity = name,
                  .x = static_cast<double>(num_keys),
                  .predicted = std::exp(law.ln_false_positive_rate)});
    };
    add(std::type_identity<StandardScheme>{}, "law of standard");
    add(std::type_identity<PartitionedScheme>{}, "law of partitioned");
    add(std::type_identity<PartitionDoubleScheme>{}, "law of partition-double");
    add(std::type_identity<DoubleScheme>{}, "law of double");
  }
}

void run(const Options& options, Report& report) {
  for (const Panel& panel : panels) {
    for (const std::uint64_t num_keys : {100u, 300u, 1000u, 3000u, 10000u}) {
      if (options.small && (num_keys > 100 || panel.bits_per_key > 12)) continue;
      ComparedSchemes::for_each([&](auto scheme) {
        add_scheme<typename decltype(scheme)::type>(panel, num_keys, options, report);
      });
    }
    add_curves(panel, most_steps(options), report);
  }
}

}  // namespace
}  // namespace tally::experiments

int main(int argc, char** argv) {
  using namespace tally::experiments;
  return run_experiment(
      argc, argv,
      {.about = "Kirsch and Mitzenmacher 2008, Figure 1: false positive probability against n",
       .usual = {.trials = 10000},
       .small = {.trials = 500},
       .run = run});
}
