// Writes reads of a genome as FASTQ: simulated_reads COVERAGE READ_LENGTH ERROR_RATE [SEED] < genome.fasta
// The same arguments give the same reads everywhere.

#include "simulated_reads.hpp"

#include <cstdio>
#include <cstdlib>
#include <iostream>

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: simulated_reads COVERAGE READ_LENGTH ERROR_RATE [SEED] < genome.fasta\n");
    return 2;
  }
  std::string genome;
  for (std::string line; std::getline(std::cin, line);) {
    if (!line.starts_with('>')) genome += line;
  }
  const tally::test::ReadsOptions options{.coverage = std::strtod(argv[1], nullptr),
                                          .read_length = std::strtoull(argv[2], nullptr, 10),
                                          .substitution_rate = std::strtod(argv[3], nullptr),
                                          .seed = argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 1};
  if (options.read_length < 1 || options.read_length > genome.size()) {
    std::fprintf(stderr, "simulated_reads: READ_LENGTH is not 1 to the %zu bases of the genome\n",
                 genome.size());
    return 2;
  }
  std::uint64_t number = 0;
  std::string buffer;
  const auto flush = [&] {
    std::fwrite(buffer.data(), 1, buffer.size(), stdout);
    buffer.clear();
  };
  tally::test::simulate_reads(genome, options, [&](std::string_view bases) {
    buffer += tally::test::fastq_record(++number, bases);
    if (buffer.size() > (1U << 20)) flush();
  });
  flush();
  return std::fflush(stdout) == 0 ? 0 : 1;
}
