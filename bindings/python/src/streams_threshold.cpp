#include <memory>

#include "arguments.hpp"
#include "bindings.hpp"
#include "collected.hpp"
#include "records.hpp"
#include "shapes.hpp"
#include "streams_methods.hpp"

namespace tally::python {
namespace {

using SharedThreshold = SharedStream<ThresholdStream>;

SharedThreshold new_threshold_stream(py::handle threshold, py::handle num_keys, py::handle memory_bytes,
                                     py::handle false_positive_rate, py::handle update, py::handle exact_keys,
                                     py::handle exact_check, py::handle on_event, py::handle seed,
                                     py::handle key) {
  const SharedThreshold::Setup setup{
      .options = {.threshold = whole_number(threshold, "threshold"),
                  .num_keys = argument<std::optional<std::uint64_t>>(num_keys, "num_keys"),
                  .memory_bytes = argument<std::optional<std::uint64_t>>(memory_bytes, "memory_bytes"),
                  .false_positive_rate =
                      argument<std::optional<double>>(false_positive_rate, "false_positive_rate"),
                  .update = named_value(update, "update", counter_updates),
                  .exact_keys = whole_number(exact_keys, "exact_keys", {1, std::uint64_t{1} << 40})},
      .hash = stream_hash_from(seed, key),
      .on_event = on_event_from(on_event),
      .checks = truth(exact_check, "exact_check")};
  return SharedThreshold(setup);
}

/// Adds a part, and keeps its reports even if that throws.
void add_part(ThresholdStream& own, std::span<const Hash128> digests, ReachedKeys& reports,
              std::size_t first) {
  make_room(reports, digests.size());
  try {
    append_reports(reports, own.add_batch(digests), first);
  } catch (...) {
    append_reports(reports, own.reached(), first);
    throw;
  }
}

using SharedReports = std::shared_ptr<const ReachedKeys>;

/// With the bytes of the keys, which an ExactCheck compares.
SharedReports add_checked(SharedThreshold& stream, std::span<const std::string_view> keys,
                          std::span<const Hash128> digests, const KeyHasher& hasher) {
  return stream.change(keys.size(), hasher, [&](ThresholdStream& own, ReachedKeys& reports) {
    stream.check()->begin_batch(keys);
    add_part(own, digests, reports, 0);
  });
}

py::object add_to_threshold(SharedThreshold& stream, py::handle key) {
  const KeyHasher hasher = stream.options().hasher;
  SharedReports reports;
  if (stream.has_check()) {
    const KeyText text(key);
    const std::string_view view = text.view();
    const Hash128 digest = hasher(view);
    reports = add_checked(stream, {&view, 1}, {&digest, 1}, hasher);
  } else {
    const Hash128 digest = digest_of(key, hasher);
    reports = stream.change(1, hasher, [&](ThresholdStream& own, ReachedKeys& of_key) {
      add_part(own, {&digest, 1}, of_key, 0);
    });
  }
  stream.deliver_events();
  return count_of_report(*reports);
}

py::tuple add_batch_to_threshold(SharedThreshold& stream, py::handle keys) {
  const KeyHasher hasher = stream.options().hasher;
  SharedReports reports;
  if (stream.has_check()) {
    const KeyTexts texts(keys, hasher);
    reports = add_checked(stream, texts.views(), texts.digests(), hasher);
  } else {
    const KeyBatch batch(keys, hasher);
    reports = stream.change(batch.size(), hasher, [&](ThresholdStream& own, ReachedKeys& of_batch) {
      batch.for_each_part([&](std::size_t first, std::span<const Hash128> digests) {
        add_part(own, digests, of_batch, first);
      });
    });
  }
  stream.deliver_events();
  return arrays_of_reports(*reports);
}

ThresholdStreamStatistics threshold_statistics(const SharedThreshold& stream) {
  return stream.use(Held::long_batch, [](const ThresholdStream& own) { return own.statistics(); });
}

py::object threshold_statistics_record(const SharedThreshold& stream) {
  const ThresholdStreamStatistics now = threshold_statistics(stream);
  return record("ThresholdStreamStatistics", "num_keys"_a = now.num_keys,
                "num_distinct_keys"_a = now.num_distinct_keys, "num_reported"_a = now.num_reported,
                "num_possible_repeats"_a = now.num_possible_repeats, "counts_exactly"_a = now.counts_exactly,
                "num_generations"_a = now.num_generations, "memory_bytes"_a = now.memory_bytes,
                "false_positive_rate"_a = now.false_positive_rate,
                "planned_false_positive_rate"_a = now.planned_false_positive_rate,
                "num_expected_false_reports"_a = float_or_none(now.num_expected_false_reports),
                "seed"_a = seed_of(stream.options().hasher));
}

std::string threshold_repr(const SharedThreshold& stream) {
  const ThresholdStreamStatistics now = threshold_statistics(stream);
  return "<tally.ThresholdStream(" + std::to_string(stream.options().threshold) +
         "): " + grouped(now.num_keys) + " keys, " + (now.counts_exactly ? "" : "about ") +
         grouped(now.num_distinct_keys) + " distinct, " + grouped(now.num_reported) + " reported, " +
         (now.counts_exactly ? "counted exactly"
                             : "false positive rate at most " + short_number(now.false_positive_rate)) +
         ", " + grouped(now.memory_bytes) + " bytes, " + seed_text(stream.options().hasher) + ">";
}

py::object check_result(const SharedThreshold& stream) {
  if (!stream.has_check())
    throw py::value_error(
        "the stream was made without exact_check; pass exact_check=True to its constructor");
  const ExactCheck::Result result =
      stream.use(Held::long_batch, [&](const ThresholdStream&) { return stream.check()->result(); });
  const auto predicted = [&](double number) {
    return float_or_none(stream.check()->predicts() ? std::optional(number) : std::nullopt);
  };
  return record("ExactCheckResult", "num_distinct_keys"_a = result.num_distinct,
                "num_keys_over_threshold"_a = result.num_over, "num_missed"_a = result.num_missed,
                "num_early_reports"_a = result.num_early, "num_false_reports"_a = result.num_false,
                "predicted_early_reports"_a = predicted(result.predicted_early),
                "predicted_false_reports"_a = predicted(result.predicted_false),
                "predicted_standard_deviation"_a = predicted(result.standard_deviation));
}

constexpr const char* threshold_signature =
    "ThresholdStream(threshold, *, num_keys=None, memory_bytes=None, false_positive_rate=None, "
    "update='plain', "
    "exact_keys=65536, exact_check=False, on_event=None, seed=None, key=None)";

constexpr const char* threshold_text =
    "Reports each key once, when it has been added `threshold` times (1 to 2^32 - 1). No key is missed. A "
    "key\n"
    "that occurs less often is reported with a probability of at most false_positive_rate (default 0.01).\n\n"
    "Without num_keys and memory_bytes, the first exact_keys (1 to 2^40) distinct keys are counted exactly;\n"
    "then filters count, each for twice as many keys as the one before, so that all of them together meet "
    "the\n"
    "rate for any number of keys. num_keys (1 to 2^56) plans the first filter for this number of distinct "
    "keys.\n"
    "memory_bytes (at least 4096) limits filters and the set of reported keys together: with more keys than\n"
    "fit the rate grows, and once the set is full, a key may be reported again; statistics() has both.\n"
    "update 'conservative' has fewer false reports, but theory only bounds their rate.\n\n"
    "The seed is random unless you give one, so that nobody can prepare keys that collide; `key` is the "
    "secret\n"
    "of a keyed hash. exact_check=True also counts exactly, in unbounded memory; see check_result().\n\n"
    "on_event(name, **fields) is called after the batch in which something happened, before add_batch "
    "returns:\n"
    "'ended_exact_counting' (num_keys), 'opened_generation' (number, num_keys, shape, false_positive_rate),\n"
    "'exceeded_plan' (planned_keys, num_keys, false_positive_rate), 'filled_reported_keys' (num_keys). If "
    "it\n"
    "raises, the whole batch has been added: `reached` has its reports, and events that were not delivered\n"
    "follow after the next batch.\n\n"
    "Threads may share a stream; their batches follow one another.\n"
    "Source: Kim et al. 2019.";

}  // namespace

void bind_threshold_stream(py::module_& module) {
  py::class_<SharedThreshold> cls(module, "ThresholdStream",
                                  documented(threshold_signature, threshold_text).c_str(),
                                  py::custom_type_setup(Collected<SharedThreshold>::setup));
  cls.def(py::init(&new_threshold_stream), "threshold"_a, py::kw_only(), "num_keys"_a = py::none(),
          "memory_bytes"_a = py::none(), "false_positive_rate"_a = py::none(), "update"_a = "plain",
          "exact_keys"_a = std::uint64_t{1} << 16, "exact_check"_a = false, "on_event"_a = py::none(),
          "seed"_a = py::none(), "key"_a = py::none(), init_documentation(threshold_signature).c_str());
  method(cls, "add(self, key)", add_to_threshold,
         "Adds one key. Returns its count if it is reported now, else None.", "key"_a);
  method(
      cls, "add_batch(self, keys)", add_batch_to_threshold,
      "Adds keys, in order. Returns the positions (int64) of those that are reported now, ascending, and\n"
      "their counts (uint64): the threshold, or slightly more where keys share counters. The reports do not\n"
      "depend on how the stream is divided into batches. If it raises MemoryError, a part of the batch may\n"
      "have been counted: `reached` has its reports, and if the batch is added again, no key is missed.",
      "keys"_a);
  property(
      cls, "reached", [](const SharedThreshold& stream) { return arrays_of_reports(*stream.reached()); },
      "What the latest call of add or add_batch returned, as (positions, counts), even if it raised.");
  property(
      cls, "threshold", [](const SharedThreshold& stream) { return stream.options().threshold; },
      "The count at which a key is reported.");
  method(cls, "statistics(self)", threshold_statistics_record,
         "What the stream has done so far and its error rates, as a tally.ThresholdStreamStatistics.");
  method(
      cls, "check_result(self)", check_result,
      "The reports so far against exact counts and theory, as a tally.ExactCheckResult. Raises ValueError\n"
      "without exact_check.");
  method(cls, "__repr__(self)", threshold_repr, "Counts and false positive rate now.");
  define_state<ThresholdStream>(cls);
}

}  // namespace tally::python
