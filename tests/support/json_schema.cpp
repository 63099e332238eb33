#include "json_schema.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "command_runner.hpp"
#include "key_streams.hpp"

namespace tally::test {
namespace {

bool has_type(const JsonSchema::Json& value, const std::string& type) {
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  if (type == "array") return value.is_array();
  if (type == "object") return value.is_object();
  throw std::invalid_argument("the schema has the unknown type " + type);
}

}  // namespace

const JsonSchema& JsonSchema::of_the_command() {
  static const JsonSchema schema(Json::parse(run_tally({"--generate", "json-schema"}).output));
  return schema;
}

JsonSchema::Findings JsonSchema::check(std::string command, const Json& value) const {
  std::ranges::replace(command, ' ', '_');
  return check_definition("output_of_" + command, value);
}

JsonSchema::Findings JsonSchema::check_definition(const std::string& name, const Json& value) const {
  Findings findings;
  if (!schema_["$defs"].contains(name)) {
    findings.errors.push_back("there is no " + name);
  } else {
    check(schema_["$defs"][name], name, value, "", findings);
  }
  return findings;
}

std::set<std::string> JsonSchema::all_members() const {
  std::set<std::string> all;
  for (const auto& [name, definition] : schema_["$defs"].items()) {
    if (!definition.contains("properties")) continue;
    all.insert(name);
    for (const auto& [member, schema] : definition["properties"].items()) all.insert(name + "." + member);
  }
  return all;
}

void JsonSchema::check(const Json& schema, const std::string& record, const Json& value,
                       const std::string& path, Findings& findings) const {
  constexpr std::array known{
      "$ref",        "anyOf", "type", "items", "properties", "required", "additionalProperties",
      "description", "x-unit"};
  for (const auto& [keyword, unused] : schema.items()) {
    if (std::ranges::find(known, keyword) == known.end())
      throw std::invalid_argument("the schema has the unknown keyword " + keyword);
  }
  if (schema.contains("$ref")) {
    const std::string name = schema["$ref"].get<std::string>().substr(std::string("#/$defs/").size());
    check(schema_["$defs"].at(name), name, value, path, findings);
  }
  if (schema.contains("anyOf")) check_alternatives(schema["anyOf"], record, value, path, findings);
  if (schema.contains("type")) {
    const Json types = schema["type"].is_array() ? schema["type"] : Json::array({schema["type"]});
    if (std::ranges::none_of(types, [&](const Json& type) { return has_type(value, type); }))
      findings.errors.push_back(path + " is " + value.dump() + ", not " + types.dump());
  }
  if (schema.contains("items") && value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i)
      check(schema["items"], record, value[i], path + "/" + std::to_string(i), findings);
  }
  if (schema.contains("properties") && value.is_object())
    check_members(schema, record, value, path, findings);
}

void JsonSchema::check_members(const Json& schema, const std::string& record, const Json& value,
                               const std::string& path, Findings& findings) const {
  findings.members.insert(record);
  for (const std::string name : schema["required"]) {
    if (!value.contains(name)) findings.errors.push_back(path + "/" + name + " is missing");
  }
  for (const auto& [name, member] : value.items()) {
    const std::string member_path = path + "/" + name;
    if (schema["properties"].contains(name)) {
      findings.members.insert(record + "." + name);
      check(schema["properties"][name], record, member, member_path, findings);
    } else if (schema.contains("additionalProperties")) {
      check(schema["additionalProperties"], record, member, member_path, findings);
    } else {
      findings.errors.push_back(member_path + " is not in the catalogue");
    }
  }
}

void JsonSchema::check_alternatives(const Json& alternatives, const std::string& record, const Json& value,
                                    const std::string& path, Findings& findings) const {
  std::vector<Findings> all;
  for (const Json& alternative : alternatives) {
    all.emplace_back();
    check(alternative, record, value, path, all.back());
  }
  const auto best = std::ranges::min_element(all, {}, [](const Findings& own) { return own.errors.size(); });
  findings.errors.insert(findings.errors.end(), best->errors.begin(), best->errors.end());
  findings.members.insert(best->members.begin(), best->members.end());
}

JsonSchema::Findings check_json_output(const std::string& command, const std::string& output) {
  JsonSchema::Findings all;
  const auto take = [&](const nlohmann::json& value) {
    const JsonSchema::Findings own = JsonSchema::of_the_command().check(command, value);
    all.errors.insert(all.errors.end(), own.errors.begin(), own.errors.end());
    all.members.insert(own.members.begin(), own.members.end());
  };
  if (nlohmann::json::accept(output)) {
    take(nlohmann::json::parse(output));
  } else {
    for (const std::string& line : split_keys(output)) take(nlohmann::json::parse(line));
  }
  return all;
}

}  // namespace tally::test
