#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tally/export.hpp"
#include "tally/shapes/threshold.hpp"
#include "tally/streams/observer.hpp"
#include "tally/streams/values_by_key.hpp"
#include "tally/theory/compound_poisson.hpp"

namespace tally {

/// Counts a ThresholdStream exactly, in unbounded memory, and compares its reports with the truth and with what theory
/// predicts for this very stream. The truth goes by the bytes of keys. Only the prediction goes by digests, which is what
/// the filters receive.
///
/// The prediction: a key that has occurred t < theta times is reported at an occurrence if the other keys have put at least
/// theta - t on each of its counters. Counters only grow, and so does t. So its last occurrence below theta decides whether
/// it is ever reported too early. The expected number is the sum over the keys of the probability at that occurrence, at the
/// load that the filters have then: Pr(counter >= s)^k by the compound Poisson distribution of the keys counted so far; with
/// several generations, by the distribution of the sum of their least counters.
///
/// After a call that threw std::bad_alloc it may only be destroyed.
class TALLY_EXPORT ExactCheck : public StreamObserver {
 public:
  /// Larger thresholds are counted but not predicted, because the time for the prediction grows with threshold^3.
  static constexpr std::uint64_t max_predicted_threshold = 64;

  explicit ExactCheck(std::uint64_t threshold) : threshold_(threshold) {}

  /// The keys of the next batch that is added to the stream. Their bytes must stay valid until it has been added.
  void begin_batch(std::span<const std::string_view> keys) noexcept { keys_of_batch_ = keys; }

  bool predicts() const noexcept { return threshold_ <= max_predicted_threshold; }

  void opened_generation(const OpenedGeneration& generation) override;
  bool follows_keys() const override { return true; }
  void counted(Hash128 digest) override;
  void took(std::size_t index, bool is_reported) override;

  /// What was reported, compared with the true counts of all keys.
  struct Result {
    std::uint64_t num_distinct = 0;
    std::uint64_t num_over = 0;    ///< keys that reached the threshold
    std::uint64_t num_missed = 0;  ///< those of them never reported: 0, unless two keys have the same digest
    std::uint64_t num_early = 0;   ///< those of them reported before that
    std::uint64_t num_false = 0;   ///< keys reported that never reached it
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

  struct HashOfDigest {
    std::size_t operator()(Hash128 digest) const noexcept { return digest.low; }
  };

  void update_prediction();

  std::span<const std::string_view> keys_of_batch_;
  std::uint64_t threshold_;
  ValuesByKey<Key> keys_;
  std::unordered_map<Hash128, Counted, HashOfDigest> counted_;  // what is in the filters

  ThresholdShape shape_;
  std::uint32_t generation_ = 0;
  theory::CountHistogram histogram_;  // of the keys of the last generation
  std::uint64_t num_insertions_ = 0;  // into the last generation
  std::uint64_t next_update_ = 0;
  std::vector<double> earlier_least_;  // distribution of the sum of smallest counters in earlier generations
  std::vector<double> pass_;           // pass_[s]: probability that other keys added at least s
};

}  // namespace tally
