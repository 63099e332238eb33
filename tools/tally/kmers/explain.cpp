#include "kmers/explain.hpp"

#include <fmt/core.h>

#include <limits>
#include <string>

#include "kmers/owners.hpp"
#include "kmers/plan.hpp"
#include "tally/hashing/kmer_scanner.hpp"
#include "tally/sets/shared_entry_counts.hpp"
#include "tally/sets/shared_entry_set.hpp"
#include "text/explanation.hpp"
#include "text/output.hpp"

namespace tally::cli {
namespace {

struct Explained {
  std::string text;
  std::uint64_t memory_bytes = 0;
};

Explained filter_of(const KmersOptions& options) {
  if (!options.num_distinct && !options.memory_bytes) {
    return {fmt::format(
                "Reads the files twice, which standard input cannot be: first to count the distinct k-mers, "
                "then to keep track of each k-mer in a filter "
                "that is planned for that number. The memory of the filter is known then; --size "
                "tells it before. A k-mer that occurs fewer than {} times is selected with a probability of "
                "at most "
                "{}{}.",
                options.lower_count, human_rate(rate_or_default(options)), unless_chosen(options.hasher)),
            0};
  }
  KmersOptions quiet = options;
  quiet.quiet = true;
  const KmerPlan plan = plan_kmers(quiet, KeyHasher(0));
  return {
      fmt::format("Keeps track of each k-mer in a filter of {}, {} of them for each k-mer, planned for {} "
                  "distinct k-mers. A k-mer that occurs fewer than {} times is selected with a probability "
                  "of at most "
                  "{}{}; with more distinct k-mers than planned it grows, and the run ends with a warning.",
                  plan.positions_text(), plan.num_hashes(),
                  human_count(static_cast<double>(plan.num_distinct)), options.lower_count,
                  human_rate(plan.false_positive_rate(plan.num_distinct)), unless_chosen(options.hasher)),
      plan.num_bytes()};
}

std::string counts_of(const KmersOptions& options) {
  return fmt::format(
      "Keeps 64 bits and a count of 32 bits for each of these k-mers{}, and prints all at the end. No count "
      "is too low; that of a "
      "k-mer which is selected although it occurs fewer times is too high by at most {}.",
      options.counts && options.kmer_length > max_exact_kmer_length ? ", and its bases" : "",
      options.lower_count - 1);
}

std::string growth_of(const KmersOptions& options, std::uint64_t limit) {
  if (!options.memory_bytes) {
    return fmt::format("which grows with the number of {} k-mers{}",
                       options.counts_all() ? "counted" : "printed",
                       options.counts_all() ? "" : "; no k-mer is printed twice");
  }
  return fmt::format(
      "and never more than {} for the {}", exact_bytes(limit),
      options.counts_all()
          ? "counted k-mers: when that is full, further ones are left out, and the run ends with a warning"
          : "printed k-mers: when that is full, a k-mer may be printed again");
}

}  // namespace

ExitCode explain_kmers(const KmersOptions& options) {
  Explained filter;
  if (options.lower_count > 1 || !options.prints()) filter = filter_of(options);
  std::string text = filter.text.empty() ? "Prints each k-mer when it occurs first." : filter.text;
  const bool may_collide = options.prints() && options.kmer_length > max_exact_kmer_length;
  text += fmt::format(
      " No k-mer that occurs {} times is missed{}.", options.lower_count,
      may_collide ? ", unless the 64 bits of its digest that are kept are those of another one" : "");
  if (!options.prints()) {
    if (filter.memory_bytes > 0)
      text += fmt::format(" Memory: {}, which does not grow.", exact_bytes(filter.memory_bytes));
    print_explanation(text);
    return ExitCode::success;
  }
  const std::uint64_t limit = options.memory_of_set().value_or(std::numeric_limits<std::uint64_t>::max());
  const std::uint64_t table_bytes =
      options.counts_all() ? SetsOfOwners<SharedEntryCounts>(limit, options.num_threads).num_bytes()
                           : SetsOfOwners<SharedEntrySet>(limit, options.num_threads).num_bytes();
  text += fmt::format(" {} Memory: {} at the start{}, {}.",
                      options.counts_all() ? counts_of(options) : "Keeps 64 bits for each printed k-mer.",
                      exact_bytes(filter.memory_bytes + table_bytes),
                      filter.memory_bytes == 0 && options.lower_count > 1 ? " without the filter" : "",
                      growth_of(options, limit));
  print_explanation(text);
  return ExitCode::success;
}

}  // namespace tally::cli
