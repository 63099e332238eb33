#include "json_catalogue/catalogue.hpp"

namespace tally::cli {

std::vector<JsonRecord> store_records() {
  using Form = JsonRecord::Form;
  return {
      {.name = "store_totals", .summary = "What a run with --store sent to the Redis servers", .table = R"(
store | string | | name of the store
num_lines | integer | lines | lines of this run's input that are in the store
num_lines_of_last_run | integer | lines | those that the last run with this --state had left to do
num_batches | integer | batches | batches that were sent
num_batches_sent_again | integer | batches | batches that were sent again after an error
num_batches_repaired | integer | batches | batches that a failover had lost, and that were sent again
num_batches_lost | integer | batches | batches that a failover has lost
num_keys_lost | integer | keys | keys in them, as far as is known
num_batches_in_doubt | integer | batches | batches that may have been counted twice
num_connections_lost | integer | connections | connections to servers that ended early
)"},
      {.name = "over_store_summary",
       .summary = "A run of `over` or `uniq` with --store",
       .parts = {"store_totals", "run"},
       .table = R"(
num_printed | integer | keys | keys that were printed
)"},
      {.name = "top_store_summary",
       .summary = "A run of `top` with --store",
       .parts = {"store_totals", "run"},
       .table = R"(
num_keys | integer | keys | keys that were printed, of all runs with this store
)"},
      {.name = "store_added",
       .form = Form::document,
       .commands = {"build", "add"},
       .summary = "With --store: keys that were added",
       .parts = {"store_totals"},
       .table = R"(
interrupted | boolean | | whether a signal ended the input; the numbers are those up to there
num_new | integer | keys | keys that were certainly not in the store before
num_saturated | integer | keys | keys with a counter at its maximum
num_full | integer | keys | keys that were refused, because the store is full
)"},
      {.name = "store_removed",
       .form = Form::document,
       .commands = {"remove"},
       .summary = "With --store: keys that were removed",
       .parts = {"store_totals"},
       .table = R"(
interrupted | boolean | | whether a signal ended the input; the numbers are those up to there
num_removed | integer | keys | keys that were removed, once each time
num_refused | integer | keys | keys that were refused, because they are certainly not in the store
)"},
  };
}

}  // namespace tally::cli
