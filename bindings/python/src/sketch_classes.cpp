#include <array>

#include "arguments.hpp"
#include "batches.hpp"
#include "bindings.hpp"
#include "records.hpp"
#include "shapes.hpp"
#include "sketch.hpp"

namespace tally::python {
namespace {

struct TopKeysOf : Sketch {
  using Sketch::Sketch;
};
struct SpaceSavingOf : Sketch {
  using Sketch::Sketch;
};
struct CountMinWindowOf : Sketch {
  using Sketch::Sketch;
};

template <class Own>
constexpr bool has_candidates = requires(const Own& own) {
  own.candidates();
};

/// Python lets a method of one class be called on an object of another one.
void require_class(const Sketch& sketch, bool is_window) {
  if ((kind_of(sketch.peek()) == FileKind::count_min_window) != is_window)
    throw py::type_error(std::string("self is a ") + std::string(name_of(kind_of(sketch.peek()))) +
                         " sketch; must be of the class of this method");
}

/// A sketch of the scheme of this shape: make(type_identity of rows, shape).
template <class Make>
AnySketch sketch_of_rows(py::handle shape, Make make) {
  const FilterShape own = shape_from(shape);
  if (own.kind() != FilterKind::count_min) throw_type_error("sketch", shape, "a tally.CountMinShape");
  std::optional<AnySketch> sketch;
  RowSchemes::with_id(own.scheme_id,
                      [&](auto rows) { sketch.emplace(make(rows, std::get<CountMinShape>(own.shape))); });
  return *std::move(sketch);
}

void add_key(Sketch& sketch, py::handle key, py::handle weight) {
  const std::uint64_t own_weight = whole_number(weight, "weight");
  require_class(sketch, false);
  const KeyText text(key);
  sketch.write(1, [&](auto& own) {
    if constexpr (has_candidates<std::remove_cvref_t<decltype(own)>>) own.add(text.view(), own_weight);
  });
}

void add_keys(Sketch& sketch, py::handle keys, py::handle weights) {
  require_class(sketch, false);
  const KeyTexts texts(keys, sketch.hasher());
  std::optional<Numbers> numbers;
  if (!weights.is_none()) numbers.emplace(weights, texts.size(), "weights");
  sketch.write(texts.size(), [&](auto& own) {
    if constexpr (has_candidates<std::remove_cvref_t<decltype(own)>>)
      own.add_batch(texts.views(), texts.digests(),
                    numbers ? numbers->span() : std::span<const std::uint64_t>());
  });
}

py::list top_keys(const Sketch& sketch, py::handle num_keys, py::handle as_type) {
  require_class(sketch, false);
  const std::uint64_t most = whole_number(num_keys, "num_keys");
  const KeyType type = key_type_from(as_type);
  struct Found {
    std::string key;
    KeyCount count;
  };
  // With a copy of the keys' bytes: another thread may change the sketch while objects are made.
  const auto all = sketch.read(1, [&](const auto& own) {
    std::vector<Found> copies;
    if constexpr (has_candidates<std::remove_cvref_t<decltype(own)>>)
      for (const KeyCount& count : own.top(most)) copies.push_back({std::string(count.key), count});
    return copies;
  });
  py::list list;
  for (Found found : all) {
    found.count.key = found.key;
    list.append(key_count_of(found.count, type));
  }
  return list;
}

py::object estimate_of_key(const Sketch& sketch, py::handle key) {
  require_class(sketch, false);
  const KeyText text(key);
  KeyCount found;
  sketch.read(1, [&](const auto& own) {
    if constexpr (has_candidates<std::remove_cvref_t<decltype(own)>>) found = own.estimate(text.view());
  });
  return record("KeyCount", "key"_a = py::reinterpret_borrow<py::object>(key), "count"_a = found.count,
                "error"_a = found.error);
}

template <class Get>
std::uint64_t number_of(const Sketch& sketch, Get get) {
  require_class(sketch, false);
  return sketch.read(1, [&](const auto& own) -> std::uint64_t {
    if constexpr (has_candidates<std::remove_cvref_t<decltype(own)>>) {
      return get(own);
    } else {
      return 0;
    }
  });
}

void define_candidates(py::handle cls, const char* class_name) {
  method(cls, "add(self, key, weight=1)", add_key, "Adds a weight (0 to 2^64 - 1) to the count of the key.",
         "key"_a, "weight"_a = 1);
  method(cls, "add_batch(self, keys, weights=None)", add_keys,
         "add for every key, in order; weights has one for each key. The bytes of candidates are kept. "
         "Raises MemoryError if\n"
         "there is no memory for some key; the keys before it have then been added.",
         "keys"_a, "weights"_a = py::none());
  method(cls, "top(self, num_keys=10, *, as_type=None)", top_keys,
         "The num_keys candidates with the greatest counts, as a list of tally.KeyCount. as_type says what "
         "their bytes are:\n"
         "bytes (the default), str (UTF-8) or int (8 little-endian bytes, signed).",
         "num_keys"_a = 10, py::kw_only(), "as_type"_a = py::none());
  method(cls, "estimate(self, key)", estimate_of_key,
         "The bounds on the count of a key, candidate or not, as a tally.KeyCount.", "key"_a);
  property(
      cls, "capacity",
      [](const Sketch& sketch) { return number_of(sketch, [](const auto& own) { return own.capacity(); }); },
      "The most candidates.");
  property(
      cls, "num_candidates",
      [](const Sketch& sketch) {
        return number_of(sketch, [](const auto& own) { return own.candidates().size(); });
      },
      "The candidates now.");
  property(
      cls, "floor",
      [](const Sketch& sketch) { return number_of(sketch, [](const auto& own) { return own.floor(); }); },
      "The highest count that a key outside the candidates can have: at most total_count / capacity.");
  property(
      cls, "memory_bytes",
      [](const Sketch& sketch) { return number_of(sketch, [](const auto& own) { return own.num_bytes(); }); },
      "Bytes of memory.");
  method(
      cls, "__repr__(self)",
      [class_name](const Sketch& sketch) {
        require_class(sketch, false);
        std::array<std::uint64_t, 4> now{};  // of one moment
        sketch.read(1, [&](const auto& own) {
          if constexpr (has_candidates<std::remove_cvref_t<decltype(own)>>)
            now = {own.candidates().size(), own.capacity(), own.total_count(), own.floor()};
        });
        return std::string("<tally.") + class_name + ": " + std::to_string(now[0]) + " of " +
               std::to_string(now[1]) + " candidates, " + std::to_string(now[2]) + " in total, floor " +
               std::to_string(now[3]) + ">";
      },
      "Candidates, sum of all weights and floor now.");
}

template <class Use>
void with_window(Sketch& sketch, std::size_t num_keys, Use use) {
  require_class(sketch, true);
  sketch.write(num_keys, [&](auto& own) {
    if constexpr (!has_candidates<std::remove_cvref_t<decltype(own)>>) use(own);
  });
}

std::uint64_t add_to_window(Sketch& sketch, py::handle keys, py::handle weights) {
  const KeyBatch batch(keys, sketch.hasher());
  std::optional<Numbers> numbers;
  if (!weights.is_none()) numbers.emplace(weights, batch.size(), "weights");
  std::uint64_t num_saturated = 0;
  with_window(sketch, batch.size(), [&](auto& own) {
    batch.for_each_part([&](std::size_t first, std::span<const Hash128> digests) {
      num_saturated += numbers ? own.add_batch(digests, numbers->span().subspan(first, digests.size()))
                               : own.add_batch(digests);
    });
  });
  return num_saturated;
}

py::array estimates_in_window(const Sketch& sketch, py::handle keys) {
  require_class(sketch, true);
  return estimates_of_keys(
      sketch, keys, [](const auto& own, std::span<const Hash128> digests, std::span<CountEstimate> results) {
        if constexpr (!has_candidates<std::remove_cvref_t<decltype(own)>>)
          own.estimate_batch(digests, results);
      });
}

CountEstimate estimate_in_window(const Sketch& sketch, Hash128 digest) {
  require_class(sketch, true);
  return sketch.read(1, [&](const auto& own) -> CountEstimate {
    if constexpr (has_candidates<std::remove_cvref_t<decltype(own)>>) {
      return {};
    } else {
      return own.estimate(digest);
    }
  });
}

void define_window(py::handle cls) {
  method(
      cls, "add(self, key, weight=1)",
      [](Sketch& sketch, py::handle key, py::handle weight) {
        const std::uint64_t own_weight = whole_number(weight, "weight");
        const Hash128 digest = digest_of(key, sketch.hasher());
        InsertResult result{};
        with_window(sketch, 1, [&](auto& own) { result = own.add(digest, own_weight); });
        return member(EnumClass::insert_result, result);
      },
      "Adds a weight to the count of the key. Returns InsertResult.counted or saturated.", "key"_a,
      "weight"_a = 1);
  method(cls, "add_batch(self, keys, weights=None)", add_to_window,
         "add for every key, in order. Returns the number of keys with a saturated counter.", "keys"_a,
         "weights"_a = py::none());
  method(
      cls, "advance(self)",
      [](Sketch& sketch) { with_window(sketch, Held::long_batch, [](auto& own) { own.advance(); }); },
      "Forgets the older generation; the newer one becomes the older.");
  method(
      cls, "estimate(self, key)",
      [](const Sketch& sketch, py::handle key) {
        return to_python(estimate_in_window(sketch, digest_of(key, sketch.hasher())));
      },
      "The count of the key in the window, with its bounds.", "key"_a);
  method(cls, "estimate_batch(self, keys)", estimates_in_window,
         "estimate for every key, as a structured array like that of CountMinSketch.estimate_batch.",
         "keys"_a);
  method(
      cls, "__repr__(self)",
      [](const Sketch& sketch) {
        return "<tally.CountMinWindow: " +
               std::to_string(sketch.read(1, [](const auto& own) { return own.total_count(); })) +
               " in the window>";
      },
      "The sum of all weights in the window.");
}

}  // namespace

py::object wrapped(AnySketch sketch) {
  switch (kind_of(sketch)) {
    case FileKind::top_keys:
      return py::cast(TopKeysOf(std::move(sketch)));
    case FileKind::space_saving:
      return py::cast(SpaceSavingOf(std::move(sketch)));
    default:
      return py::cast(CountMinWindowOf(std::move(sketch)));
  }
}

void bind_sketches(py::module_& module) {
  py::class_<Sketch> common(module, "Sketch",
                            "What TopKeys, SpaceSaving and CountMinWindow have. Not made itself.");
  define_whole_sketch(common);

  py::class_<TopKeysOf, Sketch> top(
      module, "TopKeys",
      documented("TopKeys(capacity, sketch, *, seed=None, key=None)",
                 "The most frequent keys of a stream: `capacity` (1 to 2^30) candidates, counted exactly "
                 "while they are\n"
                 "candidates, and a Count-Min sketch of this shape for all other keys. Certain: count - "
                 "error <= truth <= count for\n"
                 "each candidate, and every other key occurred at most `floor` times.\n"
                 "Source: Roy, Khan and Alonso 2016; the bounds are ours.")
          .c_str());
  top.def(py::init([](py::handle capacity, py::handle sketch, py::handle seed, py::handle key) {
            const std::uint64_t own_capacity = whole_number(capacity, "capacity");
            const KeyHasher hasher = hasher_from(seed, key);
            return TopKeysOf(
                sketch_of_rows(sketch, [&]<class Rows>(std::type_identity<Rows>, const CountMinShape& shape) {
                  return TopKeys<Rows>(own_capacity, shape, hasher);
                }));
          }),
          "capacity"_a, "sketch"_a, py::kw_only(), "seed"_a = py::none(), "key"_a = py::none(),
          documented("__init__(self, capacity, sketch, *, seed=None, key=None)", "").c_str());
  define_candidates(top, "TopKeys");

  py::class_<SpaceSavingOf, Sketch> saving(
      module, "SpaceSaving",
      documented("SpaceSaving(capacity, *, seed=None, key=None)",
                 "The most frequent keys of a stream with `capacity` (1 to 2^30) counters and nothing else; "
                 "guarantees as\n"
                 "TopKeys, with larger errors. Source: Metwally, Agrawal and El Abbadi 2005.")
          .c_str());
  saving.def(py::init([](py::handle capacity, py::handle seed, py::handle key) {
               return SpaceSavingOf(SpaceSaving(whole_number(capacity, "capacity"), hasher_from(seed, key)));
             }),
             "capacity"_a, py::kw_only(), "seed"_a = py::none(), "key"_a = py::none(),
             documented("__init__(self, capacity, *, seed=None, key=None)", "").c_str());
  define_candidates(saving, "SpaceSaving");

  py::class_<CountMinWindowOf, Sketch> window(
      module, "CountMinWindow",
      documented("CountMinWindow(sketch, *, seed=None, key=None)",
                 "Counts over a sliding window in two generations, each a Count-Min sketch of this shape: "
                 "keys are added to the\n"
                 "newer one, and advance() forgets the older one.")
          .c_str());
  window.def(py::init([](py::handle sketch, py::handle seed, py::handle key) {
               const KeyHasher hasher = hasher_from(seed, key);
               return CountMinWindowOf(sketch_of_rows(
                   sketch, [&]<class Rows>(std::type_identity<Rows>, const CountMinShape& shape) {
                     return CountMinWindow<Rows>(shape, hasher);
                   }));
             }),
             "sketch"_a, py::kw_only(), "seed"_a = py::none(), "key"_a = py::none(),
             documented("__init__(self, sketch, *, seed=None, key=None)", "").c_str());
  define_window(window);
}

}  // namespace tally::python
