#include "keys.hpp"

#include <pybind11/numpy.h>

#include <boost/locale/utf.hpp>
#include <cstring>
#include <iterator>

#include "arguments.hpp"
#include "guard.hpp"
#include "key_object.hpp"

namespace tally::python {
namespace {

/// Elements that an array or a tuple holds, with a reference to each, so that no other thread can free one.
py::tuple held(const char* first, std::ptrdiff_t stride, std::size_t count) {
  const py::object all = py::reinterpret_steal<py::object>(PyTuple_New(static_cast<Py_ssize_t>(count)));
  if (!all) throw py::error_already_set();
  for (std::size_t i = 0; i < count; ++i) {
    PyObject* item = *reinterpret_cast<PyObject* const*>(first + stride * static_cast<std::ptrdiff_t>(i));
    if (item == nullptr) item = Py_None;  // of an array that numpy.empty made
    Py_INCREF(item);
    PyTuple_SET_ITEM(all.ptr(), i, item);
  }
  return py::reinterpret_borrow<py::tuple>(all);
}

std::span<PyObject* const> items_of(const py::tuple& all) {
  return {&PyTuple_GET_ITEM(all.ptr(), 0), all.size()};
}

bool is_one_key(py::handle keys) {
  return PyUnicode_Check(keys.ptr()) || PyBytes_Check(keys.ptr()) || PyByteArray_Check(keys.ptr()) ||
         PyLong_Check(keys.ptr()) ||
         (PyMemoryView_Check(keys.ptr()) && PyMemoryView_GET_BUFFER(keys.ptr())->itemsize == 1);
}

py::object as_array(py::handle values) {
  return call_python(py::module_::import("numpy").attr("asarray"), py::make_tuple(values));
}

/// Throws ValueError for a masked array with values that are missing.
void refuse_masked(py::handle array, const char* field) {
  if (py::hasattr(array, "mask") &&
      py::cast<bool>(call_python(py::module_::import("numpy.ma").attr("is_masked"), py::make_tuple(array))))
    throw py::value_error(std::string(field) + " has masked values; leave them out, as by its compressed()");
}

/// The batch as an array of numpy if it has one, else as a tuple.
py::object array_or_tuple(py::handle keys, const char* field) {
  if (py::isinstance<py::array>(keys)) {
    refuse_masked(keys, field);
    // As the base class, whose methods nobody overrides: its memory is read by what they say.
    return as_array(keys);
  }
  if (is_one_key(keys))
    throw_type_error(field, keys,
                     "a sequence of keys; for one key call the function for one key, or pass [key]");
  if (PyList_Check(keys.ptr()) || PyTuple_Check(keys.ptr())) {
    const py::object tuple = py::reinterpret_steal<py::object>(PySequence_Tuple(keys.ptr()));
    if (!tuple) throw py::error_already_set();
    return tuple;
  }
  if (py::hasattr(py::type::handle_of(keys), "__array__") || PyObject_CheckBuffer(keys.ptr()))
    return as_array(keys);
  if (Py_TYPE(keys.ptr())->tp_iter == nullptr && PySequence_Check(keys.ptr()) == 0)
    throw_type_error(field, keys, "a sequence of keys, such as an array, a list or a Series");
  const py::object tuple = py::reinterpret_steal<py::object>(PySequence_Tuple(keys.ptr()));
  if (!tuple) throw py::error_already_set();
  return tuple;
}

py::array one_dimension(const py::array& array, const char* field) {
  if (array.ndim() != 1)
    throw py::value_error(std::string(field) + " has " + std::to_string(array.ndim()) +
                          " dimensions; must have 1; pass its ravel()");
  const char order = py::cast<char>(array.dtype().attr("byteorder"));
  if (order == '=' || order == '|') return array;
  return call_python(array.attr("astype"), py::make_tuple(array.dtype().attr("newbyteorder")("=")));
}

template <class T>
T read(const char* at) noexcept {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// The bytes of an element of an array of type S: those before the NULs at its end, which numpy drops too.
std::string_view short_bytes(const char* at, std::size_t size) noexcept {
  while (size != 0 && at[size - 1] == '\0') --size;
  return {at, size};
}

/// The same for an element of type U, as UTF-8 in `scratch`.
std::string_view short_text(const char* at, std::size_t num_chars, std::string& scratch, KeyName name) {
  while (num_chars != 0 && read<std::uint32_t>(at + 4 * (num_chars - 1)) == 0) --num_chars;
  scratch.clear();
  for (std::size_t i = 0; i < num_chars; ++i) append_utf8(scratch, read<std::uint32_t>(at + 4 * i), name);
  return scratch;
}

enum class Digests : std::uint8_t { accepted, refused };

[[noreturn]] void throw_dtype_error(const py::array& array, const char* field, Digests digests) {
  const std::string dtype = py::str(array.dtype());
  std::string fix;
  switch (array.dtype().kind()) {
    case 'f':
      fix = "; if the numbers are whole, pass its astype('int64')";
      break;
    case 'b':
      fix = "; pass its astype('int64') if 0 and 1 are the keys";
      break;
    case 'M':
    case 'm':
      fix = "; pass its astype('int64') for the numbers of its unit";
      break;
    default:
      break;
  }
  throw py::type_error(std::string(field) + " has dtype " + dtype +
                       (digests == Digests::accepted
                            ? "; must be of integers, S, U, objects, or tally.digest_dtype"
                            : "; must be of integers, S, U or objects; digests are not enough, because the "
                              "bytes of keys are kept") +
                       fix);
}

/// Whether it is an array of digests.
bool has_digests(const py::array& array) {
  return array.dtype().kind() == 'V' && array.dtype().itemsize() == sizeof(Hash128) &&
         array.dtype().equal(py::module_::import("tally._records").attr("digest_dtype"));
}

}  // namespace

template <class Integer>
void KeyBatch::hash_integers(const KeyBatch& batch, std::size_t first, std::span<Hash128> digests) noexcept {
  const char* at = batch.data_ + batch.stride_ * static_cast<std::ptrdiff_t>(first);
  for (Hash128& digest : digests) {
    digest = batch.hasher_(read<Integer>(at));
    at += batch.stride_;
  }
}

void KeyBatch::hash_bytes(const KeyBatch& batch, std::size_t first, std::span<Hash128> digests) noexcept {
  const char* at = batch.data_ + batch.stride_ * static_cast<std::ptrdiff_t>(first);
  for (Hash128& digest : digests) {
    digest = batch.hasher_(short_bytes(at, batch.item_bytes_));
    at += batch.stride_;
  }
}

void KeyBatch::copy_digests(const KeyBatch& batch, std::size_t first, std::span<Hash128> digests) noexcept {
  const char* at = batch.data_ + batch.stride_ * static_cast<std::ptrdiff_t>(first);
  for (Hash128& digest : digests) {
    digest = read<Hash128>(at);
    at += batch.stride_;
  }
}

KeyBatch::KeyBatch(py::handle keys, const KeyHasher& hasher, const char* field) : hasher_(hasher) {
  source_ = array_or_tuple(keys, field);
  if (PyTuple_Check(source_.ptr())) {
    take_objects(items_of(py::reinterpret_borrow<py::tuple>(source_)), field);
  } else {
    take_array(source_, field);
  }
}

void KeyBatch::take_array(py::handle any, const char* field) {
  const py::array array = one_dimension(py::reinterpret_borrow<py::array>(any), field);
  source_ = array;
  size_ = static_cast<std::size_t>(array.shape(0));
  if (size_ == 0) return;
  data_ = static_cast<const char*>(array.data());
  stride_ = array.strides(0);
  item_bytes_ = static_cast<std::size_t>(array.itemsize());
  const char kind = array.dtype().kind();
  if (kind == 'O') {
    const py::tuple all = held(data_, stride_, size_);
    return take_objects(items_of(all), field);
  }
  if (kind == 'U') return take_wide_text(field);
  if (kind == 'S') {
    hash_ = hash_bytes;
  } else if (has_digests(array)) {
    hash_ = copy_digests;
  } else if (kind == 'i' || kind == 'u') {
    const bool is_signed = kind == 'i';
    switch (item_bytes_) {
      case 1:
        hash_ = is_signed ? hash_integers<std::int8_t> : hash_integers<std::uint8_t>;
        break;
      case 2:
        hash_ = is_signed ? hash_integers<std::int16_t> : hash_integers<std::uint16_t>;
        break;
      case 4:
        hash_ = is_signed ? hash_integers<std::int32_t> : hash_integers<std::uint32_t>;
        break;
      default:
        hash_ = is_signed ? hash_integers<std::int64_t> : hash_integers<std::uint64_t>;
        break;
    }
  } else {
    throw_dtype_error(array, field, Digests::accepted);
  }
}

void KeyBatch::take_objects(std::span<PyObject* const> objects, const char* field) {
  size_ = objects.size();
  digests_.resize(size_);
  std::string scratch;
  for (std::size_t i = 0; i < size_; ++i)
    digests_[i] = KeyObject(objects[i], scratch, {field, i}).digest(hasher_);
}

void KeyBatch::take_wide_text(const char* field) {
  digests_.resize(size_);
  std::string scratch;
  for (std::size_t i = 0; i < size_; ++i) {
    const char* at = data_ + stride_ * static_cast<std::ptrdiff_t>(i);
    digests_[i] = hasher_(short_text(at, item_bytes_ / 4, scratch, {field, i}));
  }
}

KeyTexts::KeyTexts(py::handle keys, const KeyHasher& hasher, const char* field) {
  source_ = array_or_tuple(keys, field);
  // First, where in memory each key is, or where in bytes_, which may still move.
  std::string scratch;
  const auto add_copy = [&](std::string_view key) {
    views_.emplace_back(nullptr, key.size());
    bytes_.insert(bytes_.end(), key.begin(), key.end());
  };
  const auto add_objects = [&](std::span<PyObject* const> objects) {
    for (std::size_t i = 0; i < objects.size(); ++i) {
      const KeyObject key(objects[i], scratch, {field, i});
      key.is_in_object() ? static_cast<void>(views_.push_back(key.bytes())) : add_copy(key.bytes());
    }
  };
  if (PyTuple_Check(source_.ptr())) {
    add_objects(items_of(py::reinterpret_borrow<py::tuple>(source_)));
  } else {
    const py::array array = one_dimension(py::reinterpret_borrow<py::array>(source_), field);
    source_ = array;
    const auto size = static_cast<std::size_t>(array.shape(0));
    views_.reserve(size);
    const auto at = [&](std::size_t i) {
      return static_cast<const char*>(array.data()) + array.strides(0) * static_cast<std::ptrdiff_t>(i);
    };
    const auto item_bytes = static_cast<std::size_t>(array.itemsize());
    const char kind = array.dtype().kind();
    if (kind == 'O') {
      const py::tuple all = held(size == 0 ? nullptr : at(0), array.strides(0), size);
      source_ = all;
      add_objects(items_of(all));
    } else if (kind == 'S') {
      for (std::size_t i = 0; i < size; ++i) views_.push_back(short_bytes(at(i), item_bytes));
    } else if (kind == 'U') {
      for (std::size_t i = 0; i < size; ++i) add_copy(short_text(at(i), item_bytes / 4, scratch, {field, i}));
    } else if (kind == 'i' || kind == 'u') {
      const py::array wide = call_python(array.attr("astype"), py::make_tuple(kind == 'i' ? "<i8" : "<u8"));
      source_ = wide;
      for (std::size_t i = 0; i < size; ++i)
        views_.emplace_back(static_cast<const char*>(wide.data()) + 8 * i, 8);
    } else if (size != 0) {
      throw_dtype_error(array, field, Digests::refused);
    }
  }
  const char* copied = bytes_.data();
  digests_.reserve(views_.size());
  for (std::string_view& view : views_) {
    if (view.data() == nullptr) {
      view = {copied, view.size()};
      copied += view.size();
    }
    digests_.push_back(hasher(view));
  }
}

Hash128 digest_of(py::handle key, const KeyHasher& hasher, const char* field) {
  std::string scratch;
  return KeyObject(key.ptr(), scratch, {field}).digest(hasher);
}

KeyText::KeyText(py::handle key, const char* field) {
  const KeyObject object(key.ptr(), own_, {field});
  if (!object.is_in_object()) own_ = std::string(object.bytes());
  view_ = object.is_in_object() ? object.bytes() : std::string_view(own_);
}

namespace {

/// An array of objects, such as a Series of Int64 gives, as uint64.
py::array whole_numbers(const py::array& objects, const char* field) {
  const py::list items = call_python(objects.attr("tolist"), py::tuple());
  py::array_t<std::uint64_t> values(static_cast<py::ssize_t>(items.size()));
  std::uint64_t* to = values.mutable_data();
  for (std::size_t i = 0; i < items.size(); ++i) {
    to[i] = whole_number(items[i], KeyName{field, i}.text().c_str());
  }
  return values;
}

}  // namespace

Numbers::Numbers(py::handle numbers, std::optional<std::size_t> wanted, const char* field) {
  refuse_masked(numbers, field);
  py::array array = as_array(numbers);
  const std::size_t num_keys = wanted.value_or(static_cast<std::size_t>(array.size()));
  if (array.dtype().kind() == 'O' && array.ndim() == 1) array = whole_numbers(array, field);
  const char kind = array.dtype().kind();
  if (kind != 'u' && kind != 'i' && array.size() != 0)
    throw py::type_error(std::string(field) + " has dtype " + std::string(py::str(array.dtype())) +
                         "; must be whole numbers from 0 to 18446744073709551615");
  if (array.ndim() != 1 && !wanted)
    throw py::value_error(std::string(field) + " has " + std::to_string(array.ndim()) +
                          " dimensions; must be a sequence of whole numbers");
  if (array.ndim() != 1 || static_cast<std::size_t>(array.size()) != num_keys)
    throw py::value_error(std::string(field) + " has " + std::to_string(array.size()) + " numbers in " +
                          std::to_string(array.ndim()) + " dimensions; must have one for each of the " +
                          std::to_string(num_keys) + " keys");
  if (kind == 'i' && num_keys != 0) {
    const py::object least = call_python(array.attr("min"), py::tuple());
    if (py::cast<std::int64_t>(least) < 0)
      throw_value_error("the least of " + std::string(field), least, "at least 0");
  }
  array = call_python(py::module_::import("numpy").attr("require"),
                      py::make_tuple(array, "<u8", py::make_tuple("C", "A")));
  source_ = array;
  values_ = {static_cast<const std::uint64_t*>(array.data()), num_keys};
}

std::optional<HashKey> hash_key_from(py::handle key, const char* field) {
  if (key.is_none()) return std::nullopt;
  if (!PyBytes_Check(key.ptr())) throw_type_error(field, key, "32 bytes, as tally.random_hash_key() makes");
  HashKey bytes;
  if (static_cast<std::size_t>(PyBytes_GET_SIZE(key.ptr())) != bytes.size())
    throw py::value_error(std::string(field) + " has " + std::to_string(PyBytes_GET_SIZE(key.ptr())) +
                          " bytes; must have 32");
  std::memcpy(bytes.data(), PyBytes_AS_STRING(key.ptr()), bytes.size());
  return bytes;
}

KeyHasher hasher_from(py::handle seed, py::handle key) {
  const std::optional<HashKey> secret = hash_key_from(key);
  if (secret && !seed.is_none()) throw py::value_error("seed and key are both given; must be one of them");
  if (secret) return KeyHasher::keyed(*secret);
  return seed.is_none() ? KeyHasher(default_seed) : KeyHasher(whole_number(seed, "seed"));
}

}  // namespace tally::python
