#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "paper_shape.hpp"
#include "random.hpp"
#include "tally/hashing/multiplier_buckets.hpp"
#include "tally/hashing/rotation_buckets.hpp"

namespace tally::experiments {

using Choices = std::array<std::uint64_t, 4>;  // a bucket in each subtable

/// Four buckets by four hashes of their own: any of the B^4 collections.
class IndependentChoices {
 public:
  static constexpr const char* name = "independent";
  explicit IndependentChoices(std::uint64_t) {}
  Choices operator()(test::Random& random) const {
    Choices choices;
    for (std::uint64_t& bucket : choices) bucket = random.below(paper_shape.buckets_per_subtable);
    return choices;
  }
};

/// Those of a random fingerprint under the permutations of a bucket scheme: at most B R collections.
template <BucketScheme Scheme>
class PermutedChoices {
 public:
  static constexpr const char* name = Scheme::name.data();
  explicit PermutedChoices(std::uint64_t seed) : scheme_(space_, seed) {}
  Choices operator()(test::Random& random) const {
    Choices choices;
    scheme_.all_images(space_.fingerprint_of(random.digest()), 4, choices.data());
    for (std::uint64_t& image : choices) image >>= space_.remainder_bits;
    return choices;
  }

 private:
  FingerprintSpace space_ = paper_shape.fingerprint_space();
  Scheme scheme_;
};

/// The paper's permutations with the low bits of a_i f as the bucket: they depend on the low bits of f alone, so
/// there are only B collections.
class LowBitsChoices {
 public:
  static constexpr const char* name = "multiplier with low bits";
  explicit LowBitsChoices(std::uint64_t seed) : scheme_(space_, seed) {}
  Choices operator()(test::Random& random) const {
    Choices choices;
    scheme_.all_images(space_.fingerprint_of(random.digest()), 4, choices.data());
    for (std::uint64_t& image : choices) image &= space_.num_buckets - 1;
    return choices;
  }

 private:
  FingerprintSpace space_ = paper_shape.fingerprint_space();
  MultiplierBuckets scheme_;
};

/// d-left hashing alone: buckets without capacity, and nothing but their loads. A ball goes into the least loaded
/// of its four buckets, ties to the left.
template <class ChoiceRule>
class BallsAndBins {
 public:
  explicit BallsAndBins(std::uint64_t seed) : random_(seed), choose_(random_.next()) {}

  void fill(std::uint64_t num_balls) {
    balls_.reserve(num_balls);
    while (balls_.size() < num_balls) balls_.push_back(throw_one());
  }
  void churn(std::uint64_t num_steps) {
    for (std::uint64_t i = 0; i < num_steps; ++i) {
      std::uint32_t& ball = balls_[random_.below(balls_.size())];
      --loads_[ball];
      ball = throw_one();
    }
  }

  std::uint64_t num_with_load(std::uint32_t least) const {
    return static_cast<std::uint64_t>(
        std::count_if(loads_.begin(), loads_.end(), [=](std::uint16_t load) { return load >= least; }));
  }
  /// Balls that found 8 or more in each of their buckets.
  std::uint64_t num_overflows() const { return num_overflows_; }

 private:
  std::uint32_t throw_one() {
    const Choices choices = choose_(random_);
    std::uint64_t best = choices[0];
    for (std::uint64_t i = 1; i < 4; ++i) {
      const std::uint64_t bucket = i * paper_shape.buckets_per_subtable + choices[i];
      if (loads_[bucket] < loads_[best]) best = bucket;
    }
    num_overflows_ += loads_[best] >= paper_shape.cells_per_bucket;
    ++loads_[best];
    return static_cast<std::uint32_t>(best);
  }

  test::Random random_;
  ChoiceRule choose_;
  std::vector<std::uint16_t> loads_ = std::vector<std::uint16_t>(4 * paper_shape.buckets_per_subtable);
  std::vector<std::uint32_t> balls_;  // the bucket of each
  std::uint64_t num_overflows_ = 0;
};

}  // namespace tally::experiments
