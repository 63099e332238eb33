#include "kmers/options.hpp"

#include <fmt/format.h>

#include <memory>
#include <stdexcept>

#include "cli/documents.hpp"
#include "commands/commands.hpp"
#include "input/key_reader.hpp"
#include "tally/shapes/threshold.hpp"

namespace tally::cli {
namespace {

constexpr std::uint32_t max_threads = 256;
constexpr std::uint64_t least_memory = std::uint64_t{64} << 10;

}  // namespace

Run declare_kmers(CommandLine app) {
  const auto options = std::make_shared<KmersOptions>();
  add_details(
      app,
      "A k-mer of 31 bases or fewer is remembered exactly once it is printed, a longer one by 64 bits of its "
      "digest: of R printed ones, another is taken for printed, and missed, with probability R / 2^64, "
      "unless "
      "k-mers are chosen against the seed. No other is missed. Without --size and --memory the input is read "
      "twice, first to count the distinct k-mers. "
      "Exit status: 0, 1 if there were no such k-mers, 2 after an error.");
  app.add_option("files", options->files,
                 "FASTA or FASTQ, plain, .gz, .zst, .xz, .bz2 or .lz4 ('-' or none: standard input)")
      .type_name("FILE")
      .group("Input");
  add_no_decompress(app, options->no_decompress);
  add_count(app, "-k,--kmer-length,-m,--mer-len", options->kmer_length, "bases in a k-mer, 1 to 64",
            {1, max_kmer_length})
      .required();
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
  Option rate = add_rate(
      app, "-p,--false-positive-rate", options->false_positive_rate,
      "of the k-mers seen fewer times, the share that passes all the same (default 1%, or what --size with "
      "--memory gives)");
  add_count(app, "-t,--threads", options->num_threads, "threads (default 1)", {1, max_threads});
  app.add_flag(
      "-c,--with-count", options->with_count,
      "print before the k-mer its count at that moment: the lower count or little more, not how often it "
      "comes in all reads (for that: a filter written with --output and a higher --lower-count, and 'tally "
      "count')");
  add_stream_hasher_options(
      app, options->hasher,
      fmt::format("drawn at random; with --output {}, so that filters merge", default_seed));
  add_force(app, options->force);
  add_json(app, options->json);
  add_quiet(app, options->quiet);
  return [options, rate] {
    if (options->num_distinct && options->memory_bytes && rate.is_given())
      throw std::invalid_argument("--size, --memory and --false-positive-rate are all given; leave one out");
    if (options->with_count && !options->prints())
      throw std::invalid_argument("--with-count: with --output no k-mer is printed; leave either out");
    if (options->hasher.keyed && !options->prints()) {
      throw std::invalid_argument(
          "--keyed and --output are both given: the secret of --keyed ends with the run, and nobody could "
          "ask "
          "the filter; give --key-file in place of --keyed");
    }
    if (options->prints()) options->hasher.draw();
    return options->prints() ? print_kmers(*options) : write_kmer_filter(*options);
  };
}

}  // namespace tally::cli
