#pragma once

#include <pybind11/numpy.h>

#include <span>
#include <type_traits>
#include <vector>

#include "keys.hpp"
#include "python.hpp"
#include "records.hpp"
#include "tally/sketches/count_estimate.hpp"

// A call for many keys, or for one by `in`, on a structure that has hasher(), read() and write().

namespace tally::python {

/// Calls call(the structure, digests, index of the first) for all keys: in read() if `structure` is const, else in write().
template <class Structure, class Call>
void for_all_keys(Structure& structure, const KeyBatch& batch, Call call) {
  const auto use = [&](auto& own) {
    batch.for_each_part(
        [&](std::size_t first, std::span<const Hash128> digests) { call(own, digests, first); });
  };
  if constexpr (std::is_const_v<Structure>) {
    structure.read(batch.size(), use);
  } else {
    structure.write(batch.size(), use);
  }
}

/// An array of `Result`, one for each key, which call(the structure, digests, results) fills. For the structure they are
/// of type `Enum`, which has the same bytes.
template <class Result, class Enum = Result, class Structure, class Call>
py::array_t<Result> results_of_keys(Structure& structure, py::handle keys, Call call) {
  static_assert(sizeof(Result) == sizeof(Enum));
  const KeyBatch batch(keys, structure.hasher());
  py::array_t<Result> results(static_cast<py::ssize_t>(batch.size()));
  auto* first_result = reinterpret_cast<Enum*>(results.mutable_data());
  for_all_keys(structure, batch, [&](auto& own, std::span<const Hash128> digests, std::size_t first) {
    call(own, digests, std::span<Enum>(first_result + first, digests.size()));
  });
  return results;
}

/// The same for a structured array of estimates.
template <class Structure, class Call>
py::array estimates_of_keys(const Structure& structure, py::handle keys, Call call) {
  static_assert(sizeof(CountEstimate) == 40);
  const KeyBatch batch(keys, structure.hasher());
  py::array results(py::reinterpret_borrow<py::dtype>(in_records("count_estimate_dtype")),
                    std::vector<py::ssize_t>{static_cast<py::ssize_t>(batch.size())});
  auto* first_result = static_cast<CountEstimate*>(results.mutable_data());
  for_all_keys(structure, batch, [&](auto& own, std::span<const Hash128> digests, std::size_t first) {
    call(own, digests, std::span<CountEstimate>(first_result + first, digests.size()));
  });
  return results;
}

inline py::object to_python(const CountEstimate& estimate) {
  return record("CountEstimate", "value"_a = estimate.value, "lower"_a = estimate.lower,
                "upper"_a = estimate.upper, "probability"_a = estimate.probability,
                "saturated"_a = estimate.saturated);
}

/// The slot of `key in self`: contains(the structure, digest). Returns -1, with the exception set, if it throws.
template <class Structure, class Contains>
int slot_of_in(PyObject* self, PyObject* key, Contains contains) noexcept {
  try {
    const auto& structure = py::cast<const Structure&>(py::handle(self));
    const Hash128 digest = digest_of(key, structure.hasher());
    return static_cast<int>(structure.read(1, [&](const auto& own) { return contains(own, digest); }));
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const py::builtin_exception& error) {
    error.set_error();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return -1;
}

}  // namespace tally::python
