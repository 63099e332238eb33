#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "input/records.hpp"
#include "tally/streams/ranking.hpp"
#include "tally/streams/values_by_key.hpp"
#include "text/output.hpp"

namespace tally::cli {

/// Counts exactly, by the bytes of keys, in unlimited memory, and compares.
class ExactRanking {
 public:
  void add(const StreamRecords& records);

  struct Result {
    std::uint64_t num_distinct = 0;
    std::uint64_t num_wanted = 0;  ///< keys of the true answer
    std::uint64_t num_missed = 0;  ///< those of them that are not printed
    std::uint64_t num_false =
        0;  ///< printed keys that are not among them (keys with equal counts are as good)
    std::uint64_t num_outside_bounds = 0;
    std::uint64_t greatest_overcount = 0;
  };
  /// `share` or `num_keys` as for the ranking.
  Result compare(const Ranking& ranking, std::optional<double> share, std::uint64_t num_keys) const;

 private:
  ValuesByKey<std::uint64_t> counts_;
};

Json check_json(const ExactRanking::Result& result);
std::string check_text(const ExactRanking::Result& result);

}  // namespace tally::cli
