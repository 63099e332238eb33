#include "sketch.hpp"

#include <cstring>

#include "arguments.hpp"
#include "records.hpp"
#include "whole.hpp"

namespace tally::python {
namespace {

template <class Own>
const KeyHasher& hasher_of(const Own& own) {
  if constexpr (requires { own.hasher(); }) {
    return own.hasher();
  } else {
    return own.newer().hasher();
  }
}

py::object merged_sketch_in_place(py::object self, py::handle other) {
  if (!py::isinstance<Sketch>(other)) return py::reinterpret_borrow<py::object>(Py_NotImplemented);
  py::cast<Sketch&>(self).merge(py::cast<const Sketch&>(other));
  return self;
}

}  // namespace

py::object copied(const Sketch& sketch) { return wrapped(sketch.copy()); }

py::bytes bytes_of_file(const Sketch& sketch) {
  const std::vector<std::byte> bytes =
      sketch.read(Held::long_batch, [](const auto& own) { return serialize(own); });
  return bytes_from(bytes);
}

void save_to(const Sketch& sketch, const std::string& path, Overwrite overwrite) {
  sketch.read(Held::long_batch, [&](const auto& own) { save(own, path, overwrite); });
}

KeyHasher Sketch::hasher() const {
  return std::visit([](const auto& own) { return hasher_of(own); }, peek());
}

void Sketch::merge(const Sketch& other) {
  if (this == &other) {
    const AnySketch theirs = copy();
    const Held held(*guard_, Access::write, Held::long_batch);
    return tally::merge(*sketch_, theirs);
  }
  const HeldBoth held(*guard_, Access::write, *other.guard_);
  tally::merge(*sketch_, *other.sketch_);
}

bool Sketch::equals(const Sketch& other) const {
  if (this == &other) return true;
  const HeldBoth held(*guard_, Access::read, *other.guard_);
  return *sketch_ == *other.sketch_;
}

KeyType key_type_from(py::handle type, const char* field) {
  if (type.is_none() || type.ptr() == reinterpret_cast<PyObject*>(&PyBytes_Type)) return KeyType::bytes;
  if (type.ptr() == reinterpret_cast<PyObject*>(&PyUnicode_Type)) return KeyType::str;
  if (type.ptr() == reinterpret_cast<PyObject*>(&PyLong_Type)) return KeyType::integer;
  throw_value_error(field, type, "bytes, str or int");
}

py::object key_count_of(const KeyCount& count, KeyType type) {
  py::object key;
  switch (type) {
    case KeyType::bytes:
      key = py::bytes(count.key.data(), count.key.size());
      break;
    case KeyType::str:
      key = py::reinterpret_steal<py::object>(
          PyUnicode_DecodeUTF8(count.key.data(), static_cast<Py_ssize_t>(count.key.size()), "strict"));
      if (!key) throw py::error_already_set();  // UnicodeDecodeError is a ValueError
      break;
    case KeyType::integer: {
      std::int64_t value = 0;
      if (count.key.size() != sizeof value)
        throw py::value_error("a key has " + std::to_string(count.key.size()) +
                              " bytes; must have the 8 of an integer for as_type=int; pass as_type=bytes");
      std::memcpy(&value, count.key.data(), sizeof value);
      key = py::int_(value);
      break;
    }
  }
  return record("KeyCount", "key"_a = key, "count"_a = count.count, "error"_a = count.error);
}

void define_whole_sketch(py::handle cls) {
  method(
      cls, "merge(self, other)",
      [](Sketch& sketch, py::handle other) {
        if (!py::isinstance<Sketch>(other))
          throw py::type_error(std::string("other is of type ") + Py_TYPE(other.ptr())->tp_name +
                               "; must be a sketch of the same kind");
        sketch.merge(py::cast<const Sketch&>(other));
      },
      "Adds the other one, whose seed and sizes are the same; the guarantees then hold for both streams "
      "together. Raises\n"
      "ValueError that names the first difference, and changes nothing.",
      "other"_a);
  method(cls, "__iadd__(self, other)", merged_sketch_in_place, "merge()", "other"_a);
  method(
      cls, "__add__(self, other)",
      [](const Sketch& sketch, py::handle other) {
        return merged_sketch_in_place(wrapped(sketch.copy()), other);
      },
      "A new one with the content of both.", "other"_a);
  define_copies<Sketch>(cls);
  define_file<Sketch>(cls, "a sketch");
  method(
      cls, "clear(self)",
      [](Sketch& sketch) { sketch.write(Held::long_batch, [](auto& own) { own.clear(); }); },
      "Removes all keys.");
  method(
      cls, "__eq__(self, other)",
      [](const Sketch& sketch, py::handle other) -> py::object {
        if (!py::isinstance<Sketch>(other)) return py::reinterpret_borrow<py::object>(Py_NotImplemented);
        return py::bool_(sketch.equals(py::cast<const Sketch&>(other)));
      },
      "Whether files of both would hold the same.", "other"_a);
  py::setattr(cls, "__hash__", py::none());
  property(
      cls, "total_count",
      [](const Sketch& sketch) { return sketch.read(1, [](const auto& own) { return own.total_count(); }); },
      "The sum of all weights.");
}

}  // namespace tally::python
