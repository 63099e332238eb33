#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/options.hpp"
#include "tally/hashing/kmer_scanner.hpp"

namespace tally::cli {

/// The options of `tally kmers`, and its three modes.
struct KmersOptions {
  std::vector<std::string> files;
  bool no_decompress = false;
  std::uint32_t kmer_length = 0;
  bool canonical = true;
  std::uint64_t lower_count = 2;
  std::string output;
  std::optional<std::uint64_t> num_distinct;
  std::optional<double> false_positive_rate;  ///< default 1%, or what num_distinct and memory_bytes give
  std::optional<std::uint64_t> memory_bytes;
  std::uint32_t num_threads = 1;
  HasherOptions hasher;
  bool with_count = false;
  bool counts = false;
  std::string dump_format;  ///< one of dump_formats; empty: count, tab, k-mer
  std::string histogram;    ///< a file, or "-"
  bool force = false;
  bool json = false;
  bool quiet = false;
  bool explain = false;

  bool prints() const { return output.empty(); }
  bool counts_all() const { return counts || !histogram.empty(); }
  Strands strands() const { return canonical ? Strands::both : Strands::one; }
  /// If the memory is bounded, the set of printed k-mers gets a quarter and the filter the rest.
  std::optional<std::uint64_t> memory_of_set() const {
    return memory_bytes && lower_count > 1 ? *memory_bytes / 4 : memory_bytes;
  }
  std::optional<std::uint64_t> memory_of_filter() const {
    return memory_bytes && prints() ? *memory_bytes / 4 * 3 : memory_bytes;
  }
};

/// Prints every k-mer once, when its count reaches the lower count.
ExitCode print_kmers(const KmersOptions& options);
/// Writes the counts of all k-mers that reach the lower count, at the end, or a histogram of them.
ExitCode count_kmers(const KmersOptions& options);
/// Writes a threshold filter of all k-mers.
ExitCode write_kmer_filter(const KmersOptions& options);

}  // namespace tally::cli
