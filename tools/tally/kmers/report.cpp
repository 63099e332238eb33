#include "kmers/report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace tally::cli {

KmerFindings look_back(const FilterStatistics& statistics, const KmerPlan& plan, const KmerTotals& totals) {
  KmerFindings after{.totals = totals};
  after.num_distinct = std::min(statistics.estimated_num_keys, static_cast<double>(totals.num_kmers));
  after.false_positive_rate = plan.false_positive_rate(static_cast<std::uint64_t>(after.num_distinct));
  const double surplus = statistics.estimated_num_keys - 3 * statistics.estimated_num_keys_standard_error;
  if (!(surplus <= static_cast<double>(plan.num_distinct))) {
    remark(false,
           fmt::format(
               "warning: planned for {} distinct k-mers, but there are about {}; no k-mer is missed, but "
               "one that occurs fewer than {} times is selected with a probability of up to {}; give more "
               "--size or --memory",
               plan.num_distinct, human_count(after.num_distinct), plan.lower_count,
               human_rate(after.false_positive_rate)));
  }
  return after;
}

Json summary_json(const KmersOptions& options, const KmerFindings& findings, std::uint64_t memory_bytes,
                  double seconds) {
  return {{"kmer_length", options.kmer_length},
          {"canonical", options.canonical},
          {"lower_count", options.lower_count},
          {"num_bases", findings.totals.num_bases},
          {"num_sequences", findings.totals.num_sequences},
          {"num_kmers", findings.totals.num_kmers},
          {"num_distinct_kmers_estimate", static_cast<std::uint64_t>(std::llround(findings.num_distinct))},
          {"false_positive_rate_at_most", findings.false_positive_rate},
          {"predicted_false_kmers_at_most", findings.false_positive_rate * findings.num_distinct},
          {"memory_bytes", memory_bytes},
          {"seconds", seconds}};
}

std::string input_text(const KmerFindings& findings) {
  return fmt::format("{} bases in {} sequences, {} k-mers, about {} distinct", findings.totals.num_bases,
                     findings.totals.num_sequences, findings.totals.num_kmers,
                     human_count(findings.num_distinct));
}

}  // namespace tally::cli
