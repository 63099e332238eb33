#include "tally/hashing/kmer_scanner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "expect_refused.hpp"
#include "random.hpp"

namespace tally {
namespace {

using Texts = std::vector<std::string>;

std::string reverse_complement(std::string kmer) {
  std::reverse(kmer.begin(), kmer.end());
  for (char& base : kmer) base = base == 'A' ? 'T' : base == 'T' ? 'A' : base == 'C' ? 'G' : 'C';
  return kmer;
}

/// Window by window.
Texts kmers_by_definition(const std::string& sequence, std::uint32_t k, Strands strands) {
  std::string bases;
  for (const char letter : sequence) {
    const char base = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    if (std::isspace(static_cast<unsigned char>(letter)) == 0) bases += base;
  }
  Texts kmers;
  for (std::size_t i = 0; i + k <= bases.size(); ++i) {
    const std::string kmer = bases.substr(i, k);
    if (kmer.find_first_not_of("ACGT") != std::string::npos) continue;
    kmers.push_back(strands == Strands::one ? kmer : std::min(kmer, reverse_complement(kmer)));
  }
  return kmers;
}

Texts kmers_of(const std::string& sequence, std::uint32_t k, Strands strands) {
  Texts kmers;
  for_each_kmer(sequence, k, strands, [&](std::string_view kmer) { kmers.emplace_back(kmer); });
  return kmers;
}

TEST(ForEachKmer, GivesEveryWindowOfBases) {
  EXPECT_EQ(kmers_of("ACGTT", 3, Strands::one), (Texts{"ACG", "CGT", "GTT"}));
  EXPECT_EQ(kmers_of("ACGTT", 3, Strands::both), (Texts{"ACG", "ACG", "AAC"}));
  EXPECT_EQ(kmers_of("acNgta\nca", 3, Strands::one), (Texts{"GTA", "TAC", "ACA"}));
  EXPECT_TRUE(kmers_of("AC", 3, Strands::one).empty());
  EXPECT_TRUE(kmers_of("", 1, Strands::both).empty());
}

TEST(ForEachKmer, AgreesWithTheDefinitionForEveryLengthAndLongSequences) {
  test::Random random(1);
  for (std::uint32_t k = 1; k <= max_kmer_length; ++k) {
    std::string sequence;
    for (int i = 0; i < 3000; ++i) sequence += "ACGTACGTACGTACGTacgtN \n"[random.below(23)];
    sequence += std::string(200, 'A');
    for (const Strands strands : {Strands::one, Strands::both})
      ASSERT_EQ(kmers_of(sequence, k, strands), kmers_by_definition(sequence, k, strands)) << k;
  }
}

TEST(ForEachKmer, RefusesLengthsOutOfRange) {
  for (const std::uint32_t k : {0u, max_kmer_length + 1})
    test::expect_refused([&] { kmers_of("ACGT", k, Strands::one); },
                         {"for_each_kmer: kmer_length is " + std::to_string(k) + "; must be 1 to 127"});
}

TEST(KmerScanner, GivesEqualEntriesToEqualKmersOnly) {
  test::Random random(2);
  std::string bases;
  for (int i = 0; i < 5000; ++i) bases += "ACGT"[random.below(4)];
  KmerScanner scanner(5, Strands::both);
  scanner.start(bases);
  std::vector<std::pair<std::string, std::uint64_t>> seen;
  for (auto kmers = scanner.next(); !kmers.empty(); kmers = scanner.next())
    for (std::size_t i = 0; i < kmers.size(); ++i) seen.emplace_back(kmers[i], scanner.entries()[i]);
  std::sort(seen.begin(), seen.end());
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  EXPECT_EQ(seen.size(), 512u);  // 4^5 / 2: none of odd length is its own reverse complement
  std::vector<std::uint64_t> entries;
  for (const auto& [kmer, entry] : seen) entries.push_back(entry);
  std::sort(entries.begin(), entries.end());
  EXPECT_EQ(std::unique(entries.begin(), entries.end()), entries.end());
  EXPECT_GT(entries.front(), 0u);
}

}  // namespace
}  // namespace tally
