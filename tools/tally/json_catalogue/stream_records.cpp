#include "json_catalogue/catalogue.hpp"

namespace tally::cli {

std::vector<JsonRecord> stream_records() {
  using Form = JsonRecord::Form;
  return {
      {.name = "over_key",
       .form = Form::line,
       .commands = {"over"},
       .summary = "A key that has occurred N times, or whose sum has reached N",
       .parts = {"key_bytes", "line_bytes"},
       .table = R"(
count? | integer | occurrences | the count when the key was printed: N, or slightly more; with --counts-at-end the count
  of the whole input; not with --sum or --store
counted? | boolean | | with --counts-at-end: whether it was counted to the end; false if there was no room for its count
sum? | integer | | with --sum: the sum when the key was printed, at least N
)"},
      {.name = "over_end", .form = Form::line, .commands = {"over"}, .summary = "The last line", .table = R"(
summary | over_summary or over_sum_summary or over_store_summary | | what the run found: without --sum, --window and
  --store; with --sum or --window; with --store
)"},
      {.name = "over_so_far",
       .form = Form::line,
       .commands = {"over"},
       .summary = "With --every: the summary so far",
       .table = R"(
so_far | over_summary or over_sum_summary | | what the run has found so far; with --sum or --window
)"},
      {.name = "over_summary",
       .summary = "A run that counted occurrences",
       .parts = {"run", "hash"},
       .table = R"(
num_lines | integer | lines | keys that were counted, including repeats, and those of the run that --state resumed
num_distinct_keys_estimate | integer | keys | distinct keys; exact if counted_exactly, else rather too low
num_reported | integer | keys | keys that were printed
num_possible_repeats | integer | keys | printed keys that may be repeats, because the set of printed keys was full
counted_exactly | boolean | | whether all keys were counted exactly, so that no filter and no error is involved
num_generations | integer | filters | filters that were opened one after the other
false_positive_rate_at_most | number | probability | that a key which occurs fewer than N times is printed, at most,
  with the keys so far
false_positive_rate_planned | number | probability | the same, as planned for all keys
num_expected_false_reports | number or null | keys | expected number of printed keys that never reach N; null if unknown
memory_bytes | integer | bytes | memory of the counters and of the set of printed keys
num_skipped_lines | integer | lines | lines left out by --skip-bad
exact? | over_exact | | with --exact: the comparison with exact counts
counts_too_high_by_at_most? | integer | occurrences | with --counts-at-end: a count is never too low, and too high by at
  most this
num_keys_not_counted? | integer | keys | with --counts-at-end: printed keys that there was no room to count
memory_bytes_of_counts? | integer | bytes | with --counts-at-end: memory of the counted keys, besides memory_bytes
time? | string | UTC | in `so_far`: the time by the clock, such as 2026-11-21T20:45:00Z
)"},
      {.name = "over_exact", .summary = "Exact counts, compared with what `over` printed", .table = R"(
num_distinct_keys | integer | keys | distinct keys
num_keys_over_threshold | integer | keys | keys that occurred N times or more
num_missed | integer | keys | those of them that were never printed
num_early_reports | integer | keys | those of them that were printed before their count reached N
num_false_reports | integer | keys | printed keys that occurred fewer than N times
predicted_early_reports? | number | keys | what theory predicts for num_early_reports; absent for an N above 64
predicted_false_reports? | number | keys | what theory predicts for num_false_reports; absent for an N above 64
predicted_standard_deviation? | number | keys | standard deviation of the two together; absent for an N above 64
)"},
      {.name = "over_sum_summary",
       .summary = "A run with --sum or --window",
       .parts = {"run", "hash"},
       .table = R"(
num_lines | integer | lines | lines that were added up, including those of the run that --state resumed
total | integer | | sum of all weights, or number of lines; with --window, in the window
num_reported | integer | keys | keys that were printed, each time anew
num_possible_repeats | integer | keys | printed keys that may be repeats, because the set of printed keys was full
overcount_at_most | number | | a sum is too high by at most this, except with failure_probability
failure_probability | number | probability | that the sum of one key is too high by more than overcount_at_most
num_late_lines | integer | lines | lines whose time is earlier than that of a line before them
num_lines_left_out | integer | lines | those of them that were too late to count
num_skipped_lines | integer | lines | lines left out by --skip-bad
memory_bytes | integer | bytes | memory of the counters and of the set of printed keys
time? | string | UTC | in `so_far`: the time by the clock, such as 2026-11-21T20:45:00Z
)"},
      {.name = "uniq_key",
       .form = Form::line,
       .commands = {"uniq"},
       .summary = "The first occurrence of a key",
       .parts = {"key_bytes", "line_bytes"}},
      {.name = "uniq_end", .form = Form::line, .commands = {"uniq"}, .summary = "The last line", .table = R"(
summary | uniq_summary or over_store_summary | | what the run found: without --store; with --store
)"},
      {.name = "uniq_so_far",
       .form = Form::line,
       .commands = {"uniq"},
       .summary = "With --every: the summary so far",
       .table = R"(
so_far | uniq_summary | | what the run has found so far
)"},
      {.name = "uniq_summary", .summary = "A run of `uniq`", .parts = {"hash"}, .table = R"(
num_lines | integer | lines | lines that were read
num_printed | integer | keys | keys that were printed
num_skipped_lines | integer | lines | lines left out by --skip-bad
dropped_with_probability_at_most | number | probability | that a new key is not printed; 0 without --approximate
memory_bytes | integer | bytes | memory of what was kept of the keys
promise | string | | what is certain of the result, in words
interrupted | boolean | | whether a signal ended the input; the numbers are those up to there
time? | string | UTC | in `so_far`: the time by the clock, such as 2026-11-21T20:45:00Z
)"},
      {.name = "top_key",
       .form = Form::line,
       .commands = {"top"},
       .summary = "A frequent key, the most frequent one first",
       .parts = {"key_bytes"},
       .table = R"(
count | integer | occurrences | how often the key occurred, at most; with --sum, its sum
error? | integer | occurrences | the true count is at least count - error; not with --store
share? | number | share | count, as a share of the total; not with --store
certain? | boolean | | whether the key is certainly one of the K most frequent, or above --share; not with --store
)"},
      {.name = "top_snapshot",
       .form = Form::line,
       .commands = {"top"},
       .summary = "With --interval: the line after the keys of one snapshot",
       .table = R"(
snapshot | top_snapshot_totals | | what the keys before this line are of
)"},
      {.name = "top_snapshot_totals",
       .summary = "One snapshot of --interval",
       .parts = {"top_totals"},
       .table = R"(
time | string | UTC | time of the snapshot, such as 2026-11-21T20:45:00Z
num_lines | integer | lines | lines up to then
)"},
      {.name = "top_end", .form = Form::line, .commands = {"top"}, .summary = "The last line", .table = R"(
summary | top_summary or top_from_summary or top_store_summary | | what the run found: of an input; with --from; with
  --store
)"},
      {.name = "top_so_far",
       .form = Form::line,
       .commands = {"top"},
       .summary = "With --every: the summary so far",
       .table = R"(
so_far | top_summary | | what the run has found so far
)"},
      {.name = "top_totals", .summary = "What is known of all keys together", .table = R"(
total | integer | occurrences | occurrences of all keys, or their sum; with --window, in the window
num_keys | integer | keys | keys that were printed
num_certain | integer | keys | those of them that are certain
others_at_most | integer | occurrences | the highest count that a key which was not printed can have
not_kept_at_most | integer | occurrences | the highest count that a key which is not a candidate can have
)"},
      {.name = "top_summary",
       .summary = "A run of `top` over an input",
       .parts = {"top_totals", "run", "hash"},
       .table = R"(
num_lines | integer | lines | lines that were counted, including those of the run that --state resumed
num_late_lines? | integer | lines | with --window: lines whose time is earlier than that of a line before them
num_lines_left_out? | integer | lines | with --window: those of them that were too late to count
num_skipped_lines | integer | lines | lines left out by --skip-bad
num_candidates | integer | keys | keys that are kept with their counts
memory_bytes | integer | bytes | memory of the candidates and of the sketch
exact? | top_exact | | with --exact: the comparison with exact counts
time? | string | UTC | in `so_far`: the time by the clock, such as 2026-11-21T20:45:00Z
)"},
      {.name = "top_exact", .summary = "Exact counts, compared with what `top` printed", .table = R"(
num_distinct_keys | integer | keys | distinct keys
num_wanted | integer | keys | keys of the true answer
num_missed | integer | keys | those of them that were not printed
num_false | integer | keys | printed keys that are not among them
num_outside_bounds | integer | keys | printed keys whose true count is not between count - error and count
greatest_overcount | integer | occurrences | the largest difference between a printed count and the true one
)"},
      {.name = "top_from_summary",
       .summary = "A run of `top --from`",
       .parts = {"top_totals", "hash"},
       .table = R"(
num_files | integer | files | files that were merged
num_candidates | integer | keys | keys that are kept with their counts
memory_bytes | integer | bytes | memory of the candidates and of the sketch
)"},
      {.name = "kmers_key",
       .form = Form::line,
       .commands = {"kmers"},
       .summary = "A k-mer that has occurred --lower-count times",
       .table = R"(
key | string | | the k-mer, in capital letters
count | integer | occurrences | the count when the k-mer was printed: the lower count, or slightly more; with --counts
  the count in all reads
)"},
      {.name = "kmers_of_count",
       .form = Form::line,
       .commands = {"kmers"},
       .summary = "With --histogram -: how many k-mers have a count",
       .table = R"(
count | integer | occurrences | the count; 10001 stands for all counts from there on
num_kmers | integer | k-mers | k-mers with this count
)"},
      {.name = "kmers_end",
       .form = Form::line,
       .commands = {"kmers"},
       .summary = "The last line",
       .table = R"(
summary | kmers_summary or kmers_count_summary | | what the run found: when it printed k-mers as it found them; with
  --counts or --histogram
)"},
      {.name = "kmers_totals", .summary = "What `kmers` read, and the error of its answer", .table = R"(
kmer_length | integer | bases | k
canonical | boolean | | whether a k-mer and its reverse complement are the same key
lower_count | integer | occurrences | the count that selects a k-mer
num_bases | integer | bases | bases that were read
num_sequences | integer | sequences | sequences that were read
num_kmers | integer | k-mers | k-mers that were read, including repeats
num_distinct_kmers_estimate | integer | k-mers | distinct k-mers
false_positive_rate_at_most | number | probability | that a k-mer with a lower count is selected, at most
predicted_false_kmers_at_most | number | k-mers | expected number of k-mers selected wrongly, at most
memory_bytes | integer | bytes | memory of the filter and of the set of printed k-mers
seconds | number | seconds | time from the first to the last base of the input
)"},
      {.name = "kmers_summary",
       .summary = "A run of `kmers` that printed k-mers",
       .parts = {"kmers_totals", "hash"},
       .table = R"(
num_reported | integer | k-mers | k-mers that were printed
num_possible_repeats | integer | k-mers | printed k-mers that may be repeats, because the set of printed k-mers was full
interrupted | boolean | | whether a signal ended the input; the numbers are those up to there
)"},
      {.name = "kmers_count_summary",
       .summary = "A run of `kmers` that counted k-mers to the end",
       .parts = {"kmers_totals", "hash"},
       .table = R"(
num_reported | integer | k-mers | k-mers that were counted
num_kmers_below_lower_count_estimate | integer | k-mers | distinct k-mers that occur fewer times than the lower count
counts_too_high_by_at_most | integer | occurrences | a count is never too low, and too high by at most this
num_saturated_counts | integer | k-mers | counts that are 2^32 - 1 or more
num_kmers_not_counted_estimate | integer | k-mers | distinct k-mers left out because the table was full
num_occurrences_not_counted | integer | k-mers | occurrences of those
interrupted | boolean | | whether a signal ended the input; the numbers are those up to there
)"},
      {.name = "kmers_filter",
       .form = Form::document,
       .commands = {"kmers"},
       .summary = "With --output: the filter of k-mers that was written",
       .parts = {"kmers_totals"},
       .table = R"(
filter | filter | | the filter that was written
)"},
  };
}

}  // namespace tally::cli
