#include "report.hpp"

#include <fmt/core.h>

#include "bench/timing.hpp"
#include "text/output.hpp"

namespace tally::bench {
namespace {

constexpr std::size_t num_operations = operation_names.size();
constexpr auto first_line_read = static_cast<std::size_t>(Operation::one_line);

/// The median of the rounds' ratios.
double ratio(const std::vector<double>& times, const std::vector<double>& limits) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < times.size(); ++i) ratios.push_back(times[i] / limits[i]);
  return cli::median(std::move(ratios));
}

/// A table of a value for each operation before `end`: value_of(times of an operation, times of all).
template <class ValueOf>
std::string table_of(const std::vector<Measured>& all, std::size_t end, bool has_fill, ValueOf value_of) {
  std::vector<std::string> header = {"structure", "bits per key", "rate", "call"};
  if (has_fill) header.emplace_back("fill");
  for (std::size_t i = 0; i < end; ++i) header.emplace_back(operation_names[i].column);
  cli::Table table(std::move(header));
  for (const Measured& measured : all) {
    const bool has_batches = !times_of(measured.batches, Operation::lookup_present).empty();
    for (const bool is_batch : {true, false}) {
      if (is_batch && !has_batches) continue;
      const bool is_first = is_batch || !has_batches;
      const OperationTimes& times = is_batch ? measured.batches : measured.single;
      std::vector<std::string> row = {
          is_first ? measured.name : "", is_first ? fmt::format("{:.2f}", measured.bits_per_key()) : "",
          is_first ? cli::human_rate(measured.false_positive_rate) : "", is_batch ? "batch" : "single"};
      if (has_fill) row.push_back(is_first ? fmt::format("{:.1f}", measured.fill_ns) : "");
      for (std::size_t i = 0; i < end; ++i)
        row.push_back(times[i].empty() ? "-" : fmt::format("{:.1f}", value_of(times[i], times)));
      table.add_row(std::move(row));
    }
  }
  return table.text();
}

cli::Json json_of(const OperationTimes& times) {
  cli::Json json = cli::Json::object();
  for (std::size_t i = 0; i < num_operations; ++i) {
    if (times[i].empty()) continue;
    cli::Json& own = json[operation_names[i].json];
    own = {{"median_ns", cli::median(times[i])},
           {"least_ns", cli::quantile(times[i], 0)},
           {"lower_quartile_ns", cli::quantile(times[i], 0.25)},
           {"upper_quartile_ns", cli::quantile(times[i], 0.75)}};
    if (i >= first_line_read) continue;
    own["ratio_to_one_line"] = ratio(times[i], times_of(times, Operation::one_line));
    own["ratio_to_two_lines"] = ratio(times[i], times_of(times, Operation::two_lines));
  }
  return json;
}

}  // namespace

std::string tables_of(const std::vector<Measured>& all) {
  std::string text = fmt::format("{} keys, ns per key\n", all.front().num_keys);
  text += table_of(all, num_operations, true, [](const auto& own, const auto&) { return cli::median(own); });
  for (const Operation limit : {Operation::one_line, Operation::two_lines}) {
    text += fmt::format("\n{} keys, times {}\n", all.front().num_keys,
                        operation_names[static_cast<std::size_t>(limit)].column);
    text += table_of(all, first_line_read, false, [&](const auto& own, const OperationTimes& times) {
      return ratio(own, times_of(times, limit));
    });
  }
  return text;
}

cli::Json json_of(const std::vector<Measured>& all, bool hashed) {
  cli::Json structures = cli::Json::array();
  for (const Measured& measured : all) {
    cli::Json own = {{"name", measured.name},
                     {"num_keys", measured.num_keys},
                     {"hashed", hashed},
                     {"memory_bytes", measured.num_bytes},
                     {"bits_per_key", measured.bits_per_key()},
                     {"false_positive_rate", measured.false_positive_rate},
                     {"fill_ns", measured.fill_ns},
                     {"batches", json_of(measured.batches)},
                     {"single", json_of(measured.single)}};
    if (measured.planned_rate) own["planned_false_positive_rate"] = *measured.planned_rate;
    structures.push_back(std::move(own));
  }
  return structures;
}

}  // namespace tally::bench
