#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tally::bench {

/// What is timed. Insertions and removals are those of churn, apart: new keys take the places of random members. Where
/// nothing can be removed, an insertion is of a member. A fill is an insertion while the structure fills up, on average.
enum class Operation : std::uint8_t {
  insert,
  lookup_absent,
  lookup_present,
  lookup_mixed,
  lookup_zipf,
  remove,
  churn,
  one_line,
  two_lines
};

/// A column of the tables, and a name in the JSON.
struct OperationName {
  const char* column;
  const char* json;
};
inline constexpr std::array<OperationName, 9> operation_names = {{{"insert", "insert"},
                                                                  {"absent", "lookup_absent"},
                                                                  {"present", "lookup_present"},
                                                                  {"mixed", "lookup_mixed"},
                                                                  {"Zipf", "lookup_zipf"},
                                                                  {"remove", "remove"},
                                                                  {"churn", "churn"},
                                                                  {"a1", "one_line"},
                                                                  {"a2", "two_lines"}}};

/// In ns of processor time per key, one per round; none for an operation that the structure does not have.
using OperationTimes = std::array<std::vector<double>, operation_names.size()>;

inline const std::vector<double>& times_of(const OperationTimes& times, Operation operation) {
  return times[static_cast<std::size_t>(operation)];
}

/// All that was measured of one structure.
struct Measured {
  std::string name;
  std::uint64_t num_keys = 0;
  std::uint64_t num_bytes = 0;
  double false_positive_rate = 0;
  std::optional<double> planned_rate = {};
  double fill_ns = 0;
  OperationTimes batches = {};  ///< only reads of lines, if it takes no batches
  OperationTimes single = {};

  double bits_per_key() const { return 8 * static_cast<double>(num_bytes) / static_cast<double>(num_keys); }
};

}  // namespace tally::bench
