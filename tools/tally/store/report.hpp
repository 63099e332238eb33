#pragma once

#include <string>

#include "input/key_reader.hpp"
#include "store/session.hpp"
#include "store/unit_writer.hpp"
#include "tally/planner/plan_shares.hpp"
#include "text/json.hpp"

namespace tally::cli {

/// "made the store 'name': 12 shards, each for 84100 keys, ...".
std::string plan_text(const std::string& name, const SharePlan& plan);

/// Reads the input into the writer, to its end. After an error of the servers, says which lines are not counted, and what to
/// do, and throws it on.
void run_units(const InputOptions& input, const StoreOptions& options, bool quiet,
               const redis_client::Store& store, UnitWriter& writer);

/// What a writer did: for the last remark, and for --json.
std::string totals_text(const UnitWriter& writer, StoreSession& session);
Json totals_json(const UnitWriter& writer, StoreSession& session);

}  // namespace tally::cli
