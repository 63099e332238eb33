#include "streams_arguments.hpp"

#include <pybind11/numpy.h>

#include <cmath>

#include "arguments.hpp"
#include "tally/hashing/random_seed.hpp"

namespace tally::python {

StreamHash stream_hash_from(py::handle seed, py::handle key) {
  const bool is_drawn = seed.is_none() && key.is_none();
  return {is_drawn ? KeyHasher(random_seed()) : hasher_from(seed, key), hash_key_from(key), is_drawn};
}

py::object seed_of(const KeyHasher& hasher) {
  if (hasher.id() == HashId::highwayhash_128) return py::none();
  return py::int_(hasher.seed_or_key_id());
}

std::string seed_text(const KeyHasher& hasher) {
  return hasher.id() == HashId::highwayhash_128 ? "keyed hash"
                                                : "seed " + std::to_string(hasher.seed_or_key_id());
}

WindowArguments window_from(py::handle window_seconds, py::handle num_slots) {
  const auto slots = static_cast<std::uint32_t>(whole_number(num_slots, "num_slots", {1, most_slots}));
  if (window_seconds.is_none()) return {std::nullopt, slots};
  constexpr double nanoseconds_per_second = 1e9;
  const double nanoseconds = real_number(window_seconds, "window_seconds") * nanoseconds_per_second;
  if (!(nanoseconds >= 1 && nanoseconds < static_cast<double>(max_time)))
    throw_value_error("window_seconds", window_seconds, "from 1e-9 to 4.6e9");
  return {std::llround(nanoseconds), slots};
}

RecordArguments::RecordArguments(py::handle weights, py::handle times, std::size_t num_keys,
                                 bool has_window) {
  if (!weights.is_none()) weights_.emplace(weights, num_keys, "weights");
  take_times(times, "nanoseconds_of", "times", has_window);
  if (has_window && times_.size() != num_keys)
    throw py::value_error("times has " + std::to_string(times_.size()) +
                          " times; must have one for each of the " + std::to_string(num_keys) + " keys");
}

RecordArguments RecordArguments::of_one(py::handle weight, py::handle time, bool has_window) {
  RecordArguments own;
  py::list weights;
  weights.append(whole_number(weight, "weight"));
  own.weights_.emplace(py::module_::import("numpy").attr("array")(weights, "uint64"), 1, "weight");
  own.take_times(time, "nanoseconds_of_one", "time", has_window);
  return own;
}

void RecordArguments::take_times(py::handle times, const char* helper, const char* field, bool has_window) {
  if (!has_window) {
    if (times.is_none()) return;
    throw py::value_error(std::string(field) +
                          " is given; must be None without window_seconds, where nothing depends on time");
  }
  if (times.is_none())
    throw py::value_error(std::string(field) + " is None; must be given with window_seconds");
  const py::array_t<Nanoseconds, py::array::c_style> array =
      call_python(py::module_::import("tally._times").attr(helper), py::make_tuple(times, field));
  source_ = array;
  times_ = {array.data(), static_cast<std::size_t>(array.size())};
}

}  // namespace tally::python
