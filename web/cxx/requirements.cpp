#include "requirements.hpp"

#include <stdexcept>
#include <utility>

#include "input/histogram_text.hpp"
#include "shape/histogram_limit.hpp"

namespace tally::page {
namespace {

/// [[count, number of keys], ...]
theory::CountHistogram histogram_of_pairs(const Arguments& arguments, const Json& list, std::uint64_t limit) {
  constexpr std::string_view rule = "a text, or a list of pairs of a count and a number of keys";
  if (list.elements().empty()) arguments.refuse("histogram", list, rule);
  std::vector<std::pair<std::uint64_t, double>> counts;
  for (const Json& pair : list.elements()) {
    if (pair.elements().size() != 2) arguments.refuse("histogram", pair, rule);
    const Json fields{{"count", pair.elements()[0]}, {"num_keys", pair.elements()[1]}};
    Arguments of_pair(fields, "histogram.");
    const auto count = of_pair.required<std::uint64_t>("count");
    counts.emplace_back(count, of_pair.required<double>("num_keys"));
  }
  return theory::make_count_histogram(counts, limit);
}

theory::CountHistogram histogram_of(const Arguments& arguments, const Json& histogram, std::uint64_t limit) {
  if (const auto* const text = histogram.get_if<std::string>())
    return cli::histogram_of_text(*text, "'histogram'", limit);
  return histogram_of_pairs(arguments, histogram, limit);
}

theory::CountHistogram zipf_histogram(const Json& zipf, std::uint64_t limit) {
  Arguments fields(zipf, "zipf.");
  const auto num_keys = fields.required<std::uint64_t>("num_keys");
  const auto exponent = fields.required<double>("exponent");
  const auto num_insertions = fields.required<std::uint64_t>("num_insertions");
  fields.refuse_others();
  return theory::zipf_count_histogram(num_keys, exponent, num_insertions, limit);
}

/// What the planner does not check, or reports in terms of num_keys.
void check_histogram(const Requirements& wanted, std::string_view name) {
  const std::string start = "'" + std::string(name) + "': ";
  if (wanted.num_keys || wanted.num_insertions)
    throw std::invalid_argument(start +
                                "it contains the numbers of keys and insertions; leave out num_keys and "
                                "num_insertions");
  if (wanted.histogram->num_distinct() == 0)
    throw std::invalid_argument(start + "it contains no keys; give one with at least one key");
}

}  // namespace

Requirements requirements_of(Arguments& arguments) {
  Requirements wanted;
  arguments.read("num_keys", wanted.num_keys);
  arguments.read("false_positive_rate", wanted.false_positive_rate);
  arguments.read("memory_bytes", wanted.memory_bytes);
  arguments.read("threshold", wanted.threshold);
  arguments.read("needs_deletes", wanted.needs_deletes);
  arguments.read("needs_counts", wanted.needs_counts);
  if (const Json* const scheme = arguments.find("scheme")) {
    const auto* const name = scheme->get_if<std::string>();
    if (name == nullptr) arguments.refuse("scheme", *scheme, "the name of a scheme");
    wanted.scheme = *name;
  }
  arguments.read_choice("update", wanted.update, {CounterUpdate::plain, CounterUpdate::conservative});
  arguments.read("true_count", wanted.true_count);
  arguments.read("num_insertions", wanted.num_insertions);
  arguments.read("num_frequent_keys", wanted.num_frequent_keys);
  arguments.read("keys_repeat", wanted.keys_repeat);
  arguments.read("lifetime_operations", wanted.lifetime_operations);
  arguments.read("failure_probability", wanted.failure_probability);
  arguments.read("max_moves_per_insertion", wanted.max_moves_per_insertion);
  arguments.read("counter_bits", wanted.counter_bits);
  arguments.read("max_saturation_probability", wanted.max_saturation_probability);
  arguments.read("max_doublings", wanted.max_doublings);
  arguments.read("num_subtables", wanted.num_subtables);
  arguments.read("prefers_speed", wanted.prefers_speed);
  arguments.read_choice("preference", wanted.preference,
                        {PlanPreference::fastest, PlanPreference::smallest, PlanPreference::balanced});

  const Json* const histogram = arguments.find("histogram");
  const Json* const zipf = arguments.find("zipf");
  const std::uint64_t limit = cli::histogram_limit(wanted.theta());
  if (histogram != nullptr && zipf != nullptr)
    throw std::invalid_argument("'histogram' and 'zipf' are given; leave one of them out");
  if (histogram != nullptr) {
    wanted.histogram = histogram_of(arguments, *histogram, limit);
    check_histogram(wanted, "histogram");
  } else if (zipf != nullptr) {
    wanted.histogram = zipf_histogram(*zipf, limit);
    check_histogram(wanted, "zipf");
  }
  return wanted;
}

}  // namespace tally::page
