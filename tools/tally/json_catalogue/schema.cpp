#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "json_catalogue/catalogue.hpp"
#include "json_catalogue/json_type.hpp"
#include "json_catalogue/json_version.hpp"
#include "json_catalogue/outputs.hpp"
#include "text/json.hpp"

namespace tally::cli {
namespace {

Json reference_to(std::string_view name) {
  Json json = Json::object();
  json["$ref"] = fmt::format("#/$defs/{}", name);
  return json;
}

Json schema_of(const JsonType& type);

Json schema_of_one(const JsonType& type) {
  if (type.is_plain()) return {{"type", type.text()}};
  if (type.is_array()) return {{"type", "array"}, {"items", schema_of(type.element())}};
  return reference_to(json_record(type.text()).name);
}

Json schema_of(const JsonType& type) {
  const std::vector<JsonType> alternatives =
      type.is_array() && type.text().ends_with(']') ? std::vector{type} : type.alternatives();
  if (alternatives.size() == 1) return schema_of_one(alternatives.front());
  Json list = Json::array();
  if (std::ranges::all_of(alternatives, &JsonType::is_plain)) {
    for (const JsonType& one : alternatives) list.push_back(one.text());
    return {{"type", list}};
  }
  for (const JsonType& one : alternatives) list.push_back(schema_of_one(one));
  return {{"anyOf", list}};
}

void add_members(const JsonRecord& record, Json& schema) {
  for (const std::string_view part : record.parts) add_members(json_record(part), schema);
  for (const JsonMember& member : record.members()) {
    Json own = schema_of(JsonType(member.type));
    own["description"] = member.meaning;
    if (!member.unit.empty()) own["x-unit"] = member.unit;
    if (member.name == "*") {
      schema["additionalProperties"] = own;
      continue;
    }
    schema["properties"][member.name] = own;
    if (!member.may_be_absent) schema["required"].push_back(member.name);
  }
}

Json schema_of_record(const JsonRecord& record) {
  Json schema{{"description", record.summary}, {"type", "object"}};
  schema["properties"] = Json::object();
  schema["required"] = Json::array();
  add_members(record, schema);
  return schema;
}

Json schema_of_output(const std::vector<const JsonRecord*>& records) {
  Json list = Json::array();
  for (const JsonRecord* const record : records) {
    const Json own = reference_to(record->name);
    const bool is_list = record->form == JsonRecord::Form::list;
    list.push_back(is_list ? Json{{"type", "array"}, {"items", own}} : own);
  }
  return {{"anyOf", list}};
}

std::string name_of_output(std::string_view command) {
  std::string name = fmt::format("output_of_{}", command);
  std::ranges::replace(name, ' ', '_');
  return name;
}

}  // namespace

std::string json_schema() {
  Json definitions = Json::object();
  Json any = Json::array();
  for (const auto& [command, records] : json_outputs()) {
    definitions[name_of_output(command)] = schema_of_output(records);
    any.push_back(reference_to(name_of_output(command)));
  }
  for (const JsonRecord& record : json_records()) definitions[record.name] = schema_of_record(record);
  Json schema = Json::object();
  schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  schema["title"] = "What the command tally prints as JSON";
  schema["description"] = "A line of its output, or all of it: docs/json.md tells which";
  schema["json_version"] = json_version;
  schema["anyOf"] = any;
  schema["$defs"] = definitions;
  return schema.dump(2) + "\n";
}

}  // namespace tally::cli
