#include "commands/over_explain.hpp"

#include <fmt/core.h>

#include <optional>

#include "tally/streams/observer.hpp"
#include "tally/streams/sum.hpp"
#include "tally/streams/threshold.hpp"
#include "text/bound_text.hpp"
#include "text/explanation.hpp"
#include "text/output.hpp"

namespace tally::cli {
namespace {

struct FirstGeneration : StreamObserver {
  void opened_generation(const OpenedGeneration& opened) override { first = opened; }

  std::optional<OpenedGeneration> first;
};

std::string count_text(std::uint64_t number) { return human_count(static_cast<double>(number)); }

std::string plan_of(const ThresholdStream::Options& wanted, const FirstGeneration& opened) {
  if (!opened.first) {
    return fmt::format(
        "Counts the first {} distinct keys exactly. If there are more, plans a filter of counters from their "
        "number, and "
        "opens a larger one whenever there are more keys than the last one was planned for.",
        wanted.exact_keys);
  }
  return fmt::format(
      "Counts keys in a filter of {} counters of {} bits, {} of them for each key, planned for {} "
      "distinct keys.",
      count_text(opened.first->shape.num_counters), counter_bits_for(opened.first->shape),
      opened.first->shape.num_hashes, count_text(opened.first->num_keys));
}

std::string memory_of(const ThresholdStream::Options& wanted, const ThresholdStream& stream) {
  const std::uint64_t now = stream.statistics().memory_bytes;
  if (wanted.memory_bytes) {
    return fmt::format("Memory: {} at the start, and never more than {}.", exact_bytes(now),
                       exact_bytes(*wanted.memory_bytes));
  }
  constexpr std::uint64_t example = 1'000'000;
  const std::uint64_t num_keys = wanted.num_keys.value_or(example);
  return fmt::format(
      "Memory: {} at the start, and at most {} with {} distinct keys if all of them are printed.",
      exact_bytes(now), exact_bytes(stream.memory_bytes_with(num_keys)), count_text(num_keys));
}

std::string_view when_there_are_more_keys(const ThresholdStream::Options& wanted) {
  if (wanted.memory_bytes)
    return "With more keys than planned that probability grows, and the run ends with a warning.";
  if (wanted.num_keys) {
    return "With more keys than planned, larger filters are opened and that probability grows, and the run "
           "ends with a "
           "warning.";
  }
  return "That holds for any number of keys.";
}

std::string repeats_of(const ThresholdStream::Options& wanted, const ThresholdStream& stream) {
  if (!wanted.memory_bytes) return "No key is printed twice.";
  return fmt::format(
      "The set of printed keys has room for about {}: when it is full, a key may be printed again.",
      count_text(stream.reported_keys_capacity()));
}

std::string counts_of(const OverOptions& options) {
  const std::string memory =
      options.memory_bytes
          ? fmt::format(
                "at most {} besides; when that is full, further keys are printed at once, without a count",
                exact_bytes(*options.memory_bytes - *options.memory_of_stream()))
          : "memory that grows with their number";
  return fmt::format(
      " --counts-at-end keeps each of these keys with its count, in {}. No count is too low; that of a key "
      "which is printed "
      "although it occurs fewer times is too high by at most {}.",
      memory, options.threshold - 1);
}

}  // namespace

ExitCode explain_over_threshold(const OverOptions& options) {
  FirstGeneration observer;
  const ThresholdStream::Options wanted = threshold_options(options, 0);
  const ThresholdStream stream(wanted, &observer);
  print_explanation(fmt::format(
      "{} Keeps a digest of each printed key, and no other key. {} No key that occurs {} is missed, "
      "unless two "
      "keys have the same digest. A key that occurs fewer times is printed with a probability of at most "
      "{}{}. {} {}{}{}",
      plan_of(wanted, observer), memory_of(wanted, stream),
      options.threshold == 1 ? "once" : fmt::format("{} times", options.threshold),
      human_rate(stream.statistics().planned_false_positive_rate), unless_chosen(options.hasher),
      when_there_are_more_keys(wanted), repeats_of(wanted, stream),
      options.exact ? " --exact keeps every key with its count besides, in memory that nothing bounds." : "",
      options.counts_at_end ? counts_of(options) : ""));
  return ExitCode::success;
}

ExitCode explain_over_sums(const OverOptions& options) {
  const SumStream::Options wanted = sum_options(options, 0);
  const SumStream stream(wanted);
  const std::string window =
      options.window ? fmt::format(" within {}", duration_text(*options.window)) : std::string();
  print_explanation(fmt::format(
      "Adds up the {} of each key in {}. Keeps a digest of each printed key, and no other key. Memory: {} at "
      "the start, "
      "and never more than {}. A sum is never too low: no key whose sum reaches {}{} is missed, unless two "
      "keys have "
      "the same digest. A sum is {}{}. When the set of printed keys is full, a key may be printed again.{}",
      options.records.sum_fields.empty() ? "occurrences" : "weights",
      options.window ? fmt::format("{} Count-Min sketches, one for each slot of the window and one more",
                                   wanted.num_slots + 1)
                     : "a Count-Min sketch",
      exact_bytes(stream.memory_bytes()), exact_bytes(wanted.memory_bytes), options.threshold, window,
      bound_text(stream.bound()), unless_chosen(options.hasher),
      options.window
          ? " Sums reach back over the window and up to one slot more; lines that come later than that are "
            "left out and counted."
          : ""));
  return ExitCode::success;
}

}  // namespace tally::cli
