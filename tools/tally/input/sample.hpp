#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "input/key_reader.hpp"
#include "tally/planner/zipf_stream.hpp"
#include "tally/theory/compound_poisson.hpp"

namespace tally::cli {

/// The keys of a sample, counted exactly (up to 2^-128, by their digests), as a histogram of counts.
theory::CountHistogram count_sample(const InputOptions& input, std::uint64_t limit);

/// histogram_of_text of a file. Its errors name the file.
theory::CountHistogram read_histogram(const std::string& path, std::uint64_t limit);

/// pairs_of_text of a file of weights and numbers of insertions. Its errors name the file.
std::vector<WeightFrequency> read_weights(const std::string& path);

}  // namespace tally::cli
