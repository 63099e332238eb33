#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "cli/signals.hpp"
#include "input/distinct_estimate.hpp"
#include "kmers/count_report.hpp"
#include "kmers/finder.hpp"
#include "kmers/ordered_runs.hpp"
#include "kmers/packed_kmers.hpp"
#include "kmers/report.hpp"
#include "tally/sets/shared_entry_counts.hpp"
#include "text/key_json.hpp"
#include "text/output_check.hpp"

namespace tally::cli {
namespace {

/// In place of PackedKmers if the k-mers need not be printed, or their entries say what they are.
struct NoTexts {
  static constexpr std::uint64_t bytes_per_kmer = 0;
  static constexpr std::uint64_t first_bytes = 0;
  void add(std::string_view) const {}
  std::uint64_t num_bytes() const { return 0; }
};

/// What one thread has found.
template <class KmerTexts>
struct Found {
  KmerTexts texts;
  std::uint64_t num_not_counted = 0;  // occurrences
  DistinctEstimate kmers_not_counted;
};

/// The bound of the table, so that the texts of all its k-mers fit beside it. Without a filter, whose memory is free by then,
/// there must be room for the entries when they are taken out of the table.
template <class KmerTexts>
std::uint64_t max_table_bytes(const KmersOptions& options) {
  constexpr std::uint64_t bytes_per_entry = 15;  // at least
  if (!options.memory_bytes) return std::numeric_limits<std::uint64_t>::max();
  std::uint64_t bytes = *options.memory_of_set();
  if (options.lower_count == 1) bytes -= bytes / 8;
  bytes -= std::min(bytes, options.num_threads * KmerTexts::first_bytes);
  return bytes / (bytes_per_entry + KmerTexts::bytes_per_kmer) * bytes_per_entry;
}

template <class KmerTexts>
struct Counting {
  Counting(const KmersOptions& wanted, const KeyHasher& key_hasher)
      : options(wanted),
        hasher(key_hasher),
        counts(max_table_bytes<KmerTexts>(wanted), wanted.num_threads),
        found(wanted.num_threads) {}

  std::uint64_t num_bytes() const {
    std::uint64_t sum = counts.num_bytes();
    for (const Found<KmerTexts>& of_thread : found) sum += of_thread.texts.num_bytes();
    return sum;
  }

  const KmersOptions& options;
  KeyHasher hasher;
  SetsOfOwners<SharedEntryCounts> counts;
  std::vector<Found<KmerTexts>> found;
  std::atomic<std::size_t> num_started = 0;
};

/// Counts each k-mer that is reported from its report on.
///
/// The count at the report is the lower count, never more: every earlier occurrence was one that the filter counted lower.
/// So a k-mer that the filter reports too early is counted too high by at most the lower count minus 1, and no count
/// is too low, for any number of threads.
template <class KmerTexts>
class Counter {
 public:
  Counter(Counting<KmerTexts>& shared, std::size_t owner)
      : shared_(&shared), counts_(&shared.counts[owner]), found_(&shared.found[shared.num_started++]) {}

  void find(Entries entries, std::span<bool> results) const { counts_->count_batch(entries, results); }

  void report(std::string_view kmer, std::uint64_t entry, std::uint64_t) {
    using Outcome = SharedEntryCounts::Outcome;
    switch (counts_->insert(entry, static_cast<std::uint32_t>(shared_->options.lower_count))) {
      case Outcome::inserted:
        return found_->texts.add(kmer);
      case Outcome::present:
        return;
      case Outcome::full:
        return leave_out(kmer);
    }
  }

  void end_piece() {}

 private:
  void leave_out(std::string_view kmer) {
    ++found_->num_not_counted;
    found_->kmers_not_counted.insert(shared_->hasher(kmer));
  }

  Counting<KmerTexts>* shared_;
  SharedEntryCounts* counts_;
  Found<KmerTexts>* found_;
};

constexpr std::size_t num_runs = 32;

void write_counts(Counting<NoTexts>& counting, CountReport& report) {
  std::vector<std::vector<EntryCount>> runs;
  const std::size_t num_owners = counting.counts.num_owners();
  for (std::size_t owner = 0; owner < num_owners; ++owner) {
    for (std::vector<EntryCount>& run : counting.counts[owner].take((num_runs + num_owners - 1) / num_owners))
      runs.push_back(std::move(run));
  }
  if (!report.prints_kmers()) {
    for (const std::vector<EntryCount>& run : runs)
      for (const EntryCount& counted : run) report.tally(counted.count);
    return;
  }
  KmerText<1> text(counting.options.kmer_length);
  for_each_in_order(runs, counting.options.num_threads, [&](const EntryCount& counted) {
    report.add(text.of_entry(counted.entry), counted.count);
  });
}

/// counts[i] = the count of the entry of digests[i].
void find_counts(SetsOfOwners<SharedEntryCounts>& sets, std::span<const Hash128> digests,
                 std::span<std::uint32_t> counts) {
  std::vector<std::uint32_t> order(digests.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto owner = [&](std::uint32_t i) { return owner_of(digests[i], sets.num_owners()); };
  std::ranges::stable_sort(order, {}, owner);
  std::vector<std::uint64_t> entries(digests.size());
  std::vector<std::uint32_t> found(digests.size());
  for (std::size_t i = 0; i < order.size(); ++i) entries[i] = entry_of(digests[order[i]]);
  for (std::size_t first = 0; first < order.size();) {
    const std::size_t own = owner(order[first]);
    std::size_t end = first + 1;
    while (end < order.size() && owner(order[end]) == own) ++end;
    sets[own].counts_of(std::span(entries).subspan(first, end - first),
                        std::span(found).subspan(first, end - first));
    first = end;
  }
  for (std::size_t i = 0; i < order.size(); ++i) counts[order[i]] = found[i];
}

template <std::size_t NumWords>
void write_counts(Counting<PackedKmers<NumWords>>& counting, CountReport& report) {
  std::vector<typename PackedKmers<NumWords>::Chunk> chunks;
  for (auto& found : counting.found)
    for (auto& chunk : found.texts.release()) chunks.push_back(std::move(chunk));
  KmerText<NumWords> text(counting.options.kmer_length);
  constexpr std::size_t batch_size = 256;
  std::vector<PackedKmer<NumWords>> batch;
  std::array<Hash128, batch_size> digests;
  std::array<std::uint32_t, batch_size> counts;
  const auto write_batch = [&] {
    for (std::size_t i = 0; i < batch.size(); ++i) digests[i] = counting.hasher(text.of(batch[i]));
    find_counts(counting.counts, std::span(digests).first(batch.size()), counts);
    for (std::size_t i = 0; i < batch.size(); ++i) report.add(text.of(batch[i]), counts[i]);
    batch.clear();
  };
  for_each_in_order(chunks, counting.options.num_threads, [&](const PackedKmer<NumWords>& packed) {
    batch.push_back(packed);
    if (batch.size() == batch_size) write_batch();
  });
  write_batch();
}

std::string accuracy_text(const KmersOptions& options) {
  if (options.lower_count == 1) return "all counts are exact";
  return fmt::format("counts are exact, except that those of false reports are too high by at most {}",
                     options.lower_count - 1);
}

template <class KmerTexts>
ExitCode count_with(const KmersOptions& options) {
  check_standard_output();
  CountReport report(options);
  const auto start = std::chrono::steady_clock::now();
  const KeyHasher hasher = options.hasher.hasher();
  std::unique_ptr<KmerFilter> filter = new_filter(options, hasher);
  Counting<KmerTexts> counting(options, hasher);
  const KmerTotals totals = for_each_kmer_of_owners(
      options, hasher, counting.counts.num_owners(),
      [&](std::size_t owner) {
        return KmerFinder(options, hasher, filter.get(), Counter<KmerTexts>(counting, owner));
      },
      [&] { return fmt::format("{} distinct ones counted", counting.counts.size()); });

  std::uint64_t memory_bytes = counting.num_bytes();
  KmerFindings findings{totals, static_cast<double>(counting.counts.size()), 0};
  if (filter) {
    memory_bytes += filter->plan().num_bytes();
    findings = look_back(std::move(*filter).statistics(), filter->plan(), totals);
    filter.reset();
  }
  write_counts(counting, report);

  std::uint64_t num_not_counted = 0;
  DistinctEstimate kmers_not_counted;
  for (const auto& found : counting.found) {
    num_not_counted += found.num_not_counted;
    kmers_not_counted.merge(found.kmers_not_counted);
  }
  const auto num_kmers_not_counted = static_cast<std::uint64_t>(std::llround(kmers_not_counted.estimate()));
  const std::uint64_t num_reported = report.num_kmers();
  const double num_below =
      std::max(0.0, findings.num_distinct - static_cast<double>(num_reported + num_kmers_not_counted));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  Json summary = summary_json(options, findings, memory_bytes, seconds);
  summary["num_reported"] = num_reported;
  summary["num_kmers_below_lower_count_estimate"] =
      options.lower_count > 1 ? static_cast<std::uint64_t>(std::llround(num_below)) : 0;
  summary["counts_too_high_by_at_most"] = options.lower_count - 1;
  summary["num_saturated_counts"] = report.num_saturated();
  summary["num_kmers_not_counted_estimate"] = num_kmers_not_counted;
  summary["num_occurrences_not_counted"] = num_not_counted;
  summary["interrupted"] = stop_requested();
  summary.update(hash_json(hasher));
  report.finish(summary);

  remark(options.quiet,
         fmt::format(
             "{}{}, {} occur {} times or more{}; false positive rate at most {}{}; {}; {}, {:.2f} s; {}",
             stop_requested() ? "interrupted after " : "", input_text(findings), num_reported,
             options.lower_count,
             options.lower_count > 1 ? fmt::format(", about {} fewer times", human_count(num_below)) : "",
             human_rate(findings.false_positive_rate), unless_chosen(hasher), accuracy_text(options),
             human_bytes(static_cast<double>(memory_bytes)), seconds, hash_text(hasher)));
  if (num_not_counted > 0)
    remark(false,
           fmt::format("warning: about {} k-mers with {} occurrences did not fit in the table and are not "
                       "counted; give more --memory",
                       num_kmers_not_counted, num_not_counted));
  if (report.num_saturated() > 0)
    remark(false,
           fmt::format("warning: {} counts are {} or more", report.num_saturated(), EntryCount::max_count));
  return num_reported > 0 ? ExitCode::success : ExitCode::none;
}

}  // namespace

ExitCode count_kmers(const KmersOptions& options) {
  if (options.kmer_length <= max_exact_kmer_length || !options.counts) return count_with<NoTexts>(options);
  switch ((options.kmer_length + bases_per_word - 1) / bases_per_word) {
    case 1:
      return count_with<PackedKmers<1>>(options);
    case 2:
      return count_with<PackedKmers<2>>(options);
    case 3:
      return count_with<PackedKmers<3>>(options);
    default:
      return count_with<PackedKmers<4>>(options);
  }
}

}  // namespace tally::cli
