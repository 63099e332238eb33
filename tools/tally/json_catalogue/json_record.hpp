#pragma once

#include <string_view>
#include <vector>

#include "json_catalogue/json_member.hpp"

namespace tally::cli {

/// A JSON object that commands print, or that is a part of one.
struct JsonRecord {
  enum class Form {
    part,      ///< of other records
    line,      ///< one object a line
    document,  ///< one object for the whole output
    list       ///< an array of these objects for the whole output
  };

  std::string_view name;
  Form form = Form::part;
  std::vector<std::string_view> commands = {};  ///< which print it: "over", "squid info"
  std::string_view summary;                     ///< without the full stop
  std::vector<std::string_view> parts = {};     ///< records whose members it has besides its own
  /// A line for each member: "name | type | unit | meaning", where "name?" may be absent. A line that begins with blanks
  /// continues the meaning before it.
  std::string_view table = {};

  /// Its own members, in the order of the table.
  std::vector<JsonMember> members() const;
};

}  // namespace tally::cli
