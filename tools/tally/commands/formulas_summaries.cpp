#include <stdexcept>
#include <string>

#include "commands/formulas.hpp"
#include "tally/theory/longest_prefix.hpp"
#include "tally/theory/summary_cache.hpp"

namespace tally::cli {
namespace {

double real_or(const Arguments& arguments, std::string_view name, double otherwise) {
  return arguments.has(name) ? arguments.real(name) : otherwise;
}

std::uint64_t at_most(const Arguments& arguments, const std::string& name, std::uint64_t greatest) {
  const std::uint64_t value = arguments.count(name);
  if (value <= greatest) return value;
  throw std::invalid_argument("--" + name + " is " + std::to_string(value) + "; must be at most " +
                              std::to_string(greatest));
}

double flipped_share_asked_for(const Arguments& arguments) {
  const auto formula =
      arguments.has("approximate") ? theory::flipped_share_approximate : theory::flipped_share;
  return formula(arguments.count("m"), arguments.small_count("k"), arguments.count("n"),
                 arguments.count("removed"), arguments.count("added"));
}

FormulaResult flipped_share(const Arguments& arguments) {
  const double q = flipped_share_asked_for(arguments);
  return {q,
          std::nullopt,
          {{"flipped_bits", q * static_cast<double>(arguments.count("m"))},
           {"entropy_bits_per_position", theory::binary_entropy(q)}}};
}

FormulaResult delta_bits(const Arguments& arguments) {
  const std::uint64_t m = arguments.count("m");
  const double q = flipped_share_asked_for(arguments);
  const double rice = theory::rice_delta_bits(m, q);
  FormulaResult result{rice};
  result.fields = {{"flipped_share", q}, {"least_delta_bits", theory::least_delta_bits(m, q)}};
  if (q > 0) {
    result.fields.emplace_back("all_bits_over_delta", static_cast<double>(m) / rice);
    result.fields.emplace_back("rice_parameter", theory::best_rice_parameter(q));
  }
  const auto changes =
      static_cast<double>(arguments.count("removed")) + static_cast<double>(arguments.count("added"));
  if (changes > 0) result.fields.emplace_back("bytes_per_change", rice / 8 / changes);
  return result;
}

FormulaResult dleft_delta_bits(const Arguments& arguments) {
  const std::uint64_t n = arguments.count("n");
  const std::uint64_t removed = arguments.count("removed");
  const std::uint64_t added = arguments.count("added");
  const std::uint32_t remainder_bits = arguments.small_count("remainder-bits");
  const std::uint64_t cells = at_most(arguments, "buckets", std::uint64_t{1} << 40) *
                              at_most(arguments, "d", 8) * at_most(arguments, "cells", 64);
  const double changed = theory::dleft_changed_cells(cells, n, removed, added);
  return {theory::dleft_delta_bits(cells, changed, remainder_bits + 2),
          std::nullopt,
          {{"changed_cells", changed},
           {"least_delta_bits", theory::dleft_least_delta_bits(cells, n, removed, added, remainder_bits)}}};
}

FormulaResult stale_miss_share(const Arguments& arguments) {
  theory::DirectoryChange change;
  change.num_keys = static_cast<double>(arguments.count("n"));
  change.insertion_rate = arguments.real("insertion-rate");
  change.removal_rate = real_or(arguments, "removal-rate", change.insertion_rate);
  change.evictions = !arguments.has("any-time");
  change.new_key_popularity = real_or(arguments, "popularity", 1);
  change.removed_key_popularity = real_or(arguments, "removed-popularity", 1);
  theory::SendLimits limits;
  limits.new_share = real_or(arguments, "new-share", theory::never);
  limits.interval = real_or(arguments, "interval", theory::never);
  limits.max_bytes = real_or(arguments, "max-bytes", theory::never);
  limits.header_bytes = real_or(arguments, "header-bytes", 0);
  limits.bytes_per_change = real_or(arguments, "bytes-per-change", 0);
  limits.delay = real_or(arguments, "delay", 0);
  const theory::Staleness staleness = theory::summary_staleness(change, limits);
  return {staleness.stale_miss_share,
          std::nullopt,
          {{"stale_hit_share", staleness.stale_hit_share},
           {"unknown_keys", staleness.unknown_keys},
           {"stale_keys", staleness.stale_keys},
           {"seconds_between_messages", staleness.interval},
           {"bytes_per_second", staleness.bytes_rate}}};
}

FormulaResult overstated_prefix(const Arguments& arguments) {
  const double f = arguments.real("rate");
  const std::uint64_t blocks = arguments.count("blocks");
  const std::uint64_t peers = arguments.has("peers") ? arguments.count("peers") : 1;
  return {theory::overstated_prefix_probability(f, blocks, peers),
          theory::ln_overstated_prefix_probability(f, blocks, peers),
          {{"mean_overstated_blocks", theory::mean_overstated_blocks(f, blocks)}}};
}

}  // namespace

std::vector<Formula> summary_formulas() {
  return {
      {"flipped-share", "--m --k --n --removed --added [--approximate]",
       "share of a Bloom filter's bits that change when some of its n keys are removed and others added",
       "ours; the filter of Fan et al. 2000 (Summary Cache)", flipped_share},
      {"delta-bits", "--m --k --n --removed --added [--approximate]",
       "bits of the changed positions in the best Rice code; least_delta_bits: their entropy",
       "ours; Golomb 1966, Rice 1979", delta_bits},
      {"dleft-delta-bits", "--d --buckets --cells --remainder-bits --n --removed --added",
       "the same for a d-left table with 2-bit counters: indices and contents of the changed cells", "ours",
       dleft_delta_bits},
      {"stale-miss-share",
       "--n --insertion-rate [--removal-rate] [--any-time] [--new-share] [--interval] [--max-bytes] "
       "[--header-bytes] [--bytes-per-change] [--delay] [--popularity] [--removed-popularity]",
       "share of the requests that are for keys which a directory has but its replica does not have yet; a "
       "message is sent at the first of the limits",
       "ours; the policy is that of Fan et al. 2000", stale_miss_share},
      {"overstated-prefix", "--rate --blocks [--peers]",
       "the probability that the copy of at least one peer makes its prefix too long by this number of "
       "blocks; "
       "mean_overstated_blocks: of one peer, if that number of blocks follow",
       "ours", overstated_prefix},
  };
}

}  // namespace tally::cli
