#include <array>
#include <cstdio>
#include <functional>

#include "arguments.hpp"
#include "bindings.hpp"
#include "bytes.hpp"
#include "filter.hpp"
#include "filter_methods.hpp"
#include "filter_statistics.hpp"
#include "records.hpp"
#include "shapes.hpp"
#include "tally/any_filter/similarity.hpp"
#include "tally/serialization/file_pieces.hpp"
#include "whole.hpp"

namespace tally::python {
namespace {

py::object shape_of(const Filter& filter) {
  return to_python(filter.read(1, [](const AnyFilter& own) { return own.shape(); }));
}

bool merge(Filter& filter, const Filter& other) {
  return filter.write_with(other, [](AnyFilter& own, const AnyFilter& theirs) { return own.merge(theirs); });
}

void require_filter(py::handle other) {
  if (!py::isinstance<Filter>(other))
    throw py::type_error(std::string("other is of type ") + Py_TYPE(other.ptr())->tp_name +
                         "; must be a filter of the same kind");
}

/// For `filter |= other` and `filter += other`.
py::object merged_in_place(py::object self, py::handle other) {
  if (!py::isinstance<Filter>(other)) return py::reinterpret_borrow<py::object>(Py_NotImplemented);
  if (!merge(py::cast<Filter&>(self), py::cast<const Filter&>(other)))
    throw py::value_error(
        "both do not fit into this filter, and nothing changed; merge() returns False then");
  return self;
}

/// For `filter | other` and `filter + other`.
py::object merged(py::object self, py::handle other) {
  if (!py::isinstance<Filter>(other)) return py::reinterpret_borrow<py::object>(Py_NotImplemented);
  return merged_in_place(copied(py::cast<const Filter&>(self)), other);
}

py::object intersected_in_place(py::object self, py::handle other) {
  if (!py::isinstance<Filter>(other)) return py::reinterpret_borrow<py::object>(Py_NotImplemented);
  py::cast<Filter&>(self).write_with(py::cast<const Filter&>(other),
                                     [](AnyFilter& own, const AnyFilter& theirs) { own.intersect(theirs); });
  return self;
}

std::string with_commas(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string formatted(const char* format, double number) {
  std::array<char, 64> text;
  const int size = std::snprintf(text.data(), text.size(), format, number);
  return {text.data(), static_cast<std::size_t>(size)};
}

/// Counting what a larger filter holds takes more than some milliseconds.
constexpr std::uint64_t most_bytes_to_scan = std::uint64_t{256} << 20;

std::string repr(py::handle self) {
  const auto& filter = py::cast<const Filter&>(self);
  const std::string name = py::str(py::type::handle_of(self).attr("__name__"));
  if (filter.is_closed()) return "<tally." + name + ": closed>";
  std::string text = "<tally." + name + ": " + std::string(py::repr(shape_of(filter)));
  const FilterTotals totals = filter.read(1, [](const AnyFilter& own) { return own.totals(); });
  text +=
      ", " + with_commas(totals.num_insertions) + (filter.peek().is_sketch() ? " in total" : " insertions");
  if (totals.num_removes != 0) text += ", " + with_commas(totals.num_removes) + " removals";
  if (totals.num_full != 0) text += ", " + with_commas(totals.num_full) + " refused as full";
  if (filter.read(1, [](const AnyFilter& own) { return own.shape().num_bytes(); }) <= most_bytes_to_scan) {
    const FilterStatistics statistics =
        filter.read(Held::long_batch, [](const AnyFilter& own) { return own.statistics(); });
    text += ", load " + formatted("%.3g", statistics.fill_ratio());
    text += filter.peek().is_sketch()
                ? ""
                : ", false positive rate now " + formatted("%.3g", statistics.estimated_false_positive_rate);
  } else {
    text += ", statistics() tells load and false positive rate";
  }
  if (filter.is_mapped()) text += ", mapped";
  return text + ">";
}

py::object limited(const LimitedEstimate& estimate) {
  return record("LimitedEstimate", "value"_a = estimate.value, "low"_a = estimate.low,
                "high"_a = estimate.high);
}

py::object similarity(py::handle a, py::handle b, py::handle confidence) {
  require_filter(a);
  require_filter(b);
  const double wanted = real_number(confidence, "confidence");
  const SetSimilarity found = py::cast<const Filter&>(a).read_with(
      py::cast<const Filter&>(b), [wanted](const AnyFilter& own, const AnyFilter& theirs) {
        return estimate_similarity(own, theirs, wanted);
      });
  return record("SetSimilarity", "num_keys_a"_a = limited(found.num_keys_a),
                "num_keys_b"_a = limited(found.num_keys_b), "union_size"_a = limited(found.union_size),
                "intersection_size"_a = limited(found.intersection_size),
                "jaccard"_a = limited(found.jaccard), "containment_a"_a = limited(found.containment_a),
                "containment_b"_a = limited(found.containment_b));
}

}  // namespace

py::object copied(const Filter& filter) {
  return wrapped(filter.read(Held::long_batch, [](const AnyFilter& own) { return own; }));
}

py::bytes bytes_of_file(const Filter& filter) {
  // The size may not change between the two, which d-left filters that grow could do.
  for (;;) {
    const std::uint64_t num_bytes =
        file_header_bytes + filter.read(1, [](const AnyFilter& own) { return own.shape().num_bytes(); });
    py::bytes bytes = new_bytes(num_bytes);
    char* to = PyBytes_AS_STRING(bytes.ptr());
    const bool is_written = filter.read(Held::long_batch, [&](const AnyFilter& own) {
      const FilterView view(own);
      if (file_header_bytes + view.shape.num_bytes() != num_bytes) return false;
      const auto header = file_header(view);
      std::memcpy(to, header.data(), header.size());
      std::uint64_t offset = 0;
      for (auto piece = body_piece(view, 0, num_bytes); !piece.empty();
           piece = body_piece(view, offset, num_bytes)) {
        std::memcpy(to + file_header_bytes + offset, piece.data(), piece.size());
        offset += piece.size();
      }
      return true;
    });
    if (is_written) return bytes;
  }
}

void save_to(const Filter& filter, const std::string& path, Overwrite overwrite) {
  filter.read(Held::long_batch, [&](const AnyFilter& own) { save(own, path, overwrite); });
}

void define_common(py::handle cls) {
  property(cls, "shape", shape_of, "The size, as tally.BloomShape and the like: what a constructor takes.");
  property(
      cls, "kind", [](const Filter& filter) { return std::string(name_of(filter.peek().kind())); },
      "The name of the kind, as in files and in the command: 'bloom'.");
  property(
      cls, "memory_bytes",
      [](const Filter& filter) {
        return filter.read(1, [](const AnyFilter& own) { return own.shape().num_bytes(); });
      },
      "Bytes of memory, and of a file's body.");
  property(
      cls, "num_insertions",
      [](const Filter& filter) {
        return filter.read(1, [](const AnyFilter& own) { return own.totals().num_insertions; });
      },
      "Insertions so far, without refused ones; in a sketch the sum of all weights.");
  property(
      cls, "is_mapped", [](const Filter& filter) { return filter.is_mapped(); },
      "Whether it is in a mapped file, and so read only.");
  property(
      cls, "closed", [](const Filter& filter) { return filter.is_closed(); }, "Whether close() was called.");
  method(
      cls, "statistics(self)",
      [](const Filter& filter) {
        return filter.read(Held::long_batch, [](const AnyFilter& own) { return Statistics(own); })
            .to_python();
      },
      "What it holds now, as a tally.FilterStatistics, tally.DLeftStatistics or "
      "tally.CompactDLeftStatistics. Reads the\n"
      "whole memory of the filter.");
  method(
      cls, "clear(self)",
      [](Filter& filter) { filter.write(Held::long_batch, [](AnyFilter& own) { own.clear(); }); },
      "Removes all keys. The memory stays.");
  define_copies<Filter>(cls, "A copy with memory of its own; of a mapped filter, one that can change.");
  define_file<Filter>(cls, "a filter");
  method(
      cls, "close(self)", [](Filter& filter) { filter.close(); },
      "Gives up the memory, or the mapped file. Later calls raise ValueError.");
  method(
      cls, "__enter__(self)", [](py::object self) { return self; },
      "The filter itself; `with` closes it at its end.");
  method(
      cls, "__exit__(self, *args)", [](Filter& filter, const py::args&) { filter.close(); }, "close()");
  method(cls, "__repr__(self)", repr, "Kind, shape, load and false positive rate now.");
  method(
      cls, "__eq__(self, other)",
      [](const Filter& filter, py::handle other) -> py::object {
        if (!py::isinstance<Filter>(other)) return py::reinterpret_borrow<py::object>(Py_NotImplemented);
        return py::bool_(filter.read_with(py::cast<const Filter&>(other), std::equal_to<AnyFilter>()));
      },
      "Whether files of both would hold the same.", "other"_a);
  py::setattr(cls, "__hash__", py::none());
}

void define_whole(py::handle cls, const KindTraits& kind) {
  method(
      cls, "merge(self, other)",
      [](Filter& filter, py::handle other) {
        require_filter(other);
        return merge(filter, py::cast<const Filter&>(other));
      },
      "Adds the content of the other one. Returns False, and changes nothing, if both do not fit into this "
      "one, which\n"
      "happens only to kinds that can fill up. Raises ValueError that names the first difference in kind, "
      "scheme, seed\n"
      "and shape.",
      "other"_a);
  const bool is_set = kind.can_intersect;
  method(cls, is_set ? "__ior__(self, other)" : "__iadd__(self, other)", merged_in_place,
         "merge(); raises ValueError if it is False.", "other"_a);
  method(cls, is_set ? "__or__(self, other)" : "__add__(self, other)", merged,
         "A new one with the content of both.", "other"_a);
  if (is_set) {
    method(cls, "__iand__(self, other)", intersected_in_place,
           "Keeps what is in both; the result has more false positives than a filter of the keys in both.",
           "other"_a);
    method(
        cls, "__and__(self, other)",
        [](const Filter& filter, py::handle other) { return intersected_in_place(copied(filter), other); },
        "A new one with what is in both.", "other"_a);
  }
  if (kind.can_grow) {
    method(
        cls, "try_grow(self)",
        [](Filter& filter) {
          return filter.write(Held::long_batch, [](AnyFilter& own) { return own.try_grow(); });
        },
        "Doubles the filter, without its keys. Returns False, and changes nothing, if its remainders have no "
        "bit to spare.");
  }
}

void define_similarity(py::module_& module) {
  define(module, "similarity(a, b, confidence=0.99)", similarity,
         "How similar the sets of keys of two filters or sketches of one shape and seed are, as a "
         "tally.SetSimilarity: sizes,\n"
         "union, intersection, Jaccard index and containment, each with limits of this confidence.",
         "a"_a, "b"_a, "confidence"_a = 0.99);
}

}  // namespace tally::python
