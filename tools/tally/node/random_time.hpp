#pragma once

#include <random>

#include "text/duration.hpp"

namespace tally::cli {

/// Times that are drawn at random, so that nodes do not all do the same at once.
class RandomTime {
 public:
  /// 0 to `most`, all equally likely.
  Nanoseconds up_to(Nanoseconds most) { return std::uniform_int_distribution<Nanoseconds>(0, most)(random_); }

 private:
  std::mt19937_64 random_{std::random_device{}()};
};

}  // namespace tally::cli
