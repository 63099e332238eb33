#include <algorithm>
#include <exception>
#include <iterator>
#include <new>
#include <stdexcept>
#include <string>

#include "functions.hpp"
#include "tally/version.hpp"

namespace tally::page {
namespace {

struct Function {
  std::string_view name;
  Json (*call)(const Json& arguments);
};

Json version_of(const Json&) { return {{"version", std::string(version())}}; }

constexpr Function functions[] = {
    {"plan", plan},
    {"plan_sketch", plan_sketch},
    {"error_by_keys", error_by_keys},
    {"error_by_memory", error_by_memory},
    {"summary_costs", summary_costs},
    {"simulate", simulate},
    {"filter_new", filter_new},
    {"filter_insert", filter_insert},
    {"filter_remove", filter_remove},
    {"filter_query", filter_query},
    {"filter_dump", filter_dump},
    {"filter_free", filter_free},
    {"theory", theory},
    {"count_min_excess", count_min_excess},
    {"kinds", kinds},
    {"version", version_of},
};

std::string names_of_functions() {
  std::string names;
  for (const Function& function : functions) names.append(names.empty() ? "" : ", ").append(function.name);
  return names;
}

Json result_of(std::string_view name, std::string_view arguments) {
  const auto* const function = std::find_if(std::begin(functions), std::end(functions),
                                            [&](const Function& own) { return own.name == name; });
  if (function == std::end(functions)) {
    throw std::invalid_argument("there is no function '" + std::string(name) + "'; must be one of " +
                                names_of_functions());
  }
  return function->call(Json::parse(arguments));
}

std::string answer_of(std::string_view name, std::string_view arguments) {
  try {
    return Json{{"result", result_of(name, arguments)}}.dump();
  } catch (const std::bad_alloc&) {
    return Json{{"error", "not enough memory for " + std::string(name)}}.dump();
  } catch (const std::exception& error) {
    return Json{{"error", error.what()}}.dump();
  }
}

}  // namespace
}  // namespace tally::page

/// {"result": ...} or {"error": "sentence"}, as text that stays until the next call. Never throws.
extern "C" const char* tally_call(const char* function, const char* arguments) noexcept {
  static std::string answer;
  try {
    answer = tally::page::answer_of(function, arguments);
    return answer.c_str();
  } catch (...) {
    return R"({"error":"not enough memory for the answer"})";
  }
}
