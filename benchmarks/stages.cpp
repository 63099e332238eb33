// One stage of a command that reads lines, together with the stages before it, for bench_stages to time:
//
//   stages read|lines|hash|lookup|bases|kmers|kmer-lookup [FILE]
//
// read: the blocks of the input, decompressed. lines: finds their newlines, too. hash: also makes a digest of every line.
// lookup: also reads one random line of 64 bytes of 64 MiB for every digest, prefetched in batches.
// bases: the bases of FASTA or FASTQ. kmers: also the digests of their canonical k-mers of 31 bases. kmer-lookup: also a
// random line for every k-mer.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/line_reads.hpp"
#include "input/block_reader.hpp"
#include "input/line_cutter.hpp"
#include "kmers/sequence_reader.hpp"
#include "tally/detail/aligned_words.hpp"
#include "tally/hashing/key_hasher.hpp"
#include "tally/hashing/kmer_scanner.hpp"

namespace {

using namespace tally;

enum class Stage : std::uint8_t { read, lines, hash, lookup, bases, kmers, kmer_lookup };
constexpr std::array<const char*, 7> stage_names{"read",  "lines", "hash",       "lookup",
                                                 "bases", "kmers", "kmer-lookup"};

Stage stage_named(const std::string& name) {
  const auto found = std::find(stage_names.begin(), stage_names.end(), name);
  if (found != stage_names.end()) return static_cast<Stage>(found - stage_names.begin());
  fmt::print(stderr,
             "stages: '{}' is no stage; give read, lines, hash, lookup, bases, kmers or kmer-lookup\n", name);
  std::exit(2);
}

class RandomLines {
 public:
  std::uint64_t read(std::span<const Hash128> digests) const {
    return cli::read_lines(words_.words(), digests, 1, 64);
  }

 private:
  detail::AlignedWords words_{(std::uint64_t{64} << 20) / 8};
};

std::uint64_t run_lines(Stage last, std::vector<std::string> files) {
  cli::BlockReader reader(files, '\n', cli::Decompress::yes);
  cli::LineCutter cutter('\n');
  const KeyHasher hasher(1);
  std::vector<char> buffer;
  std::array<Hash128, cli::LineCutter::max_lines_a_call> digests;
  const RandomLines random_lines;
  std::uint64_t sum = 0;
  while (true) {
    const std::span<const char> block = reader.next(buffer);
    if (block.empty()) return sum;
    sum += static_cast<unsigned char>(block.back());
    if (last == Stage::read) continue;
    cutter.begin(block);
    while (true) {
      const std::span<const std::string_view> lines = cutter.next();
      if (lines.empty()) break;
      sum += lines.size();
      if (last == Stage::lines) continue;
      for (std::size_t i = 0; i < lines.size(); ++i) digests[i] = hasher(lines[i]);
      sum += digests[lines.size() - 1].low;
      if (last == Stage::lookup) sum += random_lines.read(std::span(digests).first(lines.size()));
    }
  }
}

std::uint64_t run_kmers(Stage last, std::vector<std::string> files) {
  if (files.empty()) files = {"-"};
  constexpr std::uint32_t kmer_length = 31;
  cli::SequenceReader reader(files, kmer_length, cli::Decompress::yes);
  KmerScanner scanner(kmer_length, Strands::both);
  const KeyHasher hasher(1);
  std::array<Hash128, KmerScanner::max_kmers_per_call> digests;
  const RandomLines random_lines;
  std::uint64_t sum = 0;
  for (std::string bases; reader.next(bases);) {
    sum += bases.size();
    if (last == Stage::bases) continue;
    scanner.start(bases);
    for (auto kmers = scanner.next(); !kmers.empty(); kmers = scanner.next()) {
      const std::span<const std::uint64_t> entries = scanner.entries();
      for (std::size_t i = 0; i < entries.size(); ++i) digests[i] = hasher(entries[i]);
      sum += digests[entries.size() - 1].low;
      if (last == Stage::kmer_lookup) sum += random_lines.read(std::span(digests).first(entries.size()));
    }
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: stages read|lines|hash|lookup|bases|kmers|kmer-lookup [FILE]\n");
    return 2;
  }
  const Stage stage = stage_named(argv[1]);
  const auto run = stage < Stage::bases ? run_lines : run_kmers;
  return run(stage, {argv + 2, argv + argc}) == 1 ? 1 : 0;  // the sum is used
}
