#include <fmt/core.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <mutex>

#include "cli/signals.hpp"
#include "kmers/finder.hpp"
#include "kmers/report.hpp"
#include "tally/sets/shared_entry_set.hpp"
#include "text/key_json.hpp"
#include "text/output_check.hpp"

namespace tally::cli {
namespace {

/// Shared by all threads that print.
struct Printing {
  const KmersOptions& options;
  SetsOfOwners<SharedEntrySet> reported;
  std::mutex output_mutex;
  Output output;
  std::atomic<std::uint64_t> num_reported = 0;
  std::atomic<std::uint64_t> num_repeats_possible = 0;
};

/// Prints each k-mer of an owner that is reported. The thread whose insertion finds that the entry is new prints it. So if all
/// threads have one owner, and the count of a k-mer reaches the lower count in two at once, only one prints it.
class Printer {
 public:
  Printer(Printing& shared, std::size_t owner) : shared_(&shared), reported_(&shared.reported[owner]) {}

  void find(Entries entries, std::span<bool> results) const { reported_->contains_batch(entries, results); }

  void report(std::string_view kmer, std::uint64_t entry, std::uint64_t count) {
    const SharedEntrySet::Outcome outcome = reported_->insert(entry);
    if (outcome == SharedEntrySet::Outcome::present) return;
    if (outcome == SharedEntrySet::Outcome::full) ++shared_->num_repeats_possible;
    ++shared_->num_reported;
    if (shared_->options.json) {
      found_ += json_line(Json{{"key", kmer}, {"count", count}});
      return;
    }
    if (shared_->options.with_count) found_.append(std::to_string(count)).append("\t");
    found_.append(kmer).append("\n");
  }

  void end_piece() {
    if (found_.empty()) return;
    const std::lock_guard alone(shared_->output_mutex);
    shared_->output.write_record(found_);
    found_.clear();
  }

 private:
  Printing* shared_;
  SharedEntrySet* reported_;
  std::string found_;
};

}  // namespace

ExitCode print_kmers(const KmersOptions& options) {
  check_standard_output();
  const auto start = std::chrono::steady_clock::now();
  const KeyHasher hasher = options.hasher.hasher();
  std::unique_ptr<KmerFilter> filter = new_filter(options, hasher);
  const std::uint64_t set_bytes = options.memory_of_set().value_or(std::numeric_limits<std::uint64_t>::max());
  Printing shared{.options = options,
                  .reported = SetsOfOwners<SharedEntrySet>(set_bytes, options.num_threads),
                  .output_mutex = {},
                  .output = Output({.is_shared = true})};
  const KmerTotals totals = for_each_kmer_of_owners(
      options, hasher, shared.reported.num_owners(),
      [&](std::size_t owner) { return KmerFinder(options, hasher, filter.get(), Printer(shared, owner)); },
      [&] { return fmt::format("{} of them reported", shared.num_reported.load()); });

  const std::uint64_t num_reported = shared.num_reported;
  const std::uint64_t num_repeats = shared.num_repeats_possible;
  std::uint64_t memory_bytes = shared.reported.num_bytes();
  KmerFindings findings{totals, static_cast<double>(shared.reported.size()), 0};
  if (filter) {
    memory_bytes += filter->plan().num_bytes();
    findings = look_back(std::move(*filter).statistics(), filter->plan(), totals);
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (options.json) {
    Json summary = summary_json(options, findings, memory_bytes, seconds);
    summary["num_reported"] = num_reported;
    summary["num_possible_repeats"] = num_repeats;
    summary["interrupted"] = stop_requested();
    summary.update(hash_json(hasher));
    shared.output.write_record(json_line(Json{{"summary", summary}}));
  }
  shared.output.finish();
  remark(options.quiet,
         fmt::format("{}{}, {} reported at {} times; false positive rate at most {}{}; {}, {:.2f} s; {}",
                     stop_requested() ? "interrupted after " : "", input_text(findings), num_reported,
                     options.lower_count, human_rate(findings.false_positive_rate), unless_chosen(hasher),
                     human_bytes(static_cast<double>(memory_bytes)), seconds, hash_text(hasher)));
  if (options.with_count && !options.json)
    remark(options.quiet,
           "each count is the count when the k-mer was printed; for counts in all reads, use 'tally kmers -o "
           "FILE' with a higher --lower-count, and 'tally count FILE'");
  if (num_repeats > 0)
    remark(options.quiet,
           fmt::format("{} k-mers may be repeats: the set of printed k-mers was full; give more "
                       "--memory",
                       num_repeats));
  return num_reported > 0 ? ExitCode::success : ExitCode::none;
}

}  // namespace tally::cli
