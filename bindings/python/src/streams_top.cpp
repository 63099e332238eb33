#include <algorithm>
#include <string>

#include "arguments.hpp"
#include "bindings.hpp"
#include "records.hpp"
#include "shapes.hpp"
#include "sketch.hpp"
#include "streams_methods.hpp"
#include "tally/serialization/sketch_files.hpp"

namespace tally::python {
namespace {

using SharedTop = SharedStream<TopStream>;

// As in the command: a slot of a window has a quarter.
constexpr std::uint64_t default_candidates = 16384;
constexpr std::uint64_t default_width = 65536;
constexpr std::uint64_t window_divisor = 4;

CountMinShape planned_sketch(bool has_window) {
  return {has_window ? default_width / window_divisor : default_width, 4, 1, 64, CounterUpdate::conservative};
}

CountMinShape sketch_shape_from(py::handle sketch) {
  const FilterShape shape = shape_from(sketch);
  if (shape.kind() != FilterKind::count_min || shape.scheme_id != DefaultRows::file_id)
    throw_value_error("sketch", sketch, "a tally.CountMinShape with the scheme 'congruential'");
  return std::get<CountMinShape>(shape.shape);
}

SharedTop new_top_stream(py::handle capacity, py::handle window_seconds, py::handle num_slots,
                         py::handle method, py::handle sketch, py::handle seed, py::handle key) {
  const WindowArguments window = window_from(window_seconds, num_slots);
  const std::string own_method = text(method, "method");
  if (own_method != "sketch" && own_method != "space-saving")
    throw_value_error("method", method, "'sketch' or 'space-saving'");
  const bool space_saving = own_method == "space-saving";
  if (space_saving && !sketch.is_none())
    throw_value_error("sketch", sketch, "None with the method 'space-saving', which has no sketch");
  const std::uint64_t planned = default_candidates / (window.length ? window_divisor : 1);
  const SharedTop::Setup setup{
      .options = {.capacity = capacity.is_none()
                                  ? planned
                                  : whole_number(capacity, "capacity", {1, CountedKeys::max_capacity}),
                  .sketch = space_saving       ? CountMinShape{}
                            : sketch.is_none() ? planned_sketch(window.length.has_value())
                                               : sketch_shape_from(sketch),
                  .space_saving = space_saving,
                  .window = window.length,
                  .num_slots = window.num_slots},
      .hash = stream_hash_from(seed, key)};
  return SharedTop(setup);
}

void add_to_top(SharedTop& stream, py::handle key, py::handle weight, py::handle time) {
  const KeyHasher hasher = stream.options().hasher;
  const KeyText text(key);
  const std::string_view view = text.view();
  const Hash128 digest = hasher(view);
  const RecordArguments arguments =
      RecordArguments::of_one(weight, time, stream.options().window.has_value());
  stream.change(1, hasher, [&](TopStream& own, ReachedKeys&) {
    own.add({{&view, 1}, {&digest, 1}, arguments.weights(), arguments.times()});
  });
}

void add_batch_to_top(SharedTop& stream, py::handle keys, py::handle weights, py::handle times) {
  const KeyHasher hasher = stream.options().hasher;
  const KeyTexts texts(keys, hasher);
  const RecordArguments arguments(weights, times, texts.size(), stream.options().window.has_value());
  stream.change(texts.size(), hasher, [&](TopStream& own, ReachedKeys&) {
    own.add({texts.views(), texts.digests(), arguments.weights(), arguments.times()});
  });
}

/// With a copy of the bytes of keys, which another thread may replace while objects of Python are made.
struct OwnedRanking {
  explicit OwnedRanking(Ranking of_stream) : ranking(std::move(of_stream)) {
    keys.reserve(ranking.keys.size());
    for (KeyCount& count : ranking.keys) {
      keys.emplace_back(count.key);
      count.key = keys.back();
    }
  }

  std::vector<std::string> keys;
  Ranking ranking;
};

/// All candidates above the share, or the num_keys first ones.
OwnedRanking ranking_of_stream(const SharedTop& stream, std::uint64_t num_keys, std::optional<double> share) {
  return stream.use(Held::long_batch, [&](const TopStream& own) {
    return OwnedRanking(share ? above_share_of(own.candidates(), *share)
                              : top_of(own.candidates(), num_keys));
  });
}

py::list list_of_counts(const OwnedRanking& owned, KeyType type) {
  py::list list;
  for (const KeyCount& count : owned.ranking.keys) list.append(key_count_of(count, type));
  return list;
}

py::list top_of_stream(const SharedTop& stream, py::handle num_keys, py::handle as_type) {
  const std::uint64_t most = whole_number(num_keys, "num_keys");
  const KeyType type = key_type_from(as_type);
  return list_of_counts(ranking_of_stream(stream, most, std::nullopt), type);
}

py::object ranking_record(const SharedTop& stream, py::handle num_keys, py::handle share,
                          py::handle as_type) {
  const std::uint64_t most = whole_number(num_keys, "num_keys");
  const auto own_share = argument<std::optional<double>>(share, "share");
  if (own_share && !(0 < *own_share && *own_share < 1))
    throw_value_error("share", share, "above 0 and below 1");
  const KeyType type = key_type_from(as_type);
  const OwnedRanking owned = ranking_of_stream(stream, most, own_share);
  return record("Ranking", "keys"_a = list_of_counts(owned, type), "total"_a = owned.ranking.total,
                "floor"_a = owned.ranking.floor, "bound_of_others"_a = owned.ranking.bound_of_others);
}

struct TopNumbers {
  std::uint64_t num_records, total, floor, num_candidates, num_late, num_left_out, memory_bytes;
};

TopNumbers top_numbers(const SharedTop& stream) {
  return stream.use(Held::long_batch, [](const TopStream& own) {
    const Ranking all = own.candidates();
    return TopNumbers{
        own.num_records(),          all.total,         all.floor, all.keys.size(), own.clock().num_late(),
        own.clock().num_left_out(), own.memory_bytes()};
  });
}

py::object top_statistics(const SharedTop& stream) {
  const TopNumbers now = top_numbers(stream);
  return record("TopStreamStatistics", "num_records"_a = now.num_records, "total"_a = now.total,
                "floor"_a = now.floor, "num_candidates"_a = now.num_candidates, "num_late"_a = now.num_late,
                "num_left_out"_a = now.num_left_out, "memory_bytes"_a = now.memory_bytes,
                "seed"_a = seed_of(stream.options().hasher));
}

std::string top_repr(const SharedTop& stream) {
  const TopNumbers now = top_numbers(stream);
  return "<tally.TopStream(" + std::to_string(stream.options().capacity) + "): " + grouped(now.num_records) +
         " records, " + grouped(now.total) + " in total, " + grouped(now.num_candidates) +
         " candidates, any other key at most " + grouped(now.floor) + ", " + grouped(now.memory_bytes) +
         " bytes, " + seed_text(stream.options().hasher) + ">";
}

py::object sketch_of_stream(const SharedTop& stream) {
  if (stream.options().window)
    throw py::value_error(
        "a stream with a window has a sketch in each slot, so it has no single one; save() its state");
  return wrapped(stream.use(Held::long_batch, [&](const TopStream& own) {
    return deserialize_sketch(own.file(), stream.secret());
  }));
}

constexpr const char* top_signature =
    "TopStream(capacity=None, *, window_seconds=None, num_slots=1, method='sketch', sketch=None, seed=None, "
    "key=None)";

constexpr const char* top_text =
    "The most frequent keys of a stream, or of its last window: `capacity` (1 to 2^30) candidates with "
    "their\n"
    "bytes, counted exactly while they are candidates, and a Count-Min sketch of this shape for all other "
    "keys.\n"
    "Certain: count - error <= truth <= count for each candidate, and a key that is not a candidate occurred "
    "at\n"
    "most `floor` times, which is at most total / capacity. method 'space-saving' has no sketch and larger\n"
    "errors for the same memory. The defaults are those of the command: 16384 candidates and 4 rows of "
    "65536\n"
    "counters; with a window, a quarter of both in each slot.\n\n"
    "For window_seconds, num_slots and late records see SumStream; the errors and floors of the slots add "
    "up.\n"
    "The seed is random unless you give one; `key` is the secret of a keyed hash. Threads may share a "
    "stream.\n"
    "Source: Roy, Khan and Alonso 2016; Metwally, Agrawal and El Abbadi 2005; the bounds are ours.";

}  // namespace

void bind_top_stream(py::module_& module) {
  py::class_<SharedTop> cls(module, "TopStream", documented(top_signature, top_text).c_str());
  cls.def(py::init(&new_top_stream), "capacity"_a = py::none(), py::kw_only(),
          "window_seconds"_a = py::none(), "num_slots"_a = 1, "method"_a = "sketch", "sketch"_a = py::none(),
          "seed"_a = py::none(), "key"_a = py::none(), init_documentation(top_signature).c_str());
  method(cls, "add(self, key, weight=1, time=None)", add_to_top,
         "Adds one key with a weight (0 to 2^64 - 1), and its time if there is a window.", "key"_a,
         "weight"_a = 1, "time"_a = py::none());
  method(cls, "add_batch(self, keys, weights=None, times=None)", add_batch_to_top,
         "Adds keys, in order, with one weight (None: 1 each) and one time for each; see "
         "SumStream.add_batch. Keys,\n"
         "not digests, because the bytes of candidates are kept. After a MemoryError the stream is unusable.",
         "keys"_a, "weights"_a = py::none(), "times"_a = py::none());
  method(cls, "top(self, num_keys=10, *, as_type=None)", top_of_stream,
         "The num_keys candidates with the greatest counts, as a list of tally.KeyCount. as_type says what "
         "their\n"
         "bytes are: bytes (the default), str (UTF-8) or int (8 little-endian bytes, signed).",
         "num_keys"_a = 10, py::kw_only(), "as_type"_a = py::none());
  method(cls, "ranking(self, num_keys=10, *, share=None, as_type=None)", ranking_record,
         "The same with bounds on all other keys, as a tally.Ranking; with a share (above 0, below 1), all "
         "keys\n"
         "whose counts are above this share of the total instead of num_keys of them: if the floor is not "
         "above\n"
         "it, no key above it is missing.",
         "num_keys"_a = 10, py::kw_only(), "share"_a = py::none(), "as_type"_a = py::none());
  method(cls, "sketch(self)", sketch_of_stream,
         "A copy as a tally.TopKeys or tally.SpaceSaving, to merge with those of other streams (of the same "
         "seed) or\n"
         "to save as a file that the command reads. Raises ValueError for a stream with a window.");
  property(
      cls, "capacity", [](const SharedTop& stream) { return stream.options().capacity; },
      "The most candidates, per slot.");
  method(cls, "statistics(self)", top_statistics,
         "What the stream has done so far and its bounds, as a tally.TopStreamStatistics.");
  method(cls, "__repr__(self)", top_repr, "Counts and bounds now.");
  define_state<TopStream>(cls);
}

}  // namespace tally::python
