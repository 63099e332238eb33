#include "filter_statistics.hpp"

#include <pybind11/stl.h>

#include "records.hpp"

namespace tally::python {
namespace {

py::dict fields_of(const FilterStatistics& statistics) {
  py::list histogram;
  for (const HistogramBin& bin : statistics.histogram)
    histogram.append(record("HistogramBin", "least"_a = bin.least, "greatest"_a = bin.greatest,
                            "num_counters"_a = bin.num_counters));
  return py::dict("num_positions"_a = statistics.num_positions, "num_nonzero"_a = statistics.num_nonzero,
                  "num_saturated"_a = statistics.num_saturated, "histogram"_a = histogram,
                  "num_insertions"_a = statistics.num_insertions, "num_removes"_a = statistics.num_removes,
                  "num_refused_removes"_a = statistics.num_refused_removes,
                  "estimated_num_keys"_a = statistics.estimated_num_keys,
                  "estimated_num_keys_standard_error"_a = statistics.estimated_num_keys_standard_error,
                  "estimated_false_positive_rate"_a = statistics.estimated_false_positive_rate,
                  "load"_a = statistics.fill_ratio());
}

void add_totals(py::dict& fields, const DLeftTotals& totals) {
  fields["num_full"] = totals.num_full;
  fields["num_rescues"] = totals.num_rescues;
}

}  // namespace

py::object Statistics::to_python() const {
  py::dict fields = fields_of(common);
  if (dleft) {
    const DLeftTableStatistics& table = dleft->table;
    add_totals(fields, dleft->totals);
    fields["num_cells"] = table.num_cells;
    fields["num_fingerprints"] = table.num_fingerprints;
    fields["num_keys"] = table.num_keys;
    fields["num_spilled"] = table.num_spilled;
    fields["spill_capacity"] = table.spill_capacity;
    fields["loads"] = table.loads;
    fields["counts"] = table.counts;
    fields["load"] = table.load_factor();
    return record_of("DLeftStatistics", fields);
  }
  if (compact) {
    add_totals(fields, compact->totals);
    fields["num_cells"] = compact->num_cells;
    fields["num_used_cells"] = compact->num_used_cells;
    fields["num_fingerprints"] = compact->num_fingerprints;
    fields["num_keys"] = compact->num_keys;
    fields["num_spilled"] = compact->num_spilled;
    fields["spill_capacity"] = compact->spill_capacity;
    fields["loads"] = compact->loads;
    fields["load"] = compact->load_factor();
    return record_of("CompactDLeftStatistics", fields);
  }
  return record_of("FilterStatistics", fields);
}

}  // namespace tally::python
