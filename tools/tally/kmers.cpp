#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "commands.hpp"
#include "distinct_estimate.hpp"
#include "documents.hpp"
#include "filter_file.hpp"
#include "key_json.hpp"
#include "key_loop.hpp"
#include "kmer_plan.hpp"
#include "kmer_scanner.hpp"
#include "options.hpp"
#include "sequence_reader.hpp"
#include "signals.hpp"
#include "tally/filters/shared_entry_set.hpp"
#include "tally/filters/shared_threshold_filter.hpp"
#include "tally/theory/bloom.hpp"

namespace tally::cli {
namespace {

constexpr std::uint32_t max_threads = 256;
constexpr std::uint64_t least_memory = std::uint64_t{64} << 10;

// Of a bounded memory, the share of the set of printed k-mers; the filter has the rest.
constexpr std::uint64_t set_share = 4;

struct KmersOptions {
  std::vector<std::string> files;
  std::uint32_t kmer_length = 0;
  bool canonical = true;
  std::uint64_t lower_count = 2;
  std::string output;
  std::optional<std::uint64_t> num_distinct;
  std::optional<double> false_positive_rate;
  std::optional<std::uint64_t> memory_bytes;
  std::uint32_t num_threads = 1;
  HasherOptions hasher;
  bool with_count = false;
  bool force = false;
  bool json = false;
  bool quiet = false;

  bool prints() const { return output.empty(); }
  Strands strands() const { return canonical ? Strands::both : Strands::one; }
};

struct Totals {
  std::uint64_t num_bases = 0;
  std::uint64_t num_sequences = 0;
  std::uint64_t num_kmers = 0;
};

/// Runs `work` in several threads, the caller's among them; an exception in one stops the reader and is thrown here.
template <class Work>
void run_threads(std::uint32_t num_threads, SequenceReader& reader, Work work) {
  std::vector<std::exception_ptr> errors(num_threads);
  const auto guarded = [&](std::uint32_t i) {
    try {
      work();
    } catch (...) {
      errors[i] = std::current_exception();
      reader.stop();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t i = 1; i < num_threads; ++i) threads.emplace_back(guarded, i);
    guarded(0);
  }
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

/// Reads all files; calls make_use() once in every thread and what it returns for each batch of k-mers, with the
/// scanner that holds them, and after each piece of the input end_piece() of that.
template <class MakeUse>
Totals for_each_kmer_batch(const KmersOptions& options, MakeUse make_use) {
  Progress progress(options.quiet);
  std::atomic<std::uint64_t> num_kmers = 0;
  std::optional<std::uint64_t> total_bytes;
  SequenceReader reader(options.files, options.kmer_length, [&](std::uint64_t, std::uint64_t bytes_read) {
    progress.update(num_kmers, bytes_read, total_bytes);
  });
  total_bytes = reader.total_bytes();
  run_threads(options.num_threads, reader, [&] {
    auto use = make_use();
    KmerScanner scanner(options.kmer_length, options.strands());
    std::string bases;
    while (reader.next(bases)) {
      scanner.start(bases);
      std::uint64_t count = 0;
      for (auto kmers = scanner.next(); !kmers.empty(); kmers = scanner.next()) {
        use(kmers, scanner.entries());
        count += kmers.size();
      }
      use.end_piece();
      num_kmers += count;
    }
  });
  return {reader.num_bases(), reader.num_sequences(), num_kmers};
}

/// The filter: a plain one for one thread, one that can be shared for more.
class KmerFilter {
 public:
  KmerFilter(const ThresholdShape& shape, const KeyHasher& hasher, std::uint32_t num_threads) {
    try {
      if (num_threads == 1) {
        one_.emplace(shape, hasher);
      } else {
        shared_.emplace(shape, hasher);
      }
    } catch (const std::bad_alloc&) {
      throw std::runtime_error(
          fmt::format("not enough memory: asked for {}; ask for less with --memory or a higher "
                      "--false-positive-rate",
                      human_bytes(static_cast<double>(num_bytes(shape)))));
    }
  }

  void insert_and_count(std::span<const Hash128> digests, std::span<Count> counts) {
    if (one_) {
      one_->insert_and_count_batch(digests, counts);
    } else {
      shared_->insert_and_count_batch(digests, counts);
    }
  }
  void insert(std::span<const Hash128> digests) {
    if (shared_) return shared_->insert_batch(digests);
    Batch<Count> not_used;
    one_->insert_and_count_batch(digests, std::span(not_used).first(digests.size()));
  }
  ThresholdFilter<> release() && { return one_ ? *std::move(one_) : (*std::move(shared_)).release(); }

 private:
  std::optional<ThresholdFilter<>> one_;
  std::optional<SharedThresholdFilter<>> shared_;
};

static_assert(KmerScanner::max_kmers_a_call <= std::tuple_size_v<Batch<Hash128>>);

using Kmers = std::span<const std::string_view>;
using Entries = std::span<const std::uint64_t>;

void hash_all(const KeyHasher& hasher, Kmers kmers, Batch<Hash128>& digests) {
  for (std::size_t i = 0; i < kmers.size(); ++i) digests[i] = hasher(kmers[i]);
}

/// Only counts how many k-mers are distinct.
class DistinctCounter {
 public:
  DistinctCounter(const KmersOptions& options, DistinctEstimate& estimate)
      : is_exact_(options.kmer_length <= max_exact_kmer_length), estimate_(&estimate) {}

  void operator()(Kmers kmers, Entries entries) {
    const KeyHasher hasher(default_seed);
    for (std::size_t i = 0; i < kmers.size(); ++i)
      estimate_->insert_uniform(is_exact_ ? mix64(entries[i]) : hasher(kmers[i]).high);
  }
  void end_piece() {}

 private:
  bool is_exact_;
  DistinctEstimate* estimate_;
};

/// Reads the input once to tell how many k-mers are distinct.
std::uint64_t count_distinct(const KmersOptions& options) {
  const std::vector<std::string> files =
      options.files.empty() ? std::vector<std::string>{"-"} : options.files;
  off_t standard_input_start = -1;
  for (const std::string& file : files) {
    if (!file_size_of(file) && access(file.c_str(), F_OK) != 0 && file != "-")
      throw std::system_error(errno, std::generic_category(), file);
    if (!file_size_of(file))
      throw std::invalid_argument(fmt::format(
          "--size: '{}' cannot be read twice to count its k-mers; say how many distinct ones to plan "
          "for with --size, or how much memory to use with --memory",
          file == "-" ? "standard input" : file));
    if (file == "-") standard_input_start = lseek(STDIN_FILENO, 0, SEEK_CUR);
  }
  std::vector<DistinctEstimate> estimates(options.num_threads);  // a thread each
  std::atomic<std::size_t> num_started = 0;
  const Totals totals =
      for_each_kmer_batch(options, [&] { return DistinctCounter(options, estimates[num_started++]); });
  DistinctEstimate sum;
  for (const DistinctEstimate& estimate : estimates) sum.merge(estimate);
  if (stop_requested()) throw std::runtime_error("interrupted while the distinct k-mers were counted");
  if (standard_input_start >= 0 && lseek(STDIN_FILENO, standard_input_start, SEEK_SET) < 0)
    throw std::system_error(errno, std::generic_category(), "standard input");
  remark(options.quiet,
         fmt::format("counted {} k-mers, about {:.0f} of them distinct (--size saves this pass)",
                     totals.num_kmers, sum.estimate()));
  const double most = std::min(sum.upper_limit(), static_cast<double>(totals.num_kmers));
  return static_cast<std::uint64_t>(std::max(1.0, std::ceil(most)));
}

KmerPlan plan_of(const KmersOptions& options) {
  KmerRequest request{.lower_count = options.lower_count,
                      .num_distinct = options.num_distinct,
                      .false_positive_rate = options.false_positive_rate,
                      .memory_bytes = options.memory_bytes};
  if (request.memory_bytes && options.prints())
    request.memory_bytes = *options.memory_bytes / set_share * (set_share - 1);
  if (!request.num_distinct && !request.memory_bytes) request.num_distinct = count_distinct(options);
  const KmerPlan plan = plan_kmers(request);
  remark(options.quiet,
         fmt::format(
             "planned for {} distinct k-mers: {} counters of {} bits, k = {}, {}; a k-mer seen fewer than "
             "{} times passes with probability at most {}",
             human_count(static_cast<double>(plan.num_distinct)),
             human_count(static_cast<double>(plan.shape.num_counters)), counter_bits_for(plan.shape),
             plan.shape.num_hashes, human_bytes(static_cast<double>(num_bytes(plan.shape))),
             options.lower_count, human_rate(plan.false_positive_rate)));
  return plan;
}

/// What the filter itself tells, once all k-mers are in.
struct Afterwards {
  double num_distinct = 0;
  double false_positive_rate = 0;
};

Afterwards look_back(const ThresholdFilter<>& filter, const KmerPlan& plan, const Totals& totals) {
  const FilterStatistics statistics = filter.statistics();
  Afterwards after;
  after.num_distinct = std::min(statistics.estimated_num_keys, static_cast<double>(totals.num_kmers));
  after.false_positive_rate = theory::false_positive_probability(
      plan.shape.num_counters, plan.shape.num_hashes,
      std::max<std::uint64_t>(1, static_cast<std::uint64_t>(after.num_distinct)));
  const double surplus = statistics.estimated_num_keys - 3 * statistics.estimated_num_keys_standard_error;
  if (!(surplus <= static_cast<double>(plan.num_distinct))) {
    remark(false,
           fmt::format(
               "warning: planned for {} distinct k-mers, and there are about {}; none is missed, but one "
               "seen fewer than {} times passes with probability up to {}; give more --size or --memory",
               plan.num_distinct, human_count(after.num_distinct), plan.shape.threshold,
               human_rate(after.false_positive_rate)));
  }
  return after;
}

Json summary_json(const KmersOptions& options, const Totals& totals, const Afterwards& after,
                  std::uint64_t memory_bytes, double seconds) {
  return {{"kmer_length", options.kmer_length},
          {"canonical", options.canonical},
          {"lower_count", options.lower_count},
          {"num_bases", totals.num_bases},
          {"num_sequences", totals.num_sequences},
          {"num_kmers", totals.num_kmers},
          {"num_distinct_kmers_estimate", static_cast<std::uint64_t>(std::llround(after.num_distinct))},
          {"false_positive_rate_at_most", after.false_positive_rate},
          {"predicted_false_kmers_at_most", after.false_positive_rate * after.num_distinct},
          {"memory_bytes", memory_bytes},
          {"seconds", seconds}};
}

std::string input_text(const Totals& totals, const Afterwards& after) {
  return fmt::format("{} bases in {} sequences, {} k-mers, about {} distinct", totals.num_bases,
                     totals.num_sequences, totals.num_kmers, human_count(after.num_distinct));
}

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

ExitCode write_filter(const KmersOptions& options) {
  check_overwrite(options.output, options.force);
  const Clock::time_point start = Clock::now();
  const KeyHasher hasher = options.hasher.hasher();
  const KmerPlan plan = plan_of(options);
  KmerFilter filter(plan.shape, hasher, options.num_threads);

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
  const Totals totals = for_each_kmer_batch(options, [&] { return Use{&filter, hasher}; });
  refuse_if_stopped(options.output);
  ThresholdFilter<> built = std::move(filter).release();
  const Afterwards after = look_back(built, plan, totals);
  const AnyFilter any(std::move(built));
  save_filter(any, options.output, options.force ? Overwrite::replace : Overwrite::refuse);

  const double seconds = seconds_since(start);
  if (options.json) {
    Json json = summary_json(options, totals, after, num_bytes(plan.shape), seconds);
    json["filter"] = filter_to_json(any, any.statistics());
    print_json(json);
  }
  remark(options.quiet,
         fmt::format(
             "{}; a k-mer seen fewer than {} times passes with probability at most {}; wrote a {}, {:.2f} s",
             input_text(totals, after), options.lower_count, human_rate(after.false_positive_rate),
             shape_text(any.shape()), seconds));
  return totals.num_kmers > 0 ? ExitCode::success : ExitCode::none;
}

/// What all threads that print share.
struct Printing {
  const KmersOptions& options;
  KeyHasher hasher;
  KmerFilter* filter;  // null where the first sight of a k-mer prints it
  SharedEntrySet reported;
  std::mutex output_mutex;
  Output output;
  std::atomic<std::uint64_t> num_reported = 0;
  std::atomic<std::uint64_t> num_repeats_possible = 0;
};

/// Prints every k-mer once, when its count reaches the lower count.
///
/// The set of printed k-mers is asked first: at that point most k-mers of deep reads are done. Who is told that an
/// entry is new there prints it, so that of two threads that see a k-mer reach the count at once one prints it.
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
  // Longer k-mers stand as 64 bits of their digests.
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

ExitCode print_kmers(const KmersOptions& options) {
  const Clock::time_point start = Clock::now();
  const KeyHasher hasher = options.hasher.hasher();
  std::optional<KmerPlan> plan;
  std::optional<KmerFilter> filter;
  std::uint64_t set_bytes = options.memory_bytes.value_or(std::numeric_limits<std::uint64_t>::max());
  if (options.lower_count > 1) {
    plan = plan_of(options);
    filter.emplace(plan->shape, hasher, options.num_threads);
    if (options.memory_bytes) set_bytes /= set_share;
  }
  Printing shared{.options = options,
                  .hasher = hasher,
                  .filter = filter ? &*filter : nullptr,
                  .reported = SharedEntrySet(set_bytes),
                  .output_mutex = {},
                  .output = {}};
  const Totals totals = for_each_kmer_batch(options, [&] { return Printer(shared); });

  const std::uint64_t num_reported = shared.num_reported;
  const std::uint64_t num_repeats = shared.num_repeats_possible;
  std::uint64_t memory_bytes = shared.reported.num_bytes();
  Afterwards after{static_cast<double>(shared.reported.size()), 0};
  if (filter) {
    memory_bytes += num_bytes(plan->shape);
    after = look_back(std::move(*filter).release(), *plan, totals);
  }
  const double seconds = seconds_since(start);
  if (options.json) {
    Json summary = summary_json(options, totals, after, memory_bytes, seconds);
    summary["num_reported"] = num_reported;
    summary["num_possible_repeats"] = num_repeats;
    summary["interrupted"] = stop_requested();
    shared.output.write_record(json_line(Json{{"summary", summary}}));
  }
  shared.output.finish();
  remark(options.quiet,
         fmt::format(
             "{}{}, {} seen {} times or more; one seen fewer times is printed with probability at most {}; "
             "{}, {:.2f} s",
             stop_requested() ? "interrupted after " : "", input_text(totals, after), num_reported,
             options.lower_count, human_rate(after.false_positive_rate),
             human_bytes(static_cast<double>(memory_bytes)), seconds));
  if (num_repeats > 0)
    remark(options.quiet, fmt::format("{} k-mers may be repeats: the set of printed ones was full; give more "
                                      "--memory",
                                      num_repeats));
  return num_reported > 0 ? ExitCode::success : ExitCode::none;
}

}  // namespace

Run declare_kmers(CLI::App& app) {
  const auto options = std::make_shared<KmersOptions>();
  add_details(
      app,
      "A k-mer of 31 bases or fewer is remembered exactly once it is printed, a longer one by 64 bits of its "
      "digest: of R printed ones, another is taken for printed, and missed, with probability R / 2^64. No "
      "other is "
      "missed. Without --size and --memory the input is read twice, first to count the distinct k-mers. "
      "Exit status: 0, 1 if there were no such k-mers, 2 after an error.");
  app.add_option("files", options->files, "FASTA or FASTQ, plain, .gz or .zst ('-' or none: standard input)")
      ->type_name("FILE")
      ->group("Input");
  add_count(app, "-k,--kmer-length,-m,--mer-len", options->kmer_length, "bases in a k-mer, 1 to 64",
            {1, max_kmer_length})
      ->required();
  app.add_flag("-C,--canonical,!--no-canonical", options->canonical,
               "a k-mer and its reverse complement are one, printed as the lexicographically smaller (the "
               "default; --no-canonical: they are two)");
  add_count(app, "-L,--lower-count", options->lower_count, "k-mers seen at least so many times (default 2)",
            {1, max_threshold_limit});
  add_file(app, "-o,--output", options->output,
           "write a threshold filter here ('-': standard output), for tally query; without it the k-mers are "
           "printed, each once, when it has been seen so many times");
  add_count(app, "-s,--size,-n,--keys", options->num_distinct, "distinct k-mers to plan for",
            {1, std::uint64_t{1} << 56});
  add_size(app, "--memory", options->memory_bytes,
           "memory of the filter, and of the printed k-mers; never exceeded", least_memory);
  CLI::Option* rate = add_rate(
      app, "-p,--false-positive-rate", options->false_positive_rate,
      "of the k-mers seen fewer times, the share that passes all the same (default 1%, or what --size with "
      "--memory gives)");
  add_count(app, "-t,--threads", options->num_threads, "threads (default 1)", {1, max_threads});
  app.add_flag("-c,--with-count", options->with_count, "print the count before the k-mer");
  add_hasher_options(app, options->hasher);
  add_force(app, options->force);
  add_json(app, options->json);
  add_quiet(app, options->quiet);
  return [options, rate] {
    if (options->num_distinct && options->memory_bytes && rate->count() > 0)
      throw std::invalid_argument("--size, --memory and --false-positive-rate are all given; leave one out");
    if (options->with_count && !options->prints())
      throw std::invalid_argument("--with-count: with --output no k-mer is printed; leave either out");
    return options->prints() ? print_kmers(*options) : write_filter(*options);
  };
}

}  // namespace tally::cli
