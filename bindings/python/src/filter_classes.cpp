#include <array>
#include <utility>

#include "bindings.hpp"
#include "filter.hpp"
#include "filter_methods.hpp"
#include "shapes.hpp"

namespace tally::python {
namespace {

struct ClassTraits {
  FilterKind kind;
  bool is_register_blocked;
  const char* name;
  const char* text;
};

// In the order of FilterOf.
constexpr auto classes = std::to_array<ClassTraits>({
    {FilterKind::bloom, false, "BloomFilter",
     "A set that only grows, in a few bits per key: `key in filter` is True for every inserted key, and for "
     "another key\n"
     "with the planned false positive rate. Source: Bloom 1970; Fan et al. 2000."},
    {FilterKind::blocked_bloom, false, "BlockedBloomFilter",
     "A BloomFilter in which all bits of a key are in one cache line of 64 bytes: faster, for some more bits "
     "per key.\n"
     "Source: Putze, Sanders and Singler 2007."},
    {FilterKind::blocked_bloom, true, "RegisterBlockedBloomFilter",
     "A BlockedBloomFilter with a multiple of 8 hashes, which takes a few vector instructions per key."},
    {FilterKind::counting_bloom, false, "CountingBloomFilter",
     "A multiset with removals and counts. No insertion fails; a counter at its maximum stays there. Source: "
     "Fan et al. 2000."},
    {FilterKind::blocked_counting_bloom, false, "BlockedCountingBloomFilter",
     "A CountingBloomFilter in which all counters of a key are in one cache line of 64 bytes."},
    {FilterKind::dleft, false, "DLeftCountingBloomFilter",
     "A multiset with removals, and counts without a maximum, in half the memory of a CountingBloomFilter at "
     "1% false\n"
     "positives. It can fill up; insert then returns InsertResult.full. Source: Bonomi et al. 2006."},
    {FilterKind::compact_dleft, false, "CompactDLeftFilter",
     "A multiset in a third of the memory of a CountingBloomFilter, for keys that are in it once at a time. "
     "It can fill up;\n"
     "insert then returns InsertResult.full."},
    {FilterKind::threshold, false, "ThresholdFilter",
     "Answers \"at least `threshold` times?\" in the fewest bits; insert returns whether the key has reached "
     "it.\n"
     "Source: Kim, Jeong, Lee and Lee 2019."},
    {FilterKind::count_min, false, "CountMinSketch",
     "The count, or the total weight, of any key: never too low, and too high by more than epsilon times the "
     "sum of all\n"
     "weights with at most the failure probability. Source: Cormode and Muthukrishnan 2003; Kirsch and "
     "Mitzenmacher 2008."},
});

constexpr std::string_view constructor_text =
    "\n\nEither `shape` gives the exact size, or keyword arguments give what is wanted, of which tally.plan "
    "says more:\n"
    "for filters two of num_keys, false_positive_rate and memory_bytes. `seed` (default: that of the "
    "command) makes\n"
    "digests of keys; filters of one seed and shape can be merged. `key`, 32 secret bytes, in place of a "
    "seed makes a\n"
    "keyed hash, for keys that an attacker may choose. Raises ValueError for what is out of range, and "
    "MemoryError.";

/// The class of Python with this index.
template <std::size_t index>
struct FilterOf : Filter {
  using Filter::Filter;
};

constexpr std::string_view register_blocked = "register-blocked";

std::size_t index_of(const FilterShape& shape) {
  const bool is_register_blocked = shape.scheme_name() == register_blocked;
  std::size_t index = 0;
  while (classes[index].kind != shape.kind() || classes[index].is_register_blocked != is_register_blocked)
    ++index;
  return index;
}

template <class Contents>
py::object wrapped_as_its_class(Contents contents, std::size_t wanted) {
  py::object object;
  [&]<std::size_t... index>(std::index_sequence<index...>) {
    (void)((index == wanted ? (object = py::cast(FilterOf<index>(std::move(contents))), true) : false) ||
           ...);
  }
  (std::make_index_sequence<classes.size()>());
  return object;
}

constexpr std::array<const char*, 2> hasher_arguments = {"seed", "key"};

/// The shape that the arguments of a constructor give: an exact one, or one that is planned.
FilterShape shape_of_arguments(std::size_t index, py::handle shape, const py::dict& arguments) {
  const ClassTraits& traits = classes[index];
  RequirementsArgument wanted(traits.name, arguments, hasher_arguments);
  if (!shape.is_none()) {
    if (!wanted.is_empty)
      throw py::type_error(std::string(traits.name) + "() got a shape and requirements; must be one of them");
    const FilterShape own = shape_from(shape);
    if (index_of(own) != index)
      throw py::value_error(std::string(traits.name) + "() got the shape of a " +
                            classes[index_of(own)].name);
    return own;
  }
  Requirements& requirements = wanted.requirements;
  if (traits.is_register_blocked && !requirements.scheme) requirements.scheme = register_blocked;
  const FilterShape planned = plan_shape(traits.kind, requirements);
  if (index_of(planned) != index)
    throw py::value_error(std::string(traits.name) + "() got the scheme of a " +
                          classes[index_of(planned)].name);
  return planned;
}

py::object given(const py::dict& arguments, const char* name) {
  return arguments.contains(name) ? py::object(arguments[name]) : py::object(py::none());
}

AnyFilter new_filter(std::size_t index, py::handle shape, const py::dict& arguments) {
  const KeyHasher hasher = hasher_from(given(arguments, "seed"), given(arguments, "key"));
  const FilterShape own = shape_of_arguments(index, shape, arguments);
  const Unlocked unlocked;
  return AnyFilter(own, hasher);
}

template <std::size_t index>
void bind_class(py::module_& module) {
  const ClassTraits& traits = classes[index];
  const KindTraits& kind = traits_of(traits.kind);
  const std::string text = documented(std::string(traits.name) + "(shape=None, **requirements)",
                                      std::string(traits.text) + std::string(constructor_text));
  py::class_<FilterOf<index>, Filter> cls(module, traits.name, text.c_str());
  cls.def(py::init([](py::object shape, const py::kwargs& arguments) {
            return std::make_unique<FilterOf<index>>(new_filter(index, shape, arguments));
          }),
          "shape"_a = py::none(), documented("__init__(self, shape=None, **requirements)", "").c_str());
  define_inserts(cls, kind);
  if (kind.can_remove) define_removals(cls);
  if (kind.can_count) define_counts(cls);
  if (kind.takes_weights) define_sketch(cls);
  define_whole(cls, kind);
}

}  // namespace

py::object wrapped(AnyFilter filter) {
  const std::size_t index = index_of(filter.shape());
  return wrapped_as_its_class(std::move(filter), index);
}

py::object wrapped(MappedFilter filter) {
  const std::size_t index = index_of(filter.filter().shape());
  return wrapped_as_its_class(std::move(filter), index);
}

void bind_filters(py::module_& module) {
  const auto set_slots = [](PyHeapTypeObject* type) { type->as_sequence.sq_contains = contains_slot; };
  py::class_<Filter> common(module, "Filter",
                            "What all filters and Count-Min sketches have. Not made itself.",
                            py::custom_type_setup(set_slots));
  define_lookups(common);
  define_common(common);
  [&]<std::size_t... index>(std::index_sequence<index...>) { (bind_class<index>(module), ...); }
  (std::make_index_sequence<classes.size()>());
  define(
      module, "make(shape, *, seed=None, key=None)",
      [](py::handle shape, py::handle seed, py::handle key) {
        const FilterShape own = shape_from(shape);
        const KeyHasher hasher = hasher_from(seed, key);
        const auto make = [&] {
          const Unlocked unlocked;
          return AnyFilter(own, hasher);
        };
        return wrapped(make());
      },
      "An empty filter or Count-Min sketch of this shape.", "shape"_a, py::kw_only(), "seed"_a = py::none(),
      "key"_a = py::none());
}

}  // namespace tally::python
