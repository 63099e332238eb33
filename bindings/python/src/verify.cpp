#include "arguments.hpp"
#include "bindings.hpp"
#include "filter.hpp"
#include "records.hpp"
#include "shapes.hpp"
#include "tally/any_filter/verification.hpp"

namespace tally::python {
namespace {

/// Ctrl-C ends the simulation before its next trial.
bool is_interrupted() {
  const py::gil_scoped_acquire locked;
  return PyErr_CheckSignals() != 0;
}

py::object verify_shape(py::handle of, py::handle num_keys, py::handle threshold, py::handle num_trials,
                        py::handle num_queries, py::handle seed, py::handle confidence) {
  const bool is_filter = py::isinstance<Filter>(of);
  const FilterShape shape =
      is_filter ? py::cast<const Filter&>(of).read(1, [](const AnyFilter& own) { return own.shape(); })
                : shape_from(of);
  std::optional<std::uint64_t> keys;
  if (!num_keys.is_none()) keys = whole_number(num_keys, "num_keys", {1, max_num_positions});
  if (!keys && is_filter)
    keys =
        py::cast<const Filter&>(of).read(1, [](const AnyFilter& own) { return own.totals().num_insertions; });
  if (!keys) throw py::type_error("num_keys is missing; give the number of keys per filter");
  const auto trials = num_trials.is_none() ? std::optional<std::uint64_t>()
                                           : whole_number(num_trials, "num_trials", {2, 100'000'000});
  const auto queries = num_queries.is_none() ? std::optional<std::uint64_t>()
                                             : whole_number(num_queries, "num_queries", {1, 1'000'000'000});
  const SimulationWishes wishes{argument<std::optional<std::uint64_t>>(threshold, "threshold"), trials,
                                queries, seed.is_none() ? default_seed : whole_number(seed, "seed")};
  const double own_confidence = real_number(confidence, "confidence");
  check_shape(shape);
  SimulationPlan plan = plan_simulation(shape, *keys, wishes);
  plan.should_stop = is_interrupted;
  const auto run = [&] {
    const Unlocked unlocked;
    return verify(plan, own_confidence);
  };
  const Verification found = run();
  if (PyErr_Occurred()) throw py::error_already_set();
  py::list verdicts;
  for (const Verdict& verdict : found.verdicts) {
    verdicts.append(record("Verdict", "true_count"_a = verdict.measured.true_count,
                           "num_queries"_a = verdict.measured.num_queries,
                           "num_passed"_a = verdict.measured.num_passed,
                           "measured"_a = verdict.measured.rate(), "predicted"_a = verdict.predicted,
                           "low"_a = verdict.limits.low, "high"_a = verdict.limits.high,
                           "law"_a = std::string(name_of(verdict.law)), "is_inside"_a = verdict.inside,
                           "noticed_rate"_a = verdict.noticed_rate, "is_seen"_a = verdict.is_seen));
  }
  return record("Verification", "shape"_a = to_python(plan.shape), "threshold"_a = plan.threshold,
                "num_insertions"_a = plan.num_insertions, "num_trials"_a = plan.num_trials,
                "num_queries"_a = plan.num_queries, "verdicts"_a = verdicts,
                "num_false_negatives"_a = found.result.num_false_negatives,
                "num_positives_checked"_a = found.result.num_positives_checked,
                "was_full"_a = found.result.was_full, "is_good"_a = found.is_good());
}

}  // namespace

void bind_verify(py::module_& module) {
  define(module,
         "verify(shape, num_keys=None, *, threshold=None, num_trials=None, num_queries=None, seed=None, "
         "confidence=0.999)",
         verify_shape,
         "Fills filters of this shape (or of this filter's, with as many keys as it has) with num_keys "
         "random keys each, and\n"
         "compares the measured false positive rates with the predicted ones, as a tally.Verification. "
         "`threshold` is that of\n"
         "a Count-Min sketch's queries; all limits hold together with `confidence`. Takes some seconds by "
         "default; Ctrl-C ends it.",
         "shape"_a, "num_keys"_a = py::none(), py::kw_only(), "threshold"_a = py::none(),
         "num_trials"_a = py::none(), "num_queries"_a = py::none(), "seed"_a = py::none(),
         "confidence"_a = 0.999);
}

}  // namespace tally::python
