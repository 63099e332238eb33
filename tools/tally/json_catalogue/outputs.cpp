#include "json_catalogue/outputs.hpp"

#include "json_catalogue/catalogue.hpp"

namespace tally::cli {

std::map<std::string_view, std::vector<const JsonRecord*>> json_outputs() {
  std::map<std::string_view, std::vector<const JsonRecord*>> all;
  for (const JsonRecord& record : json_records()) {
    for (const std::string_view command : record.commands) all[command].push_back(&record);
  }
  return all;
}

}  // namespace tally::cli
