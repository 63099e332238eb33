#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tally/hashing/hash128.hpp"
#include "tally/shapes/threshold.hpp"
#include "tally/theory/compound_poisson.hpp"

namespace tally::cli {

/// For hash tables of the standard library: a digest is as good a hash as there is.
struct HashOfDigest {
  std::size_t operator()(Hash128 digest) const noexcept { return digest.low; }
};

/// Values by the bytes of keys: what is counted exactly so depends on no digest of the stream. A secret of its own
/// spreads the keys over the buckets.
template <class Value>
class ValuesByKey {
 public:
  Value& operator[](std::string_view key) {
    const auto found = values_.find(key);
    return found != values_.end() ? found->second : values_[std::string(key)];
  }
  /// Of a key that is there.
  const Value& at(std::string_view key) const { return values_.find(key)->second; }

  std::size_t size() const noexcept { return values_.size(); }
  auto begin() const noexcept { return values_.begin(); }
  auto end() const noexcept { return values_.end(); }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view key) const { return hash_key(key, seed).low; }
    std::uint64_t seed = std::uint64_t{std::random_device{}()} << 32 | std::random_device{}();
  };
  std::unordered_map<std::string, Value, Hash, std::equal_to<>> values_;
};

/// Counts a stream exactly, in memory without bound, and compares what was reported with
/// what was true and with what theory predicts for this very stream. Truth is by the bytes of keys; only the
/// prediction is of what the filters are given, which is digests.
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
  void see(std::string_view bytes, bool reported);

  struct Result {
    std::uint64_t num_distinct = 0;
    std::uint64_t num_over = 0;    ///< keys that reached the threshold
    std::uint64_t num_missed = 0;  ///< of them, never reported: 0, unless two keys have one digest
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
    bool reported = false;
    bool reported_too_soon = false;
  };
  struct Counted {
    std::uint32_t count_in_generation = 0;
    std::uint32_t generation = 0;
  };

  void update_prediction();

  std::uint64_t threshold_;
  ValuesByKey<Key> keys_;
  std::unordered_map<Hash128, Counted, HashOfDigest> counted_;  // what is in the filters

  ThresholdShape shape_;
  std::uint32_t generation_ = 0;
  theory::CountHistogram histogram_;  // of the last generation's keys
  std::uint64_t num_insertions_ = 0;  // into the last generation
  std::uint64_t next_update_ = 0;
  std::vector<double> earlier_least_;  // law of the sum of the earlier generations' least foreign counters
  std::vector<double> pass_;           // pass_[s]: that the foreign counts add up to at least s
};

}  // namespace tally::cli
