#pragma once

#include <fmt/core.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cli/caught.hpp"
#include "input/key_loop.hpp"
#include "input/live_status.hpp"
#include "kmers/options.hpp"
#include "kmers/sequence_reader.hpp"
#include "text/output.hpp"

namespace tally::cli {

static_assert(KmerScanner::max_kmers_per_call <= std::tuple_size_v<Batch<Hash128>>);

/// One batch of KmerScanner: texts, and their entries.
using Kmers = std::span<const std::string_view>;
using Entries = std::span<const std::uint64_t>;

/// Runs work(i) in several threads, including the caller's; an exception in one is rethrown here after stop(), which makes the
/// others end.
template <class Work, class Stop>
void run_threads(std::uint32_t num_threads, Work work, Stop stop) {
  std::vector<std::exception_ptr> errors(num_threads);
  const auto guarded = [&](std::uint32_t i) {
    errors[i] = caught([&] { work(i); });
    if (errors[i]) stop();
  };
  {
    std::vector<std::jthread> threads;
    try {
      for (std::uint32_t i = 1; i < num_threads; ++i) threads.emplace_back(guarded, i);
    } catch (...) {
      stop();  // those that run may wait for one that does not
      throw;
    }
    guarded(0);
  }
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

/// How much was read.
struct KmerTotals {
  std::uint64_t num_bases = 0;
  std::uint64_t num_sequences = 0;
  std::uint64_t num_kmers = 0;
};

/// Calls read_in_threads(reader, count of k-mers) to read all files. SIGUSR1 prints how far it is, and what `found` says.
template <class ReadInThreads>
KmerTotals read_all(const KmersOptions& options, const std::function<std::string()>& found,
                    ReadInThreads read_in_threads) {
  Progress progress(options.quiet);
  std::atomic<std::uint64_t> num_kmers = 0;
  const LiveStatus status({[&] { return fmt::format("{} k-mers, {}", num_kmers.load(), found()); }});
  SequenceReader reader(options.files, options.kmer_length,
                        options.no_decompress      ? Decompress::no
                        : options.num_threads == 1 ? Decompress::yes
                                                   : Decompress::ahead,
                        [&](std::uint64_t, std::uint64_t bytes_read) {
                          progress.set_file(reader.file_number(), reader.num_files());
                          progress.update(num_kmers, bytes_read, reader.total_bytes());
                        });
  read_in_threads(reader, num_kmers);
  return {reader.num_bases(), reader.num_sequences(), num_kmers};
}

/// Calls make_use() once in every thread, and its result for each batch of k-mers with their entries; after each piece of
/// the input it calls end_piece() of that result.
template <class MakeUse>
KmerTotals for_each_kmer_batch(const KmersOptions& options, MakeUse make_use,
                               const std::function<std::string()>& found) {
  return read_all(options, found, [&](SequenceReader& reader, std::atomic<std::uint64_t>& num_kmers) {
    const auto work = [&](std::uint32_t) {
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
        Meanwhile::run(false);
      }
    };
    run_threads(options.num_threads, work, [&] { reader.stop(); });
  });
}

}  // namespace tally::cli
