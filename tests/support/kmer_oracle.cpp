#include "kmer_oracle.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string_view>
#include <utility>

#include "simulated_reads.hpp"

namespace tally::test {
namespace {

std::string reverse_complement(std::string text) {
  std::reverse(text.begin(), text.end());
  std::transform(text.begin(), text.end(), text.begin(), complement);
  return text;
}

}  // namespace

Texts kmers_of(std::string sequence, std::size_t length, bool canonical) {
  std::transform(sequence.begin(), sequence.end(), sequence.begin(), ::toupper);
  Texts kmers;
  for (std::size_t i = 0; i + length <= sequence.size(); ++i) {
    std::string kmer = sequence.substr(i, length);
    if (kmer.find_first_not_of("ACGT") != kmer.npos) continue;
    kmers.push_back(canonical ? std::min(kmer, reverse_complement(kmer)) : std::move(kmer));
  }
  return kmers;
}

Texts kmers_of_all(const Texts& sequences, std::size_t length) {
  Texts kmers;
  for (const std::string& sequence : sequences)
    std::ranges::move(kmers_of(sequence, length), std::back_inserter(kmers));
  return kmers;
}

const Texts& reads() {
  static const Texts texts = [] {
    Texts all;
    simulate_reads(random_genome(20'000, 11), {.coverage = 12, .read_length = 100, .seed = 12},
                   [&](std::string_view read) { all.emplace_back(read); });
    return all;
  }();
  return texts;
}

const std::string& reads_fastq() {
  static const std::string text = [] {
    std::string all;
    for (const std::string& read : reads()) all += fastq_record(all.size(), read);
    return all;
  }();
  return text;
}

}  // namespace tally::test
