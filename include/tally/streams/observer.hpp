#pragma once

#include <cstddef>
#include <cstdint>

#include "tally/hashing/hash128.hpp"
#include "tally/shapes/threshold.hpp"

namespace tally {

/// A filter that a ThresholdStream opened to count further keys.
struct OpenedGeneration {
  std::uint64_t number = 0;    ///< 1 for the first
  std::uint64_t num_keys = 0;  ///< number of distinct keys that it is planned for
  ThresholdShape shape;
  /// The planned sum of the rates of all generations up to this one.
  double false_positive_rate = 0;
};

/// There are more keys than planned for this memory, so the false positive rate grows.
struct ExceededPlan {
  std::uint64_t planned_keys = 0;
  std::uint64_t num_keys = 0;      ///< distinct keys so far
  double false_positive_rate = 0;  ///< an upper bound at present
};

/// A ThresholdStream calls these functions while it works. By default they do nothing. The stream does not catch what they
/// throw, and may then have counted a part of the batch.
class StreamObserver {
 public:
  virtual ~StreamObserver() = default;

  /// The first `num_keys` distinct keys were counted exactly; filters count from here on.
  virtual void ended_exact_counting(std::uint64_t num_keys) { (void)num_keys; }
  virtual void opened_generation(const OpenedGeneration& generation) { (void)generation; }
  /// Called again each time the number of keys has doubled.
  virtual void exceeded_plan(const ExceededPlan& excess) { (void)excess; }
  /// The set of reported keys is full at `num_keys` keys: from now on keys may be reported again. Called once.
  virtual void filled_reported_keys(std::uint64_t num_keys) { (void)num_keys; }

  /// Whether the two functions below are called, which slows the stream down.
  virtual bool follows_keys() const { return false; }
  /// A filter counted this key.
  virtual void counted(Hash128 digest) { (void)digest; }
  /// The stream has processed the key with this index in its batch.
  virtual void took(std::size_t index, bool is_reported) {
    (void)index;
    (void)is_reported;
  }
};

}  // namespace tally
