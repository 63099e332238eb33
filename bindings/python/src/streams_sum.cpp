#include "arguments.hpp"
#include "bindings.hpp"
#include "collected.hpp"
#include "records.hpp"
#include "streams_methods.hpp"

namespace tally::python {
namespace {

using SharedSum = SharedStream<SumStream>;

SharedSum new_sum_stream(py::handle threshold, py::handle memory_bytes, py::handle window_seconds,
                         py::handle num_slots, py::handle on_event, py::handle seed, py::handle key) {
  const WindowArguments window = window_from(window_seconds, num_slots);
  const SharedSum::Setup setup{
      .options = {.threshold = whole_number(threshold, "threshold", {1, ~std::uint64_t{0}}),
                  .memory_bytes = whole_number(memory_bytes, "memory_bytes"),
                  .window = window.length,
                  .num_slots = window.num_slots},
      .hash = stream_hash_from(seed, key),
      .on_event = on_event_from(on_event)};
  return SharedSum(setup);
}

void add_sum_part(SumStream& own, std::span<const Hash128> digests, const RecordArguments& arguments,
                  ReachedKeys& reports, std::size_t first) {
  make_room(reports, digests.size());
  const auto part = [&](auto all) { return all.empty() ? all : all.subspan(first, digests.size()); };
  append_reports(reports, own.add({{}, digests, part(arguments.weights()), part(arguments.times())}), first);
}

py::object add_to_sum(SharedSum& stream, py::handle key, py::handle weight, py::handle time) {
  const KeyHasher hasher = stream.options().hasher;
  const Hash128 digest = digest_of(key, hasher);
  const RecordArguments arguments =
      RecordArguments::of_one(weight, time, stream.options().window.has_value());
  const auto reports = stream.change(1, hasher, [&](SumStream& own, ReachedKeys& of_key) {
    add_sum_part(own, {&digest, 1}, arguments, of_key, 0);
  });
  stream.deliver_events();
  return count_of_report(*reports);
}

py::tuple add_batch_to_sum(SharedSum& stream, py::handle keys, py::handle weights, py::handle times) {
  const KeyHasher hasher = stream.options().hasher;
  const KeyBatch batch(keys, hasher);
  const RecordArguments arguments(weights, times, batch.size(), stream.options().window.has_value());
  const auto reports = stream.change(batch.size(), hasher, [&](SumStream& own, ReachedKeys& of_batch) {
    batch.for_each_part([&](std::size_t first, std::span<const Hash128> digests) {
      add_sum_part(own, digests, arguments, of_batch, first);
    });
  });
  stream.deliver_events();
  return arrays_of_reports(*reports);
}

struct SumNumbers {
  std::uint64_t num_records, total, num_reported, num_possible_repeats, num_late, num_left_out, memory_bytes;
  CountMinBound bound;
};

SumNumbers sum_numbers(const SharedSum& stream) {
  return stream.use(1, [](const SumStream& own) {
    return SumNumbers{own.num_records(),      own.total(),
                      own.num_reported(),     own.num_possible_repeats(),
                      own.clock().num_late(), own.clock().num_left_out(),
                      own.memory_bytes(),     own.bound()};
  });
}

py::object sum_statistics(const SharedSum& stream) {
  const SumNumbers now = sum_numbers(stream);
  return record("SumStreamStatistics", "num_records"_a = now.num_records, "total"_a = now.total,
                "num_reported"_a = now.num_reported, "num_possible_repeats"_a = now.num_possible_repeats,
                "num_late"_a = now.num_late, "num_left_out"_a = now.num_left_out,
                "memory_bytes"_a = now.memory_bytes,
                "bound"_a = record("CountMinBound", "epsilon"_a = now.bound.epsilon,
                                   "failure_probability"_a = now.bound.failure_probability),
                "seed"_a = seed_of(stream.options().hasher));
}

std::string sum_repr(const SharedSum& stream) {
  const SumNumbers now = sum_numbers(stream);
  return "<tally.SumStream(" + std::to_string(stream.options().threshold) + "): " + grouped(now.num_records) +
         " records, " + grouped(now.total) + " in total, " + grouped(now.num_reported) +
         " reported, a sum is too high by more than " +
         short_number(now.bound.epsilon * static_cast<double>(now.total)) + " with probability " +
         short_number(now.bound.failure_probability) + ", " + grouped(now.memory_bytes) + " bytes, " +
         seed_text(stream.options().hasher) + ">";
}

constexpr const char* sum_signature =
    "SumStream(threshold, *, memory_bytes=16777216, window_seconds=None, num_slots=1, on_event=None, "
    "seed=None, "
    "key=None)";

constexpr const char* sum_text =
    "Reports each key when the sum of its weights reaches `threshold` (1 to 2^64 - 1): in the whole stream, "
    "or\n"
    "in a window of time. No key is missed, because no sum is too low. memory_bytes is the limit of "
    "sketches\n"
    "and reported keys together, at least 4096 per slot; once the set of reported keys is full, a key may "
    "be\n"
    "reported again.\n\n"
    "With window_seconds (above 0, at most 146 years), each record needs a time. The window is divided into\n"
    "num_slots (1 to 1000), and num_slots + 1 slots have a sketch each: a sum reaches back at least one "
    "window,\n"
    "and at most one window and one slot. A key is reported again only after that. Time never goes back: a\n"
    "record before an earlier one is late and counts at the latest time; if it is late by a window or more, "
    "it\n"
    "does not count at all. statistics() has the number of both.\n\n"
    "on_event(name, **fields): 'filled_reported_keys' (num_keys); see ThresholdStream, also for seed and "
    "key.\n"
    "Threads may share a stream; their batches follow one another.\n"
    "Source: conservative update: Estan and Varghese 2002; the bound: Cormode and Muthukrishnan 2003.";

}  // namespace

void bind_sum_stream(py::module_& module) {
  py::class_<SharedSum> cls(module, "SumStream", documented(sum_signature, sum_text).c_str(),
                            py::custom_type_setup(Collected<SharedSum>::setup));
  cls.def(py::init(&new_sum_stream), "threshold"_a, py::kw_only(), "memory_bytes"_a = std::uint64_t{16} << 20,
          "window_seconds"_a = py::none(), "num_slots"_a = 1, "on_event"_a = py::none(),
          "seed"_a = py::none(), "key"_a = py::none(), init_documentation(sum_signature).c_str());
  method(cls, "add(self, key, weight=1, time=None)", add_to_sum,
         "Adds one key with a weight (0 to 2^64 - 1), and its time if there is a window. Returns its sum if "
         "it is\n"
         "reported now, else None.",
         "key"_a, "weight"_a = 1, "time"_a = py::none());
  method(
      cls, "add_batch(self, keys, weights=None, times=None)", add_batch_to_sum,
      "Adds keys, in order, with one weight (0 to 2^64 - 1; None: 1 each) and one time for each. times are\n"
      "numpy datetime64 or a pandas Series of datetimes, integers (nanoseconds) or floats (seconds), since "
      "any\n"
      "fixed moment. Returns the positions (int64) of the keys that are reported now, ascending, and their "
      "sums\n"
      "(uint64). After a MemoryError the stream is unusable.",
      "keys"_a, "weights"_a = py::none(), "times"_a = py::none());
  property(
      cls, "reached", [](const SharedSum& stream) { return arrays_of_reports(*stream.reached()); },
      "What the latest call of add or add_batch returned, as (positions, sums), even if it raised.");
  property(
      cls, "threshold", [](const SharedSum& stream) { return stream.options().threshold; },
      "The sum at which a key is reported.");
  method(cls, "statistics(self)", sum_statistics,
         "What the stream has done so far and its error, as a tally.SumStreamStatistics.");
  method(cls, "__repr__(self)", sum_repr, "Counts and error now.");
  define_state<SumStream>(cls);
}

}  // namespace tally::python
