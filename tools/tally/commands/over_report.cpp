#include "commands/over_report.hpp"

#include <fmt/core.h>
#include <hwy/cache_control.h>

#include <string>

#include "text/key_json.hpp"

namespace tally::cli {

OverReport::OverReport(const OverOptions& options)
    : options_(options),
      output_({.nul_separated = options.input.nul_separated && !options.json,
               .line_buffered = options.line_buffered}),
      printed_(options.input, options.json) {}

void OverReport::write(std::span<const std::string_view> texts, std::span<const ReachedKey> reached) {
  // Another thread may have read these keys.
  for (const ReachedKey& key : reached) hwy::Prefetch(texts[key.index].data());
  for (const ReachedKey& key : reached) write(texts[key.index], key.count);
}

void OverReport::write(std::string_view text, std::uint64_t count) {
  if (options_.json) {
    Json line = printed_.json(text);
    line[options_.records.sum_fields.empty() ? "count" : "sum"] = count;
    output_.write_record(json_line(line));
  } else if (options_.with_count) {
    output_.write_key(std::to_string(count), text);
  } else {
    output_.write_key(text);
  }
}

void OverReport::write_counted(std::string_view text, std::uint64_t count, bool is_counted) {
  if (options_.json) {
    Json line = printed_.json(text);
    line["count"] = count;
    if (!is_counted) line["counted"] = false;
    output_.write_record(json_line(line));
  } else {
    output_.write_key((is_counted ? "" : ">=") + std::to_string(count), text);
  }
}

void OverReport::finish(const Json& summary) {
  if (options_.json) output_.write_record(json_line(Json{{"summary", summary}}));
  output_.finish();
}

void OverObserver::ended_exact_counting(std::uint64_t num_keys) {
  say(fmt::format(
      "counted the first {} distinct keys exactly; counting in a planned filter from here on (--keys plans "
      "ahead)",
      num_keys));
}

void OverObserver::opened_generation(const OpenedGeneration& opened) {
  if (check_ != nullptr) check_->opened_generation(opened);
  say(fmt::format(
      "{} for {} distinct keys: {} counters of {} bits, k = {}, {}; a key that occurs fewer than {} times is "
      "reported with a probability of at most {}{}",
      opened.number == 1 ? "planned" : fmt::format("generation {} opened, planned", opened.number),
      human_count(static_cast<double>(opened.num_keys)),
      human_count(static_cast<double>(opened.shape.num_counters)), counter_bits_for(opened.shape),
      opened.shape.num_hashes, human_bytes(static_cast<double>(num_bytes(opened.shape))), options_.threshold,
      human_rate(opened.false_positive_rate), opened.number == 1 ? "" : " (all generations together)"));
}

void OverObserver::exceeded_plan(const ExceededPlan& excess) {
  say(fmt::format(
      "more keys than the {} planned for this memory: the false positive rate is {} at {} keys and grows; no "
      "key is missed; give more --memory",
      human_count(static_cast<double>(excess.planned_keys)), human_rate(excess.false_positive_rate),
      human_count(static_cast<double>(excess.num_keys))));
}

void OverObserver::filled_reported_keys(std::uint64_t num_keys) {
  say(
      fmt::format("the set of reported keys is full at {} keys: no key is missed, but a key may be printed "
                  "again; give more --memory",
                  num_keys));
}

void explain_counts(const OverOptions& options) {
  if (!options.with_count || options.json) return;
  remark(options.quiet,
         fmt::format(
             "each {0} is the {0} when the key was printed; for {0}s of the whole input, use 'tally top', or "
             "'tally build --kind count-min' and 'tally count'",
             options.records.sum_fields.empty() ? "count" : "sum"));
}

}  // namespace tally::cli
