#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "random.hpp"

namespace tally::test {

/// Bases drawn uniformly.
inline std::string random_genome(std::uint64_t num_bases, std::uint64_t seed) {
  Random random(seed);
  std::string genome;
  for (std::uint64_t i = 0; i < num_bases; ++i) genome += "ACGT"[random.below(4)];
  return genome;
}

inline char complement(char base) {
  switch (base) {
    case 'A':
      return 'T';
    case 'C':
      return 'G';
    case 'G':
      return 'C';
    case 'T':
      return 'A';
    default:
      return base;
  }
}

struct ReadsOptions {
  double coverage = 30;  ///< bases of all reads by bases of the genome
  std::uint64_t read_length = 100;
  double substitution_rate = 0.01;  ///< of a base by one of the three others
  std::uint64_t seed = 1;
};

/// Reads of a genome, as a sequencer would give them: from places drawn uniformly, from both strands, with
/// substitution errors. Calls use(bases) for each; the genome is at least as long as a read.
template <class Use>
void simulate_reads(std::string_view genome, const ReadsOptions& options, Use use) {
  Random random(options.seed);
  const auto num_reads = static_cast<std::uint64_t>(options.coverage * static_cast<double>(genome.size()) /
                                                    static_cast<double>(options.read_length));
  const auto error_limit = static_cast<std::uint64_t>(options.substitution_rate * 0x1p64);
  std::string read;
  for (std::uint64_t r = 0; r < num_reads; ++r) {
    read = genome.substr(random.below(genome.size() - options.read_length + 1), options.read_length);
    if (random.below(2) == 1) {
      read.assign(read.rbegin(), read.rend());
      for (char& base : read) base = complement(base);
    }
    for (char& base : read) {
      if (random.next() >= error_limit) continue;
      constexpr std::string_view bases = "ACGT";
      const std::size_t place = bases.find(base);
      if (place != bases.npos) base = bases[(place + 1 + random.below(3)) % 4];
    }
    use(std::string_view(read));
  }
}

inline std::string fastq_record(std::uint64_t number, std::string_view bases) {
  return "@read" + std::to_string(number) + '\n' + std::string(bases) + "\n+\n" +
         std::string(bases.size(), 'I') + '\n';
}

}  // namespace tally::test
