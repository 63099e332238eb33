#include <fmt/core.h>

#include <chrono>

#include "files/filter_file.hpp"
#include "input/input_is_output.hpp"
#include "kmers/filter.hpp"
#include "kmers/report.hpp"

namespace tally::cli {

ExitCode write_kmer_filter(const KmersOptions& options) {
  refuse_input_as_output(options.files, options.output);
  const OutputFile output(options.output, options.force, options.quiet);
  const auto start = std::chrono::steady_clock::now();
  const KeyHasher hasher = options.hasher.hasher();
  const KmerPlan plan = plan_kmers(options, hasher);
  KmerFilter filter(plan, hasher, options.num_threads);

  struct Use {
    KmerFilter* filter;
    KeyHasher hasher;
    Batch<Hash128> digests{};

    void operator()(Kmers kmers, Entries) {
      hash_all(hasher, kmers, digests);
      filter->insert(std::span(digests).first(kmers.size()));
    }
    void end_piece() {}
  };
  const KmerTotals totals = for_each_kmer_batch(
      options,
      [&] {
        return Use{&filter, hasher};
      },
      [] { return std::string("in the filter"); });
  refuse_if_stopped(options.output);
  ThresholdFilter<> built = std::move(filter).release();
  const KmerFindings findings = look_back(built.statistics(), plan, totals);
  const AnyFilter any(std::move(built));
  output.save(any);

  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (options.json) {
    Json json = summary_json(options, findings, plan.num_bytes(), seconds);
    json["filter"] = filter_to_json(any, any.statistics());
    print_json(json);
  }
  remark(
      options.quiet,
      fmt::format(
          "{}; a k-mer that occurs fewer than {} times is selected with a probability of at most {}; wrote a "
          "{}, {:.2f} s",
          input_text(findings), options.lower_count, human_rate(findings.false_positive_rate),
          shape_text(any.shape()), seconds));
  return totals.num_kmers > 0 ? ExitCode::success : ExitCode::none;
}

}  // namespace tally::cli
