#include <array>

#include "arguments.hpp"
#include "bindings.hpp"
#include "guard.hpp"
#include "records.hpp"
#include "shapes.hpp"

namespace tally::python {
namespace {

template <class Values, class Make>
py::list list_of(const Values& values, Make make) {
  py::list list;
  for (const auto& value : values) list.append(make(value));
  return list;
}

py::object forecast_of(const DLeftForecast& forecast) {
  return record("DLeftForecast", "load"_a = forecast.load, "carried_load"_a = forecast.carried_load,
                "carried_load_without_moves"_a = forecast.carried_load_without_moves,
                "max_moves_per_insertion"_a = forecast.max_moves_per_insertion,
                "moves_per_insertion"_a = forecast.moves_per_insertion,
                "failure_probability"_a = forecast.failure_probability,
                "lifetime_operations"_a = forecast.lifetime_operations,
                "expected_spills"_a = forecast.expected_spills, "has_fast_loops"_a = forecast.has_fast_loops,
                "sizes"_a = list_of(forecast.sizes, [](const DLeftSize& size) {
                  return record("DLeftSize", "num_doublings"_a = size.num_doublings,
                                "num_keys"_a = size.num_keys, "memory_bytes"_a = size.memory_bytes,
                                "false_positive_rate"_a = size.false_positive_rate);
                }));
}

py::object costs_of(const OperationCosts& costs) {
  return record(
      "OperationCosts", "insert_ns"_a = costs.insert_ns, "lookup_absent_ns"_a = costs.lookup_absent_ns,
      "lookup_present_ns"_a = costs.lookup_present_ns,
      "remove_ns"_a = optional_of(costs.remove_ns, [](double ns) -> py::object { return py::float_(ns); }),
      "line_read_ns"_a = costs.line_read_ns, "source"_a = std::string(name_of(costs.source)));
}

py::object candidate_of(const Candidate& candidate) {
  const CacheLines& lines = candidate.cache_lines;
  return record(
      "Candidate", "name"_a = candidate.name(), "kind"_a = std::string(name_of(candidate.kind())),
      "shape"_a = to_python(candidate.shape), "num_keys"_a = candidate.num_keys,
      "memory_bytes"_a = candidate.shape.num_bytes(), "bits_per_key"_a = candidate.bits_per_key(),
      "false_positive_rate"_a = candidate.false_positive_rate,
      "promised_true_count"_a = candidate.promised_true_count,
      "errors"_a = list_of(candidate.errors,
                           [](const PredictedError& error) {
                             return record("PredictedError", "true_count"_a = error.true_count,
                                           "false_positive_rate"_a = error.false_positive_rate,
                                           "ln_false_positive_rate"_a = error.ln_false_positive_rate);
                           }),
      "error_law"_a = std::string(name_of(candidate.error_law)),
      "simple_threshold_rate"_a = optional_of(candidate.simple_threshold_rate,
                                              [](double rate) -> py::object { return py::float_(rate); }),
      "saturation_probability"_a = candidate.saturation_probability,
      "expected_saturated_counters"_a = candidate.expected_saturated_counters,
      "cache_lines"_a =
          record("CacheLines", "insert"_a = lines.insert, "lookup_absent"_a = lines.lookup_absent,
                 "lookup_present"_a = lines.lookup_present),
      "operation_costs"_a = costs_of(candidate.operation_costs),
      "rounding_cost"_a = optional_of(candidate.rounding_cost,
                                      [](const RoundingCost& cost) {
                                        return record("RoundingCost",
                                                      "whole_hashes_percent"_a = cost.whole_hashes_percent,
                                                      "whole_words_percent"_a = cost.whole_words_percent,
                                                      "is_of_memory"_a = cost.is_of_memory);
                                      }),
      "dleft"_a = optional_of(candidate.dleft, forecast_of), "summary"_a = candidate.summary,
      "source"_a = candidate.source);
}

std::vector<MeasuredFilter> figures_from(py::handle figures) {
  std::vector<MeasuredFilter> all;
  if (figures.is_none()) return all;
  constexpr const char* rule = "a list of pairs of a shape and tally.OperationCosts";
  if (Py_TYPE(figures.ptr())->tp_iter == nullptr) throw_type_error("figures", figures, rule);
  for (const py::handle figure : figures) {
    if (!PyTuple_Check(figure.ptr()) || PyTuple_GET_SIZE(figure.ptr()) != 2)
      throw_type_error("figures", figure, rule);
    const py::handle costs = PyTuple_GET_ITEM(figure.ptr(), 1);
    if (!py::isinstance(costs, in_records("OperationCosts"))) throw_type_error("figures", figure, rule);
    const auto time = [&](const char* field) { return real_number(costs.attr(field), field); };
    all.push_back(
        {shape_from(PyTuple_GET_ITEM(figure.ptr(), 0)),
         {time("insert_ns"), time("lookup_absent_ns"), time("lookup_present_ns"),
          argument<std::optional<double>>(costs.attr("remove_ns"), "remove_ns"), time("line_read_ns")}});
  }
  return all;
}

py::object plan_of(const py::kwargs& arguments) {
  constexpr std::array others = {"figures"};
  const RequirementsArgument wanted("plan", arguments, others);
  const std::vector<MeasuredFilter> figures =
      arguments.contains("figures") ? figures_from(arguments["figures"]) : std::vector<MeasuredFilter>();
  const auto make = [&] {
    const Unlocked unlocked;
    return plan(wanted.requirements, figures);
  };
  const Plan found = make();
  return record(
      "Plan", "candidates"_a = list_of(found.candidates, candidate_of), "reason"_a = found.reason,
      "warnings"_a = list_of(found.warnings, [](const std::string& warning) { return py::str(warning); }),
      "exact_table_bytes"_a = found.exact_table_bytes);
}

py::object fit_of(const StructureFit& fit) {
  return record("StructureFit", "kind"_a = std::string(name_of(fit.kind)),
                "promised_true_count"_a = fit.promised_true_count,
                "needed"_a = optional_of(fit.needed, candidate_of),
                "with_memory"_a = optional_of(fit.with_memory, candidate_of),
                "with_most_keys"_a = optional_of(fit.with_most_keys, candidate_of), "fits"_a = fit.fits);
}

py::object check_plan_of(const py::kwargs& arguments) {
  const RequirementsArgument wanted("check_plan", arguments);
  const auto make = [&] {
    const Unlocked unlocked;
    return check_plan(wanted.requirements);
  };
  const PlanCheck found = make();
  const auto candidate_or_none = [](const Candidate* candidate) {
    return candidate != nullptr ? candidate_of(*candidate) : py::object(py::none());
  };
  return record(
      "PlanCheck", "is_enough"_a = found.is_enough(), "num_keys"_a = found.num_keys,
      "false_positive_rate"_a = found.false_positive_rate, "memory_bytes"_a = found.memory_bytes,
      "structures"_a = list_of(found.structures, fit_of),
      "with_least_memory"_a = candidate_or_none(found.with_least_memory()),
      "with_lowest_rate"_a = candidate_or_none(found.with_lowest_rate()),
      "with_most_keys"_a = candidate_or_none(found.with_most_keys()),
      "warnings"_a = list_of(found.warnings, [](const std::string& warning) { return py::str(warning); }));
}

FilterKind kind_from(py::handle kind) { return filter_kind(text(kind, "kind")); }

py::object plan_shares_of(py::handle kind, py::handle num_keys, py::handle max_bytes_per_share,
                          py::handle failure_probability, py::handle num_shares, py::handle multiple_of,
                          const py::kwargs& arguments) {
  const RequirementsArgument of_share("plan_shares", arguments);
  ShareRequirements wanted;
  wanted.num_keys = whole_number(num_keys, "num_keys");
  if (!max_bytes_per_share.is_none())
    wanted.max_bytes_per_share = whole_number(max_bytes_per_share, "max_bytes_per_share");
  wanted.failure_probability = real_number(failure_probability, "failure_probability");
  wanted.num_shares = argument<std::uint32_t>(num_shares, "num_shares");
  wanted.multiple_of = argument<std::uint32_t>(multiple_of, "multiple_of");
  const SharePlan found = plan_shares(wanted, kind_from(kind), of_share.requirements);
  return record("SharePlan", "num_shares"_a = found.num_shares, "keys_per_share"_a = found.keys_per_share,
                "bytes_per_share"_a = found.bytes_per_share,
                "failure_probability"_a = found.failure_probability);
}

constexpr const char* plan_text =
    "Every structure that meets the requirements, as a tally.Plan; makes none. All are keyword arguments:\n\n"
    "num_keys            distinct keys at any one time: 1 to 2^56\n"
    "false_positive_rate for a key that is not in it when all keys are: in (0, 1)\n"
    "memory_bytes        of the structure, which is never exceeded: at least 8\n"
    "                    exactly two of these three\n"
    "threshold           theta, in insertions of one key: 1 to 2^32 - 1\n"
    "needs_deletes, needs_counts   keys will be removed; queries will ask for counts\n"
    "keys_repeat         False: no key is in it twice at once\n"
    "counts              the counts of a sample of keys, in place of num_keys\n"
    "num_insertions, num_frequent_keys, true_count   what else is known of the keys\n"
    "lifetime_operations replacements over its whole life; failure_probability: that any insertion is "
    "refused\n"
    "max_moves_per_insertion   share of the insertions that may move a key: 0 to 0.5\n"
    "keeps_rate_when_doubled   of a d-left filter, at its last size (plan, check_plan)\n"
    "max_doublings, num_subtables, counter_bits, scheme, update, max_saturation_probability   of the "
    "structure\n"
    "prefers_speed, preference ('fastest', 'smallest', 'balanced')   the order of the candidates\n"
    "epsilon, total_count   for Count-Min sketches (plan_shape)\n"
    "figures             pairs of a shape and OperationCosts, measured on this machine\n\n"
    "Raises ValueError for requirements out of range or that no structure can meet.";

}  // namespace

void bind_planner(py::module_& module) {
  define(module, "plan(**requirements)", plan_of, plan_text);
  define(module, "check_plan(**requirements)", check_plan_of,
         "Whether a memory is enough, as a tally.PlanCheck: num_keys, false_positive_rate and memory_bytes "
         "are all given, and "
         "the other\n"
         "requirements are those of plan. For each structure, it has the least memory, the lowest rate in "
         "all of the "
         "memory, and the\n"
         "most keys.");
  define(
      module, "plan_shape(kind, **requirements)",
      [](py::handle kind, const py::kwargs& arguments) {
        const RequirementsArgument wanted("plan_shape", arguments);
        return to_python(plan_shape(kind_from(kind), wanted.requirements));
      },
      "The shape of one kind ('bloom', 'blocked-bloom', 'counting-bloom', 'threshold', 'dleft', "
      "'count-min',\n"
      "'compact-dleft' or 'blocked-counting-bloom') that meets the requirements, which are those of plan.",
      "kind"_a);
  define(
      module,
      "plan_shares(kind, num_keys, *, max_bytes_per_share=None, failure_probability=1e-06, num_shares=0, "
      "multiple_of=1, **of_share)",
      plan_shares_of,
      "One filter divided over shares of one shape by tally.shards, as a tally.SharePlan: the number of "
      "shares, and how many\n"
      "keys each must be planned for, so that with at most failure_probability some share gets more. "
      "num_shares 0: the\n"
      "fewest that fit max_bytes_per_share. of_share: requirements of one share, without its number of keys.",
      "kind"_a, "num_keys"_a, py::kw_only(), "max_bytes_per_share"_a = py::none(),
      "failure_probability"_a = 1e-6, "num_shares"_a = 0, "multiple_of"_a = 1);
  define(
      module, "planned_num_keys(shape, false_positive_rate)",
      [](py::handle shape, py::handle rate) {
        return planned_num_keys(shape_from(shape), real_number(rate, "false_positive_rate"));
      },
      "The largest number of distinct keys with which a filter of this shape meets the rate; 0 if not even "
      "one.",
      "shape"_a, "false_positive_rate"_a);
  define(
      module, "shape_bytes(shape)",
      [](py::handle shape) {
        const FilterShape own = shape_from(shape);
        check_shape(own);
        return own.num_bytes();
      },
      "Bytes of memory that a structure of this shape takes.", "shape"_a);
}

}  // namespace tally::python
