#include "arguments.hpp"
#include "bindings.hpp"
#include "guard.hpp"
#include "records.hpp"
#include "shapes.hpp"
#include "theory_values.hpp"

namespace tally::python {
namespace {

template <class Number>
py::object number_or_none(const std::optional<Number>& number) {
  return optional_of(number, [](Number own) { return py::cast(own); });
}

/// A sketch and the stream that it gets.
struct SketchAndStream {
  CountMinShape shape;
  ZipfStream stream;
  std::uint64_t error = 0;

  SketchAndStream(py::handle own_shape, py::handle num_ranks, py::handle exponent, py::handle num_insertions,
                  py::handle own_error, py::handle weights)
      : stream{whole_number(num_ranks, "num_ranks"), real_number(exponent, "exponent"),
               whole_number(num_insertions, "num_insertions")},
        error(whole_number(own_error, "error")) {
    const FilterShape any = shape_from(own_shape);
    if (any.kind() != FilterKind::count_min) throw_type_error("shape", own_shape, "a tally.CountMinShape");
    check_shape(any);
    shape = std::get<CountMinShape>(any.shape);
    if (weights.is_none()) return;
    using Pairs = std::vector<std::pair<std::uint64_t, double>>;
    for (const auto& [weight, own_insertions] : argument<Pairs>(weights, "weights"))
      stream.weights.push_back({weight, own_insertions});
  }
};

py::object forecast_counts_of(py::handle shape, py::handle num_ranks, py::handle exponent,
                              py::handle num_insertions, py::handle error, py::handle weights) {
  const SketchAndStream own(shape, num_ranks, exponent, num_insertions, error, weights);
  const auto make = [&] {
    const Unlocked unlocked;
    return forecast_counts(own.shape, own.stream, own.error);
  };
  const CountForecast found = make();
  return record(
      "CountForecast", "plain_mean_excess"_a = found.plain_mean_excess,
      "conservative_mean_excess"_a = number_or_none(found.conservative_mean_excess),
      "plain_failure_probability"_a = found.plain_failure_probability,
      "conservative_failure_probability"_a = number_or_none(found.conservative_failure_probability));
}

py::object least_count_min_width_of(py::handle shape, py::handle num_ranks, py::handle exponent,
                                    py::handle num_insertions, py::handle error,
                                    py::handle failure_probability, py::handle weights) {
  const SketchAndStream own(shape, num_ranks, exponent, num_insertions, error, weights);
  const double wanted = real_number(failure_probability, "failure_probability");
  const auto make = [&] {
    const Unlocked unlocked;
    return least_count_min_width(own.shape, own.stream, own.error, wanted);
  };
  return number_or_none(make());
}

}  // namespace

void bind_planner_forecast(py::module_& module) {
  define(
      module, "forecast_counts(shape, *, num_ranks, exponent, num_insertions, error, weights=None)",
      forecast_counts_of,
      "By how much a Count-Min sketch of this shape reports absent keys too high, and how often by more than "
      "error, as a\n"
      "tally.CountForecast: after num_insertions of num_ranks keys drawn by Zipf's law. weights: pairs of a "
      "weight and the\n"
      "number of insertions that add it; without them each adds 1.",
      "shape"_a, py::kw_only(), "num_ranks"_a, "exponent"_a, "num_insertions"_a, "error"_a,
      "weights"_a = py::none());
  define(module,
         "least_count_min_width(shape, *, num_ranks, exponent, num_insertions, error, failure_probability, "
         "weights=None)",
         least_count_min_width_of,
         "The least width, at most that of the shape, with which such a sketch reports an absent key too "
         "high by "
         "more than error\n"
         "with at most failure_probability, for this stream; None if the shape is not wide enough or the law "
         "not known.",
         "shape"_a, py::kw_only(), "num_ranks"_a, "exponent"_a, "num_insertions"_a, "error"_a,
         "failure_probability"_a, "weights"_a = py::none());
}

}  // namespace tally::python
