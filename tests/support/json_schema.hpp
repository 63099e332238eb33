#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tally::test {

/// The schema that `tally --generate json-schema` prints, held against what commands print: strictly, so a member that it
/// does not name is an error, although the schema allows it.
class JsonSchema {
 public:
  using Json = nlohmann::json;

  /// What is wrong with a value, each with its path; nothing if it is as the schema says.
  struct Findings {
    std::vector<std::string> errors;
    std::set<std::string> members;  ///< of records, that the value has: "over_key.count"
  };

  explicit JsonSchema(Json schema) : schema_(std::move(schema)) {}

  static const JsonSchema& of_the_command();

  /// A line or all of the output of a command, such as "over" or "squid info".
  Findings check(std::string command, const Json& value) const;

  Findings check_definition(const std::string& name, const Json& value) const;

  /// Every member of every record.
  std::set<std::string> all_members() const;

 private:
  void check(const Json& schema, const std::string& record, const Json& value, const std::string& path,
             Findings& findings) const;
  void check_members(const Json& schema, const std::string& record, const Json& value,
                     const std::string& path, Findings& findings) const;
  /// The first alternative without an error, else that with the fewest.
  void check_alternatives(const Json& alternatives, const std::string& record, const Json& value,
                          const std::string& path, Findings& findings) const;

  Json schema_;
};

/// What is wrong with the whole output of a command: one value, or one per line.
JsonSchema::Findings check_json_output(const std::string& command, const std::string& output);

}  // namespace tally::test
