#pragma once

#include <cmath>

#include "churn.hpp"
#include "computed.hpp"
#include "paper_shape.hpp"
#include "tally/hashing/multiplier_buckets.hpp"
#include "tally/theory/dleft_overflow.hpp"
#include "tally/theory/dleft_safe_load.hpp"

namespace tally::experiments {

/// The paper's space for a false positive rate f, in bits per key.
inline double paper_space(double f) { return (4 * std::log2(1 / f) + 20 + 4 * std::log2(3)) / 3; }

/// Four subtables with other buckets than the paper's eight cells at load six, but as safe: the same share of overfull
/// buckets in the steady state, 1.681e-27.
struct SafeBuckets {
  std::uint32_t cells_per_bucket;

  double load() const {
    const double share = theory::dleft_loads(4, 6, theory::steady_state).fraction(9);
    return theory::dleft_safe_load_for_share(4, cells_per_bucket, share, theory::steady_state);
  }
  /// Bits per key are constant() log2(1/f) + addend(): cells of r + 2 bits, of which a share is in use, and f = 4 load 2^-r.
  double constant() const { return cells_per_bucket / load(); }
  double addend() const { return constant() * (std::log2(4 * load()) + 2); }

  /// As many cells as the paper's table, or 14 or 22 bits of remainder in each.
  DLeftShape shape(std::uint32_t remainder_bits) const {
    DLeftShape shape = paper_shape;
    shape.cells_per_bucket = cells_per_bucket;
    shape.buckets_per_subtable = paper_shape.buckets_per_subtable * 8 / cells_per_bucket;
    shape.remainder_bits = shape.least_remainder_bits = remainder_bits;
    shape.moves = DLeftMoves::none;
    return shape;
  }
  std::uint64_t num_keys() const {
    return static_cast<std::uint64_t>(load() * 4 * static_cast<double>(shape(14).buckets_per_subtable));
  }
};

/// Bits per key that halve the rate once: those by which a filter of 22-bit remainders is larger than one of 14, over
/// the ratio of their rates.
inline double bits_per_halving(const SafeBuckets& buckets, double rate_14, double rate_22) {
  const auto cells = static_cast<double>(buckets.shape(14).num_cells());
  return 8 * cells / static_cast<double>(buckets.num_keys()) / std::log2(rate_14 / rate_22);
}

inline void add_built(const SafeBuckets& buckets, const Options& options, Report& report) {
  struct Result {
    double bits_per_halving;
    std::uint64_t num_full;
  };
  const std::uint64_t n = buckets.num_keys();
  const auto trial = [&](std::uint64_t seed) -> Result {
    const auto rate = [&](std::uint32_t remainder_bits, std::uint64_t& num_full) {
      const DLeftShape shape = buckets.shape(remainder_bits);
      DLeftChurn<MultiplierBuckets> process(shape, seed + remainder_bits);
      process.fill(n);
      process.churn(options.steps);
      num_full += process.num_full();
      return static_cast<double>(process.table().num_fingerprints()) /
             shape.fingerprint_space().num_fingerprints();
    };
    std::uint64_t num_full = 0;
    const double rate_14 = rate(14, num_full);
    const double rate_22 = rate(22, num_full);
    return {bits_per_halving(buckets, rate_14, rate_22), num_full};
  };
  const std::string name = fmt::format("built: 4 x {} cells", buckets.cells_per_bucket);
  Mean bits;
  Share overflowed;
  for (const Result& result : run_trials(options, name, options.trials, trial)) {
    bits.add(result.bits_per_halving);
    overflowed.add(result.num_full != 0);
  }
  const auto rate = [&](std::uint32_t remainder_bits) {
    const DLeftShape shape = buckets.shape(remainder_bits);
    return theory::dleft_false_positive_probability(shape.buckets_per_subtable,
                                                    shape.fingerprint_space().num_remainders(), n);
  };
  const auto expected = theory::dleft_expected_overflows(
      4, buckets.shape(14).buckets_per_subtable, buckets.cells_per_bucket, buckets.load(), options.steps);
  report.add({.setting = name,
              .quantity = "bits per key to halve the rate",
              .x = buckets.cells_per_bucket,
              .predicted = bits_per_halving(buckets, rate(14), rate(22)),
              .measured = bits});
  report.add({.setting = name,
              .quantity = "trials with an overflow",
              .x = buckets.cells_per_bucket,
              .predicted = theory::probability_of_any(2 * (expected.filling + expected.churning)),
              .measured = overflowed});
}

/// The constant in front of log2(1/f) on its way from 4/3 to 1.
inline void add_space_constant(const Options& options, Report& report) {
  for (const std::uint32_t c : {4u, 8u, 16u, 32u, 64u, 128u, 255u}) {
    const SafeBuckets buckets{c};
    const auto add = [&](const char* quantity, std::string published, double predicted) {
      report.add({.setting = fmt::format("as safe as the paper's: 4 x {} cells", c),
                  .quantity = quantity,
                  .x = c,
                  .published = c == 8 ? std::move(published) : "",
                  .predicted = predicted});
    };
    add("bits per key to halve the rate", "1.333", buckets.constant());
    add("bits per key beside", "8.780", buckets.addend());
    add("spare cells per bucket", "2", c - buckets.load());
    add("cells that a lookup compares", "32", 4 * c);
  }
  for (const std::uint32_t c : {8u, 16u, 32u, 64u}) add_built(SafeBuckets{c}, options, report);
  const SafeBuckets small{8};
  const SafeBuckets large{64};
  report.add({.setting = "4 x 64 cells beside 4 x 8",
              .quantity = "least -log2 f at which they take fewer bits per key",
              .predicted = (large.addend() - small.addend()) / (small.constant() - large.constant())});
  for (int x = 1; x <= 34; ++x) {
    report.add({.setting = "curve 4 x 64 cells",
                .quantity = "false positive rate",
                .x = large.constant() * x + large.addend(),
                .predicted = std::exp2(-x)});
  }
}

}  // namespace tally::experiments
