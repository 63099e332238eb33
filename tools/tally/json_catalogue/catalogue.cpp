#include "json_catalogue/catalogue.hpp"

#include <algorithm>
#include <stdexcept>

namespace tally::cli {

const std::vector<JsonRecord>& json_records() {
  static const std::vector<JsonRecord> all = [] {
    std::vector<JsonRecord> list;
    for (const auto& family : {common_records(), stream_records(), store_records(), filter_records(),
                               plan_records(), theory_records(), exchange_records()}) {
      list.insert(list.end(), family.begin(), family.end());
    }
    return list;
  }();
  return all;
}

const JsonRecord& json_record(std::string_view name) {
  const auto found = std::ranges::find(json_records(), name, &JsonRecord::name);
  if (found == json_records().end()) throw std::logic_error("no record " + std::string(name));
  return *found;
}

}  // namespace tally::cli
