#include <fmt/core.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cli/signals.hpp"
#include "commands/over_counts.hpp"
#include "commands/over_report.hpp"
#include "input/key_loop.hpp"
#include "input/read_ahead.hpp"
#include "tally/streams/exact_check.hpp"
#include "tally/streams/threshold.hpp"
#include "text/key_json.hpp"

namespace tally::cli {
namespace {

Json check_json(const ExactCheck::Result& result, bool predicts) {
  Json json{{"num_distinct_keys", result.num_distinct},
            {"num_keys_over_threshold", result.num_over},
            {"num_missed", result.num_missed},
            {"num_early_reports", result.num_early},
            {"num_false_reports", result.num_false}};
  if (!predicts) return json;
  json["predicted_early_reports"] = result.predicted_early;
  json["predicted_false_reports"] = result.predicted_false;
  json["predicted_standard_deviation"] = result.standard_deviation;
  return json;
}

std::string check_text(const ExactCheck::Result& result, bool predicts) {
  std::string text = fmt::format(
      "exact counts: {} distinct keys, {} reach the threshold, {} of them missed; {} reported early, {} "
      "falsely",
      result.num_distinct, result.num_over, result.num_missed, result.num_early, result.num_false);
  if (predicts) {
    text += fmt::format("; predicted: {:.1f} early and {:.1f} false, +- {:.1f} together",
                        result.predicted_early, result.predicted_false, result.standard_deviation);
  }
  return text;
}

/// As many keys as planned may be reported.
void warn_of_few_reports(const OverOptions& options, const ThresholdStream& stream) {
  if (!options.memory_bytes || options.counts_at_end ||
      stream.reported_keys_capacity() >= stream.planned_keys())
    return;
  std::string text = fmt::format(
      "the set of reported keys has room for {}: if more of the {} keys occur {} times, keys may be printed "
      "again",
      human_count(static_cast<double>(stream.reported_keys_capacity())),
      human_count(static_cast<double>(stream.planned_keys())), options.threshold);
  if (options.num_keys)
    text += fmt::format("; {} of --memory is enough for all of them",
                        human_bytes(stream.memory_bytes_to_report_all()));
  remark(options.quiet, text);
}

void refuse_too_little_memory(const OverOptions& options, const ThresholdStream::Options& wanted) {
  const std::optional<std::uint64_t> least = ThresholdStream::least_memory_bytes(wanted);
  if (!least || !wanted.memory_bytes || *wanted.memory_bytes >= *least) return;
  throw std::invalid_argument(fmt::format(
      "--memory: {} is too little for {} keys at a false positive rate of {} ({} is for the printed "
      "keys); give at least {}, or leave --false-positive-rate out",
      human_bytes(static_cast<double>(*options.memory_bytes)),
      human_count(static_cast<double>(*wanted.num_keys)), human_rate(*wanted.false_positive_rate),
      options.counts_at_end ? "more than a quarter" : "a sixteenth",
      options.counts_at_end ? *least + *least / 3 + 1 : *least));
}

/// The bytes of keys: the exact count goes by them, and 7 and 007 may be one key.
class ExactKeys {
 public:
  explicit ExactKeys(KeyType type) : type_(type) {}

  std::span<const std::string_view> of(std::span<const std::string_view> keys) {
    if (type_ == KeyType::text) return keys;
    bytes_.clear();
    for (const std::string_view key : keys) bytes_.push_back(stored_key(type_, key));
    views_.assign(bytes_.begin(), bytes_.end());
    return views_;
  }

 private:
  KeyType type_;
  std::vector<std::string> bytes_;
  std::vector<std::string_view> views_;
};

void read_keys(const OverOptions& options, const KeyHasher& hasher, ThresholdStream& stream,
               ExactCheck* check, OverReport& report, KeyTotals& totals) {
  using Digests = WorkForTwo::Digests;
  const WorkForTwo work{
      .find_absent = [&](Digests digests, auto indices) { return stream.find_unreported(digests, indices); },
      .remember = [&](Digests digests) { stream.remember_reported(digests); },
      .use =
          [&](Texts texts, Digests digests, std::uint64_t num_others, std::uint64_t num_remembered) {
            const Digests to_remember = stream.add_unreported(digests, num_others, num_remembered);
            report.write(texts, stream.reached());
            return to_remember;
          }};
  const InputOptions input = report.input();
  const bool in_two_threads = stream.can_be_shared() && wants_to_read_ahead(input);
  if (in_two_threads && read_ahead(input, hasher, options.quiet, work, totals))
    return remark_skipped(options.quiet, totals.num_skipped);
  ExactKeys exact_keys(options.input.key_type);
  for_each_batch(input, hasher, options.quiet, totals, [&](Texts keys, Texts texts, Digests digests) {
    if (check != nullptr) check->begin_batch(exact_keys.of(keys));
    report.write(texts, stream.add_batch(digests));
  });
}

/// The share of the output that is false.
std::string false_share_text(const OverOptions& options, const ThresholdStreamStatistics& now) {
  if (now.num_reported == 0) return "";
  if (!now.num_expected_false_reports) return "; the number of false reports is unknown";
  return fmt::format("; {} {} of the reports are expected to be false",
                     options.update_or_plain() == CounterUpdate::plain ? "about" : "at most about",
                     human_rate(*now.num_expected_false_reports / static_cast<double>(now.num_reported)));
}

/// Also with --quiet.
void warn_of_broken_promises(const ThresholdStreamStatistics& now) {
  constexpr double shown_as_more = 1.001;
  if (now.false_positive_rate > shown_as_more * now.planned_false_positive_rate) {
    remark(false,
           fmt::format("warning: planned for a false positive rate of {}, but it is up to {} now; no key is "
                       "missed; give more --keys or --memory",
                       human_rate(now.planned_false_positive_rate), human_rate(now.false_positive_rate)));
  }
  if (now.num_possible_repeats > 0) {
    remark(false,
           fmt::format(
               "warning: {} reports may be repeats: the set of reported keys was full; give more --memory",
               now.num_possible_repeats));
  }
}

Json summary_of(const ThresholdStreamStatistics& now, std::uint64_t num_skipped, const KeyHasher& hasher,
                double seconds) {
  Json summary{{"num_lines", now.num_keys},
               {"num_distinct_keys_estimate", now.num_distinct_keys},
               {"num_reported", now.num_reported},
               {"num_possible_repeats", now.num_possible_repeats},
               {"counted_exactly", now.counts_exactly},
               {"num_generations", now.num_generations},
               {"false_positive_rate_at_most", now.false_positive_rate},
               {"false_positive_rate_planned", now.planned_false_positive_rate},
               {"num_expected_false_reports", nullptr},
               {"num_skipped_lines", num_skipped},
               {"memory_bytes", now.memory_bytes},
               {"seconds", seconds},
               {"interrupted", stop_requested()}};
  summary.update(hash_json(hasher));
  if (now.num_expected_false_reports) summary["num_expected_false_reports"] = *now.num_expected_false_reports;
  return summary;
}

std::string last_words(const OverOptions& options, const ThresholdStreamStatistics& now,
                       const KeyHasher& hasher, double seconds) {
  const std::string error = now.counts_exactly ? "counted exactly"
                                               : fmt::format("false positive rate at most {}",
                                                             human_rate(now.false_positive_rate)) +
                                                     false_share_text(options, now);
  return fmt::format("{}{} lines, about {} distinct keys, {} reported at {} times; {}{}; {}, {:.2f} s; {}",
                     stop_requested() ? "interrupted after " : "", now.num_keys,
                     human_count(static_cast<double>(now.num_distinct_keys)), now.num_reported,
                     options.threshold, error, unless_chosen(hasher),
                     human_bytes(static_cast<double>(now.memory_bytes)), seconds, hash_text(hasher));
}

}  // namespace

ThresholdStream::Options threshold_options(const OverOptions& options, const KeyHasher& hasher) {
  const ThresholdStream::Options wanted{.threshold = options.threshold,
                                        .num_keys = options.num_keys,
                                        .memory_bytes = options.memory_of_stream(),
                                        .false_positive_rate = options.false_positive_rate,
                                        .update = options.update_or_plain(),
                                        .hasher = hasher};
  refuse_too_little_memory(options, wanted);
  return wanted;
}

ExitCode run_over_threshold(const OverOptions& options, StreamState& state) {
  OverReport report(options);
  const KeyHasher hasher = options.hasher.hasher();
  std::optional<ExactCheck> exact;
  if (options.exact) exact.emplace(options.threshold);
  ExactCheck* const check = exact ? &*exact : nullptr;
  const ThresholdStream::Options wanted = threshold_options(options, hasher);
  OverObserver observer(options, check);
  ThresholdStream stream(wanted, &observer);
  warn_of_few_reports(options, stream);
  state.set_options(state_options(options, hasher));
  restore(options, state, stream);

  const auto start = std::chrono::steady_clock::now();
  KeyTotals totals;
  std::optional<OverCounts> counts;
  if (options.counts_at_end) counts.emplace(options, stream, report);
  // The stream does not see the keys that are in the counts.
  const auto statistics = [&] {
    ThresholdStreamStatistics so_far = stream.statistics();
    if (counts) so_far.num_keys = totals.num_keys;
    return so_far;
  };
  const auto seconds_so_far = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  LiveStatus status =
      report.status({[&] { return last_words(options, statistics(), hasher, seconds_so_far()); },
                     [&] { return summary_of(statistics(), totals.num_skipped, hasher, seconds_so_far()); }});
  if (counts) {
    counts->read(hasher, totals);
    counts->write();
  } else {
    read_keys(options, hasher, stream, check, report, totals);
  }
  const double seconds = seconds_so_far();

  const ThresholdStreamStatistics now = statistics();
  Json summary = summary_of(now, totals.num_skipped, hasher, seconds);
  if (counts) counts->add_to(summary, now.counts_exactly);
  std::optional<ExactCheck::Result> checked;
  if (exact) checked = exact->result();
  if (checked) summary["exact"] = check_json(*checked, exact->predicts());
  report.finish(summary);
  state.save([&](StateWriter& into) { stream.save(into); });
  remark(options.quiet, last_words(options, now, hasher, seconds));
  explain_counts(options);
  if (counts) counts->remark_accuracy(now.counts_exactly);
  warn_of_broken_promises(now);
  if (checked) remark(options.quiet, check_text(*checked, exact->predicts()));
  return now.num_reported > 0 ? ExitCode::success : ExitCode::none;
}

}  // namespace tally::cli
