#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tally/export.hpp"

namespace tally {

/// The kind of stream that a state is for; the numbers are stored in files.
enum class StateKind : std::uint16_t { threshold = 1, sums = 2, top = 3 };

/// Names and values of options that must match when a stream resumes from a state.
using StateOptions = std::vector<std::pair<std::string, std::string>>;

/// The state is valid, but for another stream.
class TALLY_EXPORT StateMismatch : public std::runtime_error {
 public:
  StateMismatch(std::string option_name, std::string saved_value, std::string wanted_value);

  std::string option;  ///< the first option that differs; "kind" for the kind of the stream
  std::string saved;   ///< its value in the state
  std::string wanted;  ///< its value now
};

}  // namespace tally
