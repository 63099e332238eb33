#include <fmt/core.h>

#include <memory>
#include <optional>

#include "cli/documents.hpp"
#include "cli/options.hpp"
#include "commands/commands.hpp"
#include "commands/filter_store.hpp"
#include "commands/selected_keys.hpp"
#include "files/filter_file.hpp"
#include "input/live_status.hpp"
#include "input/printed_key.hpp"
#include "input/read_ahead.hpp"
#include "text/key_json.hpp"

namespace tally::cli {

namespace {

struct QueryOptions {
  FilterFileOptions filter;
  InputOptions input;
  std::optional<std::uint64_t> theta;
  SelectionOptions selection;
  bool quiet = false;
};

ExitCode run_query(const QueryOptions& options) {
  const OpenFilter filter(options.filter);
  if (options.theta) filter->at_least_batch({}, *options.theta, {});  // refused before any input is read
  SelectedKeys selected(options.selection, options.input);
  const auto select = [&](std::span<const Hash128> digests, std::span<std::uint32_t> indices) {
    Batch<bool> found;
    const std::span<bool> results(found.data(), digests.size());
    if (options.theta) {
      filter->at_least_batch(digests, *options.theta, results);
    } else {
      filter->may_contain_batch(digests, results);
    }
    std::size_t num_selected = 0;
    for (std::size_t i = 0; i < results.size(); ++i) {
      indices[num_selected] = static_cast<std::uint32_t>(i);
      num_selected += results[i] != options.selection.invert;
    }
    return num_selected;
  };
  const LiveStatus status({[&] { return selected.text(); }});
  KeyTotals totals;
  for_selected_texts(
      selected.input(), filter->hasher(), options.quiet, totals, {.whole = select, .in_any_order = true},
      [&](Texts texts, std::uint64_t num_others) { selected.take_selected(texts, num_others); });
  return selected.finish("num_keys");
}

struct CountOptions {
  FilterFileOptions filter;
  InputOptions input;
  bool bounds = false;
  bool json = false;
  bool line_buffered = false;
  bool quiet = false;
};

// The count; for a sketch, also its bounds.
Json count_json(const CountEstimate& estimate, bool is_sketch) {
  Json json{{"count", estimate.value}, {"is_saturated", estimate.saturated}};
  if (!is_sketch) return json;
  json["lower"] = estimate.lower;
  json["upper"] = estimate.upper;
  json["probability"] = estimate.probability;
  return json;
}

ExitCode run_count(const CountOptions& options) {
  const OpenFilter filter(options.filter);
  filter->count_batch({}, {});  // a kind that cannot count is refused before any input is read
  if (options.bounds) filter->estimate_batch({}, {});
  Output output({options.input.nul_separated, options.line_buffered});
  bool any = false;
  Batch<Count> counts;
  Batch<CountEstimate> estimates;
  const bool is_sketch = filter->is_sketch();
  PrintedKey printed(options.input, options.json);
  const auto count = [&](Texts, Texts texts, std::span<const Hash128> digests) {
    if (is_sketch) {
      filter->estimate_batch(digests, std::span(estimates.data(), texts.size()));
    } else {
      filter->count_batch(digests, std::span(counts.data(), texts.size()));
      for (std::size_t i = 0; i < texts.size(); ++i) {
        estimates[i].value = counts[i].value;
        estimates[i].saturated = counts[i].saturated;
      }
    }
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const CountEstimate& own = estimates[i];
      any = any || own.value > 0;
      const std::string text = count_text({own.value, own.saturated});
      if (options.json) {
        Json line = printed.json(texts[i]);
        line.update(count_json(own, is_sketch));
        output.write_record(json_line(line));
      } else if (options.bounds) {
        output.write_key(fmt::format("{}\t{}\t{}", text, own.lower, own.upper), texts[i]);
      } else {
        output.write_key(text, texts[i]);
      }
    }
  };
  const InputOptions input = printed.follow(options.input, output);
  for_each_batch(input, filter->hasher(), options.quiet, count);
  output.finish();
  return any ? ExitCode::success : ExitCode::none;
}

}  // namespace

Run declare_query(CommandLine app) {
  const auto options = std::make_shared<QueryOptions>();
  add_details(app, R"(
      A key that is in the filter is always printed. A key that is not is printed with the probability of the
      filter's current false positive rate, which 'tally info FILTER' shows. For a threshold filter, "in the
      filter" means that the key has reached the threshold.
      )");
  app.set_exit_status({.success = "if a key was selected", .none = "if none was"});
  add_filter_file_or_store(app, options->filter);
  add_no_verify(app, options->filter.verify);
  add_input_options(app, options->input);
  add_prints_lines(app, options->input);
  add_follow(app, options->input);
  app.add_flag("-v,--invert", options->selection.invert,
               "Print the keys that are certainly not in the filter instead");
  app.add_flag("-c,--count", options->selection.count_only, "Print only the number of selected keys");
  add_count(app, "--at-least", options->theta,
            "Select keys that were inserted at least this number of times (not for Bloom filters)");
  app.add_flag("--json", options->selection.json, "Print only the numbers of keys found and absent, as JSON");
  add_threads(app, options->input, "-t,--threads", "", "the output", "--follow");
  add_line_buffered(app, options->selection.line_buffered);
  add_quiet(app, options->quiet);
  const auto store = std::make_shared<StoreOptions>();
  add_store(app, *store, StoreUse::read);
  return [app, options, store] {
    take_filter_argument(*store, options->filter.path, options->input);
    if (!store->is_given()) {
      refuse_without_store(app, {"--password-file", "--patience"});
      return run_query(*options);
    }
    refuse_with_store(app, {"--key-file", "--no-verify", "--threads"});
    return run_query_store({options->input, *store, options->selection.json, options->quiet},
                           options->selection, options->theta);
  };
}

Run declare_count(CommandLine app) {
  const auto options = std::make_shared<CountOptions>();
  add_details(app, R"(
      Prints the count, a tab and the key, for every key of the input. A count is never too low. '>=15' means that
      the counter is at its maximum and the true count may be any number from there on. For a count-min sketch,
      --bounds prints how much too high the count may be: the true count is never above the upper bound, and below
      the lower bound only with the probability that 'tally info' shows.
      )");
  app.set_exit_status({.success = "if a count is above 0", .none = "if none is"});
  add_filter_file_or_store(app, options->filter);
  add_no_verify(app, options->filter.verify);
  add_input_options(app, options->input);
  add_prints_lines(app, options->input);
  add_follow(app, options->input);
  app.add_flag("--json", options->json, R"(
      Print one JSON object per line: key, count, is_saturated; for a sketch also lower, upper, probability
      )");
  app.add_flag("--bounds", options->bounds,
               "Print a lower and an upper bound after the count (only for count-min)");
  add_line_buffered(app, options->line_buffered);
  add_quiet(app, options->quiet);
  const auto store = std::make_shared<StoreOptions>();
  add_store(app, *store, StoreUse::read);
  return [app, options, store] {
    take_filter_argument(*store, options->filter.path, options->input);
    if (!store->is_given()) {
      refuse_without_store(app, {"--password-file", "--patience"});
      return run_count(*options);
    }
    refuse_with_store(app, {"--key-file", "--no-verify", "--bounds"});
    return run_count_store({options->input, *store, options->json, options->quiet}, options->line_buffered);
  };
}

}  // namespace tally::cli
