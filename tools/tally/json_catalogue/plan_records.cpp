#include "json_catalogue/catalogue.hpp"

namespace tally::cli {

std::vector<JsonRecord> plan_records() {
  using Form = JsonRecord::Form;
  return {
      {.name = "plan",
       .form = Form::document,
       .commands = {"plan"},
       .summary = "The structures that meet the requirements",
       .table = R"(
recommended | string | | kind of the first candidate
preference | string or null | | fastest, smallest or balanced; null if none was given
reason | string | | why the first candidate is recommended
warnings | [string] | | what to know of the plan, in words
exact_table_bytes | number | bytes | memory of an exact hash table, for comparison
candidates | [candidate] | | the structures, the recommended one first
merge | merged_structures or null | | the errors before and after a merge; null without --merge
peers | asked_peers or null | | the errors and the memory of the summaries of all peers; null without --peers
window | window_filters or null | | the filters of the slots of a window; null without --window
)"},
      {.name = "plan_check",
       .form = Form::document,
       .commands = {"plan"},
       .summary = "With --keys, --false-positive-rate and --memory: is the memory enough?",
       .table = R"(
is_enough | boolean | | whether any structure meets all three
num_keys | integer | keys | distinct keys
false_positive_rate | number | probability | that was asked for
memory_bytes | integer | bytes | that was given
structures | [structure_fit] | | those that fit first, then the others by the memory that they need
with_least_memory | candidate or null | | the least memory for keys and rate
with_lowest_rate | candidate or null | | the lowest rate with keys and memory
with_most_keys | candidate or null | | the most keys with rate and memory
warnings | [string] | | what to know of the plan for keys and rate, in words
merge | merged_structures or null | | as in `plan`, for the structures that are needed
peers | asked_peers or null | | as in `plan`, for the structures that are needed
window | window_filters or null | | as in `plan`, for the structures that are needed
)"},
      {.name = "structure_fit", .summary = "What one structure makes of keys, rate and memory", .table = R"(
kind | string | | its kind
promised_true_count | integer | occurrences | the false positive rate is guaranteed up to this true count
fits | boolean | | whether it meets all three
memory_left_bytes | integer or null | bytes | the memory without that of `needed`; below 0 if some is missing
needed | candidate or null | | its least memory for keys and rate; null if no shape meets them
with_memory | candidate or null | | its lowest rate for the keys in all of the memory; null if the keys do not fit
with_most_keys | candidate or null | | its most keys at the rate in all of the memory; null if no shape meets them
)"},
      {.name = "merged_structures",
       .summary = "With --merge: structures of one shape that are merged",
       .table = R"(
num_structures | integer | structures | number of structures, which have no keys in common
candidates | [merged_structure] | | one for each candidate
)"},
      {.name = "merged_structure", .summary = "A candidate before and after a merge", .table = R"(
name | string | | its kind; for a dleft filter, also its buckets
num_keys_of_each | integer | keys | distinct keys of each structure
false_positive_rate_of_each | number or null | probability | before the merge; null if it depends on all counts
num_keys | integer | keys | distinct keys after the merge
false_positive_rate | number | probability | after the merge
)"},
      {.name = "asked_peers", .summary = "With --peers: summaries that are asked at each lookup", .table = R"(
num_peers | integer | peers | number of peers
candidates | [asked_candidate] | | one for each candidate
)"},
      {.name = "asked_candidate", .summary = "A candidate as the filter of each peer", .table = R"(
name | string | | its kind; for a dleft filter, also its buckets
summary_bytes | integer or null | bytes | the summary of one peer; null if the kind has none
all_summaries_bytes | integer or null | bytes | those of all peers, which each node stores
false_positive_rate_of_peer | number | probability | that the summary of one peer errs
false_positive_rate | number | probability | that a lookup over all peers errs, if no peer has the key
)"},
      {.name = "window_filters", .summary = "With --window: a filter for each slot", .table = R"(
num_slots | integer | slots | slots of the window
num_filters | integer | filters | one more than slots: the last one leaves the window in part
candidates | [window_filter] | | one for each candidate
)"},
      {.name = "window_filter", .summary = "A candidate as the filter of each slot", .table = R"(
name | string | | its kind; for a dleft filter, also its buckets
num_keys_of_each | integer | keys | distinct keys of each filter
memory_bytes | integer | bytes | memory of all filters
false_positive_rate_of_each | number | probability | that one filter errs
false_positive_rate | number | probability | that a lookup, which asks all, errs
)"},
      {.name = "candidate", .summary = "A structure that meets the requirements", .table = R"(
kind | string | | its kind
scheme | string | | its scheme
shape | positions_shape or dleft_shape or compact_dleft_shape | | its size; `tally build --shape` reads it
num_positions | integer | positions | bits, counters or cells
num_hashes | integer | positions | positions per key; for d-left filters, subtables
counter_bits | integer | bits | width of a counter; 1 if there are only bits
num_keys | integer | keys | distinct keys that it is planned for
memory_bytes | integer | bytes | its memory
bits_per_key | number | bits | its memory per distinct key
false_positive_rate | number | probability | predicted for a key with promised_true_count occurrences
promised_true_count | integer | occurrences | the false positive rate is guaranteed up to this true count
errors | [predicted_error] | | the predicted rates, by true count
error_law | string | | what the rates are calculated from: bound, insertions, histogram or
  conservative
simple_threshold_rate | number or null | probability | result of the simple threshold formula, which takes insertions for
  independent; null without a histogram, or if the threshold is 1
saturation_probability | number | probability | that any counter reaches its maximum in the planned life, at most; 0 if that is harmless
expected_saturated_counters | number | counters | expected number at their maximum at the end of the planned life, at most
cache_lines | cache_lines | | memory accesses per key
operation_costs | operation_costs | | times per key
rounding_cost | rounding_cost or null | | the price of whole numbers; null if no formula tells
dleft | dleft_forecast or null | | only for d-left filters, else null
summary | string | | what the structure is good for
source | string | | formula and paper
)"},
      {.name = "predicted_error",
       .summary = "The false positive rate for keys with one true count",
       .table = R"(
true_count | integer | occurrences | how often the key was inserted
false_positive_rate | number | probability | that a query finds the threshold all the same
ln_false_positive_rate | number or null | | its natural logarithm, which is finite where the rate underflows; null for 0
)"},
      {.name = "cache_lines",
       .summary = "Memory accesses per key: expected numbers of 64-byte lines, one position after the other",
       .table = R"(
insert | number | cache lines | of an insertion
lookup_absent | number | cache lines | of a lookup of a key that is not there
lookup_present | number | cache lines | of a lookup of a key that is there
)"},
      {.name = "operation_costs", .summary = "Processor time per key, in batches", .table = R"(
source | string | | where the times come from: table, carried-over (--figures of another shape) or figures
insert_ns | number | ns | of an insertion
remove_ns | number or null | ns | of a removal; null if the structure cannot remove
lookup_present_ns | number | ns | of a lookup of a key that is there
lookup_absent_ns | number | ns | of a lookup of a key that is not there
line_read_ns | number | ns | of a read of one random 64-byte line in memory of this size
)"},
      {.name = "rounding_cost",
       .summary = "The price of whole numbers, compared with the best shape in real numbers",
       .table = R"(
of | string | | what is larger: memory or error
whole_hashes_percent | number | percent | larger because the number of hashes is whole
whole_words_percent | number | percent | larger because positions fill whole words
)"},
      {.name = "dleft_forecast", .summary = "Predictions for a d-left filter", .table = R"(
load | number | share | share of the cells in use when all keys are in the filter
carried_load | number | share | the largest share at the required failure probability and moves per insertion
carried_load_without_moves | number | share | the largest share at the required failure probability if nothing were moved
max_moves_per_insertion | number | share | of the insertions may move a key; 0 if it is planned as if nothing were moved
moves_per_insertion | number | share | of the insertions are expected to move a key when the filter is full
failure_probability | number | probability | that any insertion of the filter's life is refused, at most
lifetime_operations | integer | operations | replacements of keys in the planned life
expected_spills | number | fingerprints | expected number in the side table; without a histogram, the largest one
has_fast_loops | boolean | | whether batches use vector instructions
sizes | [dleft_size] | | at first, and after each possible doubling
)"},
      {.name = "dleft_size", .summary = "A d-left filter after a number of doublings", .table = R"(
num_doublings | integer | doublings | doublings so far
num_keys | integer | keys | distinct keys that it is planned for at that size
memory_bytes | integer | bytes | its memory
false_positive_rate | number | probability | predicted with these keys
)"},
      {.name = "sketch_plan",
       .form = Form::document,
       .commands = {"plan"},
       .summary = "With --epsilon or --total-count: count-min sketches",
       .table = R"(
recommended | string | | count-min
reason | string | | why the first candidate is recommended
candidates | [sketch_candidate] | | the sketches, the recommended one first
)"},
      {.name = "sketch_candidate", .summary = "A count-min sketch that meets the requirements", .table = R"(
kind | string | | count-min
scheme | string | | its scheme of rows
shape | count_min_shape | | its size; `tally build --shape` reads it
memory_bytes | integer | bytes | its memory
epsilon | number | share | a count is too high by at most this share of all, except with failure_probability
failure_probability | number | probability | that one count is too high by more than that
forecast | count_forecast or null | | what it is expected to report after the stream; null without --zipf
source | string | | formula and paper
)"},
      {.name = "count_forecast",
       .summary = "What a count-min sketch is expected to report after a stream by Zipf's law",
       .table = R"(
plain_mean_excess | number | occurrences | by how much a key that was never inserted is reported too high, on average
conservative_mean_excess | number or null | occurrences | the same with conservative update: predicted; null with --weights
plain_failure_probability | number or null | probability | that the count of such a key is too high by more than epsilon
  times the expected sum; null for rows that depend on each other
conservative_failure_probability | number or null | probability | the same with conservative update, at most; also null with --weights
plain_width | integer or null | counters | a width that keeps epsilon and failure_probability for such a stream; null if it is not known
plain_memory_bytes | integer or null | bytes | memory with that width
conservative_width | integer or null | counters | with conservative update, a width that is predicted to keep epsilon and
  failure_probability for such a stream; null if it is not known
conservative_memory_bytes | integer or null | bytes | memory with that width
)"},
      {.name = "verification",
       .form = Form::document,
       .commands = {"verify"},
       .summary = "Simulated rates, compared with theory",
       .table = R"(
shape | positions_shape or dleft_shape or compact_dleft_shape or count_min_shape | | the shape that was simulated
num_insertions | integer | keys | insertions per filter, including repeats
num_insertions_of_original | integer or null | keys | those of the filter itself, if a smaller one was simulated
num_trials | integer | filters | filters that were filled
seed | integer | | seed of the simulation
family_confidence | number | probability | that all measured rates are inside their limits if theory is right
one_sided | boolean | | whether a rate may be lower than predicted: with conservative update
tests | [rate_test] | | the rates, by true count
promise | promise_test or null | | the test of the promised rate, if --false-positive-rate was given
num_false_negatives | integer | keys | inserted keys that were not found; never above 0
num_positives_checked | integer | keys | inserted keys that were looked up
verdict | string | | inside, or outside if a measurement contradicts theory
)"},
      {.name = "rate_test", .summary = "A measured rate and the predicted one", .table = R"(
true_count | integer | occurrences | how often the keys were inserted
num_queries | integer | keys | keys that were looked up
num_passed | integer | keys | keys that were found
measured_rate | number | share | num_passed / num_queries
predicted_rate | number | probability | by theory
law | string | | how exact theory is here: exact, independent, limit and others
low | number | share | lower limit of what may be measured
high | number | share | upper limit of what may be measured
design_effect | number | | variance of the measurement, divided by that of independent queries; at least 1
noticed_rate | number | probability | a rate this high would be outside in 9 of 10 simulations
seen | boolean | | false: the rate is so small that even no false positive at all would be inside
verdict | string | | inside or outside of the limits
)"},
      {.name = "promise_test", .summary = "A measured rate and the promised one", .table = R"(
false_positive_rate | number | probability | the promise; of a sketch, how often a count is too high by more than error
error | integer or null | occurrences | for a sketch, the error that a count may have; else null
true_count | integer | occurrences | how often the keys of the promise were inserted
measured_rate | number | share | that of these keys
low | number | share | one-sided lower limit of the measurement
noticed_rate | number | probability | a rate this high would be above the promise in 9 of 10 simulations
verdict | string | | kept, broken, or unseen if even no false positive at all would not show that it is kept
)"},
      {.name = "verification_of_schemes",
       .form = Form::document,
       .commands = {"verify"},
       .summary = "With --scheme all: a comparison for each scheme",
       .table = R"(
schemes | [verification] | | one for each scheme
verdict | string | | inside, or outside if any measurement contradicts theory
)"},
      {.name = "bench",
       .form = Form::document,
       .commands = {"bench"},
       .summary = "Measured times; `tally plan --figures` reads this",
       .table = R"(
candidates | [timed_structure] | | the structures
recommended? | string | | with a preference: kind of the first candidate
reason? | string | | with a preference: why it is recommended
)"},
      {.name = "timed_structure", .summary = "A structure and its times", .table = R"(
name | string | | its kind; for a dleft filter, also its buckets
shape | positions_shape or dleft_shape or compact_dleft_shape | | its size
num_keys | integer | keys | distinct keys that were in it
memory_bytes | integer | bytes | its memory
bits_per_key | number | bits | its memory per distinct key
false_positive_rate | number | share | measured
predicted_false_positive_rate | number | probability | by theory
batches | operation_times | | with 2048 keys per call
single | operation_times | | with one key per call
)"},
      {.name = "operation_times", .summary = "The times of each operation, of all rounds", .table = R"(
insert? | times | | an insertion
remove? | times | | a removal, if the structure removes
lookup_present? | times | | a lookup of a key that is there
lookup_absent? | times | | a lookup of a key that is not there
line_read? | times | | a read of one random 64-byte line of the structure's memory
)"},
      {.name = "times", .summary = "Processor time per key", .table = R"(
median_ns | number | ns | median of the rounds
least_ns | number | ns | shortest
largest_ns | number | ns | longest
)"},
  };
}

}  // namespace tally::cli
