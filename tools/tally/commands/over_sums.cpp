#include <fmt/core.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>

#include "cli/signals.hpp"
#include "commands/over_report.hpp"
#include "tally/streams/sum.hpp"
#include "text/key_json.hpp"

namespace tally::cli {
namespace {

/// Sums and windows take this much if --memory is not given.
constexpr std::uint64_t default_sum_memory = std::uint64_t{16} << 20;

void refuse_too_little_memory(const SumStream::Options& wanted) {
  const std::uint64_t least = SumStream::least_memory_bytes(wanted);
  if (wanted.memory_bytes >= least) return;
  throw std::invalid_argument(fmt::format(
      "--memory is {}; {} slots need at least {}", human_bytes(static_cast<double>(wanted.memory_bytes)),
      wanted.window ? std::uint64_t{wanted.num_slots} + 1 : 1, human_bytes(static_cast<double>(least))));
}

}  // namespace

SumStream::Options sum_options(const OverOptions& options, const KeyHasher& hasher) {
  const SumStream::Options wanted{.threshold = options.threshold,
                                  .memory_bytes = options.memory_bytes.value_or(default_sum_memory),
                                  .window = options.window,
                                  .num_slots = options.num_slots,
                                  .hasher = hasher};
  refuse_too_little_memory(wanted);
  return wanted;
}

ExitCode run_over_sums(const OverOptions& options, StreamState& state) {
  OverReport report(options);
  const KeyHasher hasher = options.hasher.hasher();
  const SumStream::Options wanted = sum_options(options, hasher);
  OverObserver observer(options, nullptr);
  SumStream stream(wanted, &observer);
  state.set_options(state_options(options, hasher));
  restore(options, state, stream);
  RecordReader reader(report.input(), options.records, hasher, options.window.has_value());
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const auto overcount = [&] { return stream.bound().epsilon * static_cast<double>(stream.total()); };
  const auto summary = [&] {
    Json json{{"num_lines", stream.num_records()},
              {"total", stream.total()},
              {"num_reported", stream.num_reported()},
              {"num_possible_repeats", stream.num_possible_repeats()},
              {"overcount_at_most", overcount()},
              {"failure_probability", stream.bound().failure_probability},
              {"num_late_lines", stream.clock().num_late()},
              {"num_lines_left_out", stream.clock().num_left_out()},
              {"num_skipped_lines", reader.num_skipped()},
              {"memory_bytes", stream.memory_bytes()},
              {"seconds", seconds()},
              {"interrupted", stop_requested()}};
    json.update(hash_json(hasher));
    return json;
  };
  const auto words = [&] {
    return fmt::format(
        "{}{} lines, {} reported at {}{}; a sum is too high by more than {:.0f} with a "
        "probability of at most {}{}; {}, {:.2f} s; {}",
        stop_requested() ? "interrupted after " : "", stream.num_records(), stream.num_reported(),
        options.threshold, options.window ? " within " + duration_text(*options.window) : std::string(),
        overcount(), human_rate(stream.bound().failure_probability), unless_chosen(hasher),
        human_bytes(static_cast<double>(stream.memory_bytes())), seconds(), hash_text(hasher));
  };
  const LiveStatus status = report.status({words, summary});
  for_each_record(reader, options.quiet,
                  [&](const StreamRecords& records) { report.write(reader.texts(), stream.add(records)); });
  report.finish(summary());
  state.save([&](StateWriter& into) { stream.save(into); });
  remark(options.quiet, words());
  if (stream.num_possible_repeats() > 0) {
    remark(options.quiet,
           fmt::format("{} reports may be repeats: the set of reported keys was full; give more --memory",
                       stream.num_possible_repeats()));
  }
  explain_counts(options);
  remark_lines_lost(options.quiet, reader.num_skipped(), stream.clock());
  return stream.num_reported() > 0 ? ExitCode::success : ExitCode::none;
}

}  // namespace tally::cli
