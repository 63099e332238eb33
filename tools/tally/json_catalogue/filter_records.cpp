#include "json_catalogue/catalogue.hpp"

namespace tally::cli {

std::vector<JsonRecord> filter_records() {
  using Form = JsonRecord::Form;
  return {
      {.name = "filter_info",
       .form = Form::document,
       .commands = {"info"},
       .summary = "A filter file",
       .parts = {"filter"},
       .table = R"(
num_keys_at_one_percent? | integer | keys | distinct keys with which the false positive rate is 1%; not for count-min
body_verified | boolean | | whether the checksum of the whole file was verified; false with --no-verify
problems | [string] | | each problem with its advice, in words
)"},
      {.name = "sketch_info",
       .form = Form::document,
       .commands = {"info"},
       .summary = "A file of `tally top --save`, or of a sliding window of the library",
       .parts = {"sketch"},
       .table = R"(
body_verified | boolean | | true: the checksum of the whole file was verified
)"},
      {.name = "built",
       .form = Form::document,
       .commands = {"build"},
       .summary = "A filter file that was written",
       .table = R"(
num_keys | integer | keys | keys that were read, including repeats
filter | filter | | the filter that was written
)"},
      {.name = "added",
       .form = Form::document,
       .commands = {"add"},
       .summary = "Keys that were added to a filter file",
       .table = R"(
num_added | integer | keys | keys that were read and added, including repeats
filter | filter | | the filter with these keys
)"},
      {.name = "removed",
       .form = Form::document,
       .commands = {"remove"},
       .summary = "Keys that were removed from a filter file",
       .table = R"(
num_removed | integer | keys | keys that were removed, once each time
num_refused | integer | keys | keys that were refused, because they are certainly not in the filter
filter | filter | | the filter without these keys
)"},
      {.name = "halved",
       .form = Form::document,
       .commands = {"halve"},
       .summary = "A count-min sketch whose counts were halved",
       .table = R"(
filter | filter | | the sketch afterwards
)"},
      {.name = "merged",
       .form = Form::document,
       .commands = {"merge"},
       .summary = "Files that were merged into one",
       .table = R"(
num_merged | integer | files | files that were merged
filter? | filter | | the result, if the files are filters
sketch? | sketch | | the result, if the files are those of `tally top --save` or sliding windows
)"},
      {.name = "selected_keys",
       .form = Form::document,
       .commands = {"query"},
       .summary = "How many keys were found",
       .table = R"(
num_keys | integer | keys | keys that were looked up, including repeats
num_found | integer | keys | keys that may be in the filter; with --at-least, that were inserted that often
num_absent | integer | keys | the others, which are certainly not
)"},
      {.name = "counted_key",
       .form = Form::line,
       .commands = {"count"},
       .summary = "How often a key was added",
       .parts = {"key_bytes", "line_bytes"},
       .table = R"(
count | integer | occurrences | how often the key was added, at most
is_saturated | boolean | | whether the counter is at its maximum, so that the true count may be any number from there on
lower? | integer | occurrences | for count-min: the true count is at least this, with `probability`
upper? | integer | occurrences | for count-min: the true count is at most this
probability? | number | probability | for count-min: that the true count is not below `lower`
)"},
      {.name = "filter",
       .summary = "A filter or a count-min sketch, and its state",
       .parts = {"hash"},
       .table = R"(
shape | positions_shape or dleft_shape or compact_dleft_shape or count_min_shape | | its size and kind; --shape reads it
memory_bytes | integer | bytes | memory of the bits, counters or cells
num_nonzero | integer | positions | bits, counters or cells that are not 0
fill_ratio | number | share | the same, as a share of all
num_insertions | integer | keys | insertions so far, including repeats; for count-min, the sum of all weights
estimated_num_keys | number or null | keys | estimate of the distinct keys; null if there are too many to estimate
estimated_num_keys_standard_error | number or null | keys | its standard error, if every key was inserted once
estimated_false_positive_rate | number | probability | that a key which was never inserted is found, now
num_removes? | integer | keys | removals so far; only for kinds that remove
num_refused_removes? | integer | keys | removals of keys that were certainly absent; only for kinds that remove
num_saturated? | integer | counters | counters at their maximum, which stay there; only for kinds that count
histogram? | [histogram_bin] | | counters by value, from 0 up; only for kinds that count
count_min? | count_min_state | | only for count-min
dleft? | dleft_state | | only for dleft
compact_dleft? | compact_dleft_state | | only for compact-dleft
)"},
      {.name = "histogram_bin", .summary = "How many counters have values in a range", .table = R"(
least | integer | | smallest value of the range
greatest | integer | | largest value of the range
num_counters | integer | counters | counters with such a value
)"},
      {.name = "count_min_state", .summary = "The error of a count-min sketch", .table = R"(
total_count | integer | | sum of all weights
epsilon | number | share | a count is too high by at most this share of total_count, except with failure_probability
failure_probability | number | probability | that one count is too high by more than that
rounding | integer | | the most that halvings may have added to a count; 0 if there was none
)"},
      {.name = "dleft_state", .summary = "The contents of a dleft filter", .table = R"(
num_keys | integer | keys | insertions minus removals
loads | [[integer]] | buckets | of each subtable: how many buckets have 0, 1, 2, ... cells in use
num_spilled | integer | fingerprints | fingerprints in the side table
spilled_total | integer | keys | their total count there
num_rescues | integer | keys | insertions that found room by moving others
num_full | integer | keys | insertions that were refused, because there was no room
)"},
      {.name = "compact_dleft_state", .summary = "The contents of a compact-dleft filter", .table = R"(
num_keys | integer | keys | insertions minus removals
num_fingerprints | integer | fingerprints | distinct fingerprints
loads | [[integer]] | lines | of each subtable: how many lines have 0, 1, 2, ... cells in use
num_spilled | integer | fingerprints | fingerprints in the side table
spilled_total | integer | keys | their total count there
num_rescues | integer | keys | insertions that found room by moving others
num_full | integer | keys | insertions that were refused, because there was no room
)"},
      {.name = "sketch",
       .summary = "A sketch of the most frequent keys, or of a sliding window",
       .parts = {"hash"},
       .table = R"(
shape | top_shape or candidates_shape or count_min_shape | | its size and kind
memory_bytes | integer | bytes | memory of the candidates and counters
total_count | integer | occurrences | occurrences of all keys, or their sum
num_candidates? | integer | keys | keys that are kept with their counts; not for count-min-window
not_kept_at_most? | integer | occurrences | the highest count that another key can have; not for count-min-window
greatest_error? | integer | occurrences | the largest error of a candidate's count; not for count-min-window
epsilon? | number | share | only for count-min-window: a count is too high by at most this share of total_count
failure_probability? | number | probability | only for count-min-window: that one count is too high by more than that
newer? | window_half | | only for count-min-window
older? | window_half | | only for count-min-window
num_saturated | integer | counters | counters at their maximum, which stay there
problems | [string] | | each problem with its advice, in words
)"},
      {.name = "window_half", .summary = "Half of a sliding window", .table = R"(
total_count | integer | | sum of its weights
rounding | integer | | the most that halvings may have added to a count
estimated_num_keys | number or null | keys | estimate of the distinct keys; null if there are too many to estimate
)"},
      {.name = "positions_shape",
       .summary = "The shape of a filter with positions: bloom, counting-bloom, blocked ones, threshold",
       .table = R"(
kind | string | | bloom, blocked-bloom, counting-bloom, blocked-counting-bloom or threshold
scheme | string | | name of the scheme that derives positions from a hash
num_positions | integer | positions | bits or counters
num_hashes | integer | positions | positions per key
counter_bits? | integer | bits | width of a counter; only for kinds with counters
threshold? | integer | occurrences | largest count that queries use; 0 if any; only for kinds with counters
update? | string | | how insertions raise counters: plain or conservative; only for threshold
)"},
      {.name = "dleft_shape", .summary = "The shape of a dleft filter", .table = R"(
kind | string | | dleft
scheme | string | | name of the scheme that derives buckets from a hash
buckets_per_subtable | integer | buckets | before any doubling
num_subtables | integer | subtables | subtables, in each of which a key has one bucket
cells_per_bucket | integer | cells | cells of a bucket
remainder_bits | integer | bits | remainder in a cell, before any doubling
counter_bits | integer | bits | counter in a cell
least_remainder_bits | integer | bits | remainder in a cell at the largest size
num_doublings | integer | doublings | doublings so far
spill_capacity | integer | fingerprints | room in the side table
moves | string | | what an insertion moves to find room: none, first-subtable or search
grows | boolean | | whether an insertion that finds no room doubles the filter
)"},
      {.name = "compact_dleft_shape", .summary = "The shape of a compact-dleft filter", .table = R"(
kind | string | | compact-dleft
scheme | string | | name of the scheme that derives lines from a hash
num_lines_per_subtable | integer | lines | lines of 64 bytes in each of the two subtables
remainder_bits | integer | bits | remainder in a cell
spill_capacity | integer | fingerprints | room in the side table
moves | string | | what an insertion moves to find room: none or search
)"},
      {.name = "count_min_shape",
       .summary = "The shape of a count-min sketch, or of each half of a sliding window",
       .table = R"(
kind | string | | count-min or count-min-window
scheme | string | | name of the scheme that derives columns from a hash
width | integer | counters | counters of a row
depth | integer | rows | rows
num_copies | integer | copies | copies of the rows
counter_bits | integer | bits | width of a counter
update | string | | how insertions raise counters: plain or conservative
)"},
      {.name = "top_shape",
       .summary = "The shape of a sketch of frequent keys by --method count-min",
       .parts = {"count_min_shape"},
       .table = R"(
capacity | integer | keys | room for candidates
)"},
      {.name = "candidates_shape",
       .summary = "The shape of a sketch of frequent keys by --method space-saving",
       .table = R"(
kind | string | | space-saving
capacity | integer | keys | room for candidates
)"},
  };
}

}  // namespace tally::cli
