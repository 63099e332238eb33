#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <mutex>
#include <optional>

#include "cli/signals.hpp"
#include "kmers/filter.hpp"
#include "kmers/report.hpp"
#include "tally/sets/shared_entry_set.hpp"
#include "text/key_json.hpp"
#include "text/output_check.hpp"

namespace tally::cli {
namespace {

/// Shared by all threads that print.
struct Printing {
  const KmersOptions& options;
  KeyHasher hasher;
  KmerFilter* filter;  // null if the first occurrence of a k-mer prints it
  SharedEntrySet reported;
  std::mutex output_mutex;
  Output output;
  std::atomic<std::uint64_t> num_reported = 0;
  std::atomic<std::uint64_t> num_repeats_possible = 0;
};

/// Prints every k-mer once, when its count reaches the lower count.
///
/// The set of printed k-mers is searched first: for deep reads this finishes most k-mers. The thread whose
/// insertion finds that the entry is new prints it. So if the count of a k-mer reaches the lower count in two
/// threads at once, only one prints it.
class Printer {
 public:
  explicit Printer(Printing& shared)
      : shared_(&shared), is_exact_(shared.options.kmer_length <= max_exact_kmer_length) {}

  void operator()(Kmers kmers, Entries entries) {
    if (!is_exact_) entries = entries_of_digests(kmers);
    shared_->reported.contains_batch(entries, std::span(is_reported_).first(kmers.size()));
    std::size_t num_left = 0;
    for (std::size_t i = 0; i < kmers.size(); ++i) {
      left_[num_left] = static_cast<std::uint32_t>(i);
      num_left += !is_reported_[i];
    }
    for (std::size_t l = 0; l < num_left; ++l)
      left_digests_[l] = is_exact_ ? shared_->hasher(kmers[left_[l]]) : digests_[left_[l]];
    if (shared_->filter != nullptr) {
      shared_->filter->insert_and_count(std::span(left_digests_).first(num_left),
                                        std::span(counts_).first(num_left));
    } else {
      std::fill_n(counts_.begin(), num_left, Count{1, false});
    }
    for (std::size_t l = 0; l < num_left; ++l) {
      if (counts_[l].value >= shared_->options.lower_count)
        report(kmers[left_[l]], entries[left_[l]], counts_[l].value);
    }
  }

  void end_piece() {
    if (found_.empty()) return;
    const std::lock_guard alone(shared_->output_mutex);
    shared_->output.write_record(found_);
    found_.clear();
  }

 private:
  // Longer k-mers are represented by 64 bits of their digests.
  Entries entries_of_digests(Kmers kmers) {
    hash_all(shared_->hasher, kmers, digests_);
    for (std::size_t i = 0; i < kmers.size(); ++i) entries_[i] = std::max<std::uint64_t>(1, digests_[i].high);
    return std::span(entries_).first(kmers.size());
  }

  void report(std::string_view kmer, std::uint64_t entry, std::uint64_t count) {
    const SharedEntrySet::Outcome outcome = shared_->reported.insert(entry);
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

  Printing* shared_;
  bool is_exact_;
  Batch<Hash128> digests_{};
  Batch<std::uint64_t> entries_{};
  Batch<bool> is_reported_{};
  Batch<std::uint32_t> left_{};
  Batch<Hash128> left_digests_{};
  Batch<Count> counts_{};
  std::string found_;
};

}  // namespace

ExitCode print_kmers(const KmersOptions& options) {
  check_standard_output();
  const auto start = std::chrono::steady_clock::now();
  const KeyHasher hasher = options.hasher.hasher();
  std::optional<KmerPlan> plan;
  std::optional<KmerFilter> filter;
  if (options.lower_count > 1) {
    plan = plan_kmers(options, hasher);
    filter.emplace(plan->shape, hasher, options.num_threads);
  }
  const std::uint64_t set_bytes = options.memory_of_set().value_or(std::numeric_limits<std::uint64_t>::max());
  Printing shared{.options = options,
                  .hasher = hasher,
                  .filter = filter ? &*filter : nullptr,
                  .reported = SharedEntrySet(set_bytes),
                  .output_mutex = {},
                  .output = Output({.is_shared = true})};
  const KmerTotals totals = for_each_kmer_batch(options, [&] { return Printer(shared); });

  const std::uint64_t num_reported = shared.num_reported;
  const std::uint64_t num_repeats = shared.num_repeats_possible;
  std::uint64_t memory_bytes = shared.reported.num_bytes();
  KmerFindings findings{totals, static_cast<double>(shared.reported.size()), 0};
  if (filter) {
    memory_bytes += num_bytes(plan->shape);
    findings = look_back(std::move(*filter).release(), *plan, totals);
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
