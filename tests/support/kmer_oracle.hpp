#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tally::test {

using Texts = std::vector<std::string>;

// What a k-mer is, written without any of the command's ideas.

Texts kmers_of(std::string sequence, std::size_t length, bool canonical = true);

Texts kmers_of_all(const Texts& sequences, std::size_t length);

// Reads of a small genome.

const Texts& reads();

const std::string& reads_fastq();

}  // namespace tally::test
