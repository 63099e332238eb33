#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json_catalogue/json_record.hpp"

namespace tally::cli {

/// Every JSON object that a command prints and every part of one, in the order of docs/json.md.
const std::vector<JsonRecord>& json_records();

std::vector<JsonRecord> common_records();
std::vector<JsonRecord> stream_records();
std::vector<JsonRecord> store_records();
std::vector<JsonRecord> filter_records();
std::vector<JsonRecord> plan_records();
std::vector<JsonRecord> theory_records();
std::vector<JsonRecord> exchange_records();  ///< between nodes: summaries, the node, Squid

/// Throws std::logic_error if there is none of that name.
const JsonRecord& json_record(std::string_view name);

/// A JSON Schema (draft 2020-12). "#/$defs/NAME" is a record, and "#/$defs/output_of_COMMAND" what a command prints: a line,
/// or the whole output. Members that it does not name are allowed.
std::string json_schema();

/// docs/json.md
std::string json_page();

}  // namespace tally::cli
