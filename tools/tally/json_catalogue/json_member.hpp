#pragma once

#include <string>

namespace tally::cli {

/// A member of a JSON object, as the catalogue describes it.
struct JsonMember {
  std::string name;  ///< "*" for any other name
  bool may_be_absent = false;
  /// "integer", "number or null", "[string]" for an array, or the names of records.
  std::string type;
  std::string unit;     ///< empty if it has none
  std::string meaning;  ///< a phrase without the full stop
};

}  // namespace tally::cli
