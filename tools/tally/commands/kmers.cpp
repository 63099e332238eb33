#include "kmers/options.hpp"

#include <fmt/core.h>

#include <memory>
#include <stdexcept>

#include "cli/documents.hpp"
#include "commands/commands.hpp"
#include "input/input_is_output.hpp"
#include "input/key_reader.hpp"
#include "kmers/explain.hpp"
#include "tally/shapes/threshold.hpp"

namespace tally::cli {
namespace {

constexpr std::uint32_t max_threads = 256;
constexpr std::uint64_t least_memory = std::uint64_t{64} << 10;

/// Of the options for counts.
void refuse_contradictions(const KmersOptions& options) {
  const char* const given = options.counts ? "--counts" : "--histogram";
  if (options.counts_all() && !options.prints()) {
    throw std::invalid_argument(fmt::format(
        "{} and --output are both given: --output writes a filter, which has no counts of all reads; leave "
        "one out",
        given));
  }
  if (options.counts_all() && options.with_count) {
    throw std::invalid_argument(fmt::format(
        "--with-count and {0} are both given: {0} counts all reads; leave --with-count out", given));
  }
  if (!options.dump_format.empty() && !options.counts)
    throw std::invalid_argument(
        "--dump-format is only for --counts; give --counts, or leave --dump-format out");
  if (!options.dump_format.empty() && options.json)
    throw std::invalid_argument("--dump-format and --json are both given; leave one out");
  if (options.counts && options.histogram == "-") {
    throw std::invalid_argument(
        "--counts and --histogram - both print to standard output; give a file for --histogram");
  }
  refuse_input_as_output(options.files, options.histogram, "--histogram");
}

}  // namespace

Run declare_kmers(CommandLine app) {
  const auto options = std::make_shared<KmersOptions>();
  add_details(app, R"(
      Printed k-mers of up to 31 bases are stored exactly, longer ones as 64 bits of their digests. After R
      printed k-mers, another k-mer of more than 31 bases is treated as already printed, and missed, with a
      probability of R / 2^64, unless someone chose k-mers against the seed. Nothing else is missed.

      Without --size and --memory the input is read twice, first to count the distinct k-mers.
      )");
  app.set_exit_status({.success = "if such k-mers were found", .none = "if none was"});
  app.add_option(
         "files", options->files,
         "FASTA or FASTQ files, compressed (.gz, .zst, .xz, .bz2, .lz4) or not ('-' or none: standard input)")
      .type_name("FILE")
      .group("Input");
  add_no_decompress(app, options->no_decompress);
  add_count(app, "-k,--kmer-length,-m,--mer-len", options->kmer_length,
            "Number of bases of a k-mer, 1 to 127", {1, max_kmer_length})
      .required();
  app.add_flag("-C,--canonical,!--no-canonical", options->canonical, R"(
      Treat a k-mer and its reverse complement as one, printed as the lexicographically smaller (the default;
      --no-canonical treats them as two)
      )");
  add_count(app, "-L,--lower-count", options->lower_count,
            "Select k-mers that occur at least this number of times (default: 2)", {1, max_threshold_limit});
  add_file(app, "-o,--output", options->output, R"(
      Write a threshold filter, for tally query, to this file ('-': standard output). Without it each k-mer is
      printed once, as soon as it has occurred --lower-count times
      )");
  add_count(app, "-s,--size,-n,--keys", options->num_distinct, "Number of distinct k-mers to plan for",
            {1, std::uint64_t{1} << 56});
  add_size(app, "--memory", options->memory_bytes,
           "Maximum memory of the filter and the set of printed k-mers together", least_memory);
  Option rate = add_rate(app, "-p,--false-positive-rate", options->false_positive_rate, R"(
      Share of the k-mers that occur less often but are selected anyway (default: 1%, or the rate that --size and
      --memory give together)
      )");
  add_count(app, "-t,--threads", options->num_threads,
            "Number of threads (default: 1); if there are several, a further one decompresses",
            {1, max_threads});
  app.add_flag("-c,--with-count", options->with_count, R"(
      Print the count of a k-mer at that moment before it: the lower count or slightly more. It is not the count in
      all reads; for that, write a filter with --output and a higher --lower-count, and use 'tally count'
      )");
  app.add_flag("--counts", options->counts, R"(
      Print every selected k-mer at the end, sorted, with its count in all reads: exact, except that the count of a k-mer
      that occurs less often but is selected anyway is too high by at most the lower count minus 1
      )");
  add_choice(app, "--dump-format", options->dump_format, R"(
      Print --counts in the format of 'jellyfish dump', of 'jellyfish dump -c' (jellyfish-column) or of 'kmc_tools
      transform dump' (default: the count, a tab, the k-mer)
      )",
             {"jellyfish", "jellyfish-column", "kmc"});
  add_file(app, "--histogram", options->histogram, R"(
      Write the number of k-mers of each count to this file ('-': standard output), in the format of 'jellyfish histo'; the
      first count is the lower count
      )");
  add_stream_hasher_options(
      app, options->hasher,
      fmt::format("drawn at random; with --output {}, so that filters can be merged", default_seed));
  add_force(app, options->force);
  add_json(app, options->json);
  add_explain(app, options->explain);
  add_quiet(app, options->quiet);
  return [options, rate] {
    if (options->num_distinct && options->memory_bytes && rate.is_given())
      throw std::invalid_argument("--size, --memory and --false-positive-rate are all given; leave one out");
    if (options->with_count && !options->prints())
      throw std::invalid_argument(
          "--with-count and --output are both given: --output prints no k-mers; leave one out");
    refuse_contradictions(*options);
    if (options->hasher.keyed && !options->prints()) {
      throw std::invalid_argument(
          "--keyed and --output are both given: the secret of --keyed ends with the run, so nobody could "
          "query the filter; give --key-file instead of --keyed");
    }
    if (options->explain) return explain_kmers(*options);
    if (options->prints()) options->hasher.draw();
    if (options->counts_all()) return count_kmers(*options);
    return options->prints() ? print_kmers(*options) : write_kmer_filter(*options);
  };
}

}  // namespace tally::cli
