#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "files/guarded_file.hpp"
#include "kmers/options.hpp"
#include "text/output.hpp"

namespace tally::cli {

/// What `kmers --counts` and `--histogram` write at the end.
class CountReport {
 public:
  /// Throws what OutputFile and Output throw, before any work is done.
  explicit CountReport(const KmersOptions& options);

  bool prints_kmers() const noexcept { return options_.counts; }
  /// One k-mer, with --counts.
  void add(std::string_view kmer, std::uint32_t count) {
    tally(count);
    print(kmer, count);
  }
  /// One k-mer without its text.
  void tally(std::uint32_t count);

  /// Writes the histogram and, with --json, the summary.
  void finish(const Json& summary);

  std::uint64_t num_kmers() const noexcept { return num_kmers_; }
  std::uint64_t num_saturated() const noexcept { return num_saturated_; }

 private:
  void print(std::string_view kmer, std::uint32_t count);
  void write_histogram();

  const KmersOptions& options_;
  std::optional<OutputFile> histogram_file_;
  Output output_;
  std::string line_;
  std::vector<std::uint64_t> num_kmers_of_count_;
  std::uint64_t num_kmers_ = 0;
  std::uint64_t num_saturated_ = 0;
};

}  // namespace tally::cli
