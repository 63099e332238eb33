#pragma once

#include <string>

#include "kmers/loop.hpp"
#include "kmers/plan.hpp"
#include "tally/filters/statistics.hpp"
#include "text/output.hpp"

// The final report of `tally kmers`, whether it printed k-mers or wrote a filter of them.

namespace tally::cli {

/// The results once all k-mers are in.
struct KmerFindings {
  KmerTotals totals;
  double num_distinct = 0;         ///< estimate
  double false_positive_rate = 0;  ///< at most
};

/// The results from the statistics of the filter; warns if there are more distinct k-mers than planned.
KmerFindings look_back(const FilterStatistics& statistics, const KmerPlan& plan, const KmerTotals& totals);

Json summary_json(const KmersOptions& options, const KmerFindings& findings, std::uint64_t memory_bytes,
                  double seconds);
/// "1000 bases in 10 sequences, 700 k-mers, about 512 distinct"
std::string input_text(const KmerFindings& findings);

}  // namespace tally::cli
