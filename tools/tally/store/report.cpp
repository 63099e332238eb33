#include "store/report.hpp"

#include <fmt/core.h>

#include "cli/meanwhile.hpp"
#include "cli/signals.hpp"
#include "input/key_loop.hpp"
#include "text/output.hpp"

namespace tally::cli {

std::string plan_text(const std::string& name, const SharePlan& plan) {
  std::string text = fmt::format("made the store '{}': {} {}", name, plan.num_shares,
                                 plan.num_shares == 1 ? "shard" : "shards");
  if (plan.keys_per_share == 0) return text;
  return text +
         fmt::format(", each planned for {} keys, {}; with probability {} or less, one of them gets more",
                     plan.keys_per_share, human_bytes(static_cast<double>(plan.bytes_per_share)),
                     human_rate(plan.failure_probability));
}

void run_units(const InputOptions& input, const StoreOptions& options, bool quiet,
               const redis_client::Store& store, UnitWriter& writer) {
  const Meanwhile meanwhile([&](bool input_waits) {
    if (input_waits) writer.send_all();
  });
  try {
    for_each_batch(input, store.hasher(), quiet,
                   [&](Texts, Texts texts, std::span<const Hash128> digests) { writer.add(texts, digests); });
    writer.finish(!stop_requested());
  } catch (const std::exception&) {
    const std::string lines = writer.lines_in_doubt();
    if (!lines.empty()) {
      remark(false,
             options.state_path.empty()
                 ? fmt::format(
                       "{} of the input may not be counted; --state keeps such lines for the next run", lines)
                 : fmt::format("{} of the input may not be counted yet; the next run with this --state sends "
                               "them, and they count once",
                               lines));
    }
    throw;
  }
}

std::string totals_text(const UnitWriter& writer, StoreSession& session) {
  const UnitWriter::Totals& totals = writer.totals();
  std::string text =
      fmt::format("{}{} lines in {} batches", stop_requested() ? "interrupted after " : "",
                  totals.num_lines - totals.num_skipped + totals.num_resumed_lines, totals.num_batches);
  const auto add = [&](std::uint64_t number, const char* what) {
    if (number > 0) text += fmt::format(", {} {}", number, what);
  };
  add(totals.num_resumed_lines, "of them from the last run");
  add(session.cluster().num_sent_again(), "sent again");
  add(totals.num_repaired, "lost by a failover and sent again");
  add(totals.num_lost, "lost by a failover");
  add(totals.num_in_doubt, "perhaps counted twice");
  return text;
}

Json totals_json(const UnitWriter& writer, StoreSession& session) {
  const UnitWriter::Totals& totals = writer.totals();
  return Json{{"store", session.name()},
              {"num_lines", totals.num_lines - totals.num_skipped + totals.num_resumed_lines},
              {"num_lines_of_last_run", totals.num_resumed_lines},
              {"num_batches", totals.num_batches},
              {"num_batches_sent_again", session.cluster().num_sent_again()},
              {"num_batches_repaired", totals.num_repaired},
              {"num_batches_lost", totals.num_lost},
              {"num_keys_lost", totals.num_lost_keys},
              {"num_batches_in_doubt", totals.num_in_doubt},
              {"num_connections_lost", session.cluster().num_connections_lost()}};
}

}  // namespace tally::cli
