#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tally/filters/shapes.hpp"
#include "tally/hashing/hash128.hpp"
#include "tally/theory/compound_poisson.hpp"

namespace tally::cli {

/// For hash tables of the standard library: a digest is as good a hash as there is.
struct HashOfDigest {
  std::size_t operator()(Hash128 digest) const noexcept { return digest.low; }
};

/// Counts a stream exactly, in memory without bound, and compares what was reported with
/// what was true and with what theory predicts for this very stream.
///
/// The prediction: a key seen t < theta times is reported at a visit when the other keys
/// have put at least theta - t on each of its counters. Counters only grow and t does,
/// so whether it is ever reported too soon is decided at its last visit below theta, and
/// the expected number is the sum over the keys of that visit's probability, taken at the
/// filters' load of that moment: Pr(counter >= s)^k by the compound Poisson law of the
/// keys counted so far, and over several generations the law of the sum of their least counters.
class ExactCheck {
 public:
  /// Larger thresholds are counted, but not predicted: the sum of laws costs threshold^3.
  static constexpr std::uint64_t max_predicted_threshold = 64;

  explicit ExactCheck(std::uint64_t threshold) : threshold_(threshold) {}

  bool predicts() const noexcept { return threshold_ <= max_predicted_threshold; }

  // What the stream does, in this order: a generation opens; a key is counted in the last one; a
  // line with the key has been dealt with, and was reported or not.
  void opened_generation(const ThresholdShape& shape);
  void inserted(Hash128 digest);
  void see(Hash128 digest, bool reported);

  struct Result {
    std::uint64_t num_distinct = 0;
    std::uint64_t num_over = 0;    ///< keys that reached the threshold
    std::uint64_t num_missed = 0;  ///< of them, never reported: always 0
    std::uint64_t num_early = 0;   ///< of them, reported before
    std::uint64_t num_false = 0;   ///< reported, and never reached it
    double predicted_early = 0;
    double predicted_false = 0;
    double standard_deviation = 0;  ///< of early and false reports together
  };
  Result result() const;

 private:
  struct Key {
    std::uint64_t count = 0;
    double probability_too_soon = 0;  // at the last visit below the threshold
    std::uint32_t count_in_generation = 0;
    std::uint32_t generation = 0;
    bool reported = false;
    bool reported_too_soon = false;
  };

  void update_prediction();

  std::uint64_t threshold_;
  std::unordered_map<Hash128, Key, HashOfDigest> keys_;

  ThresholdShape shape_;
  std::uint32_t generation_ = 0;
  theory::CountHistogram histogram_;  // of the last generation's keys
  std::uint64_t num_insertions_ = 0;  // into the last generation
  std::uint64_t next_update_ = 0;
  std::vector<double> earlier_least_;  // law of the sum of the earlier generations' least foreign counters
  std::vector<double> pass_;           // pass_[s]: that the foreign counts add up to at least s
};

}  // namespace tally::cli
