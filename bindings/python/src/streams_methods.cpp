#include "streams_methods.hpp"

#include <pybind11/numpy.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "arguments.hpp"
#include "bytes.hpp"
#include "errors.hpp"

namespace tally::python {
namespace {

template <class Own>
SharedStream<Own> stream_from(std::vector<std::byte> bytes, py::handle key, py::handle on_event) {
  const SavedOptions saved(bytes);
  typename SharedStream<Own>::Setup setup{.hash = hash_of_state(saved, hash_key_from(key)),
                                          .on_event = on_event_from(on_event)};
  take_saved(setup.options, saved);
  return SharedStream<Own>(std::move(setup), std::move(bytes), "the bytes");
}

std::vector<std::byte> copied_bytes(py::handle data) {
  const BytesArgument bytes(data, "data");
  return {bytes.span().begin(), bytes.span().end()};
}

template <class Own>
void save_stream(const SharedStream<Own>& stream, py::handle path, py::handle overwrite) {
  const std::string own_path = path_from(path);
  const Overwrite choice = truth(overwrite, "overwrite") ? Overwrite::replace : Overwrite::refuse;
  const std::vector<std::byte> bytes = stream.state();
  about_file(own_path, [&] {
    const Unlocked unlocked;
    save_bytes(bytes, own_path, choice);
  });
}

template <class Own>
void restore_stream(SharedStream<Own>& stream, py::handle path) {
  const std::string own_path = path_from(path);
  about_file(own_path, [&] {
    std::vector<std::byte> bytes = [&] {
      const Unlocked unlocked;
      return read_regular_file(own_path);
    }();
    stream.restore(std::move(bytes), own_path);
  });
}

template <class Own>
py::tuple reduced_stream(const SharedStream<Own>& stream, int protocol) {
  if (stream.secret())
    throw py::value_error(
        "a stream with a keyed hash is not pickled, because it could not be read without the secret; save() "
        "it, "
        "and pass the key to from_bytes");
  const py::bytes bytes = bytes_from(stream.state());
  const py::object data = protocol >= 5 ? py::module_::import("pickle").attr("PickleBuffer")(bytes)
                                        : static_cast<py::object>(bytes);
  return py::make_tuple(in_records("stream_from_pickle"), py::make_tuple(StreamTraits<Own>::name, data));
}

template <class Own>
void define_from_bytes(py::handle cls) {
  const auto define_static = [&](const auto& function, const std::string& text, const auto&... extra) {
    py::setattr(
        cls, "from_bytes",
        py::staticmethod(py::cpp_function(function, py::name("from_bytes"), py::scope(cls), "data"_a,
                                          py::kw_only(), "key"_a = py::none(), extra..., text.c_str())));
  };
  const std::string text =
      "The stream whose to_bytes() returned these bytes, or whose save() wrote them, with its options. "
      "`key`\n"
      "is the secret of a keyed hash. Raises FormatError (with offset) for damaged bytes, StateMismatch for "
      "the\n"
      "state of another class.";
  if constexpr (SharedStream<Own>::has_observer) {
    define_static([](py::handle data, py::handle key,
                     py::handle on_event) { return stream_from<Own>(copied_bytes(data), key, on_event); },
                  documented("from_bytes(data, *, key=None, on_event=None)", text),
                  "on_event"_a = py::none());
  } else {
    define_static(
        [](py::handle data, py::handle key) { return stream_from<Own>(copied_bytes(data), key, py::none()); },
        documented("from_bytes(data, *, key=None)", text));
  }
}

}  // namespace

template <class Own>
void define_state(py::handle cls) {
  using Shared = SharedStream<Own>;
  define_from_bytes<Own>(cls);
  method(
      cls, "to_bytes(self)", [](const Shared& stream) { return bytes_from(stream.state()); },
      "The whole state, with the options and the seed: from_bytes() continues where this stream is. Do not\n"
      "show a state to anyone who can choose the keys, because it contains the seed (but not the secret of "
      "a\n"
      "keyed hash).");
  method(
      cls, "save(self, path, *, overwrite=True)", save_stream<Own>,
      "Writes the state to a file, all or nothing: the file has either its old content or the whole state.\n"
      "Raises FileExistsError if there is one and overwrite is False, and other OSErrors.",
      "path"_a, py::kw_only(), "overwrite"_a = true);
  method(
      cls, "restore(self, path)", restore_stream<Own>,
      "Continues from a file that save() wrote. This stream must be new, and made with the same options; if "
      "it\n"
      "was made without a seed, it takes over the seed in the file. Raises StateMismatch, which names the\n"
      "option that differs, FormatError (with path and offset) for a damaged file, FileNotFoundError and "
      "other\n"
      "OSErrors; then nothing has changed.",
      "path"_a);
  method(
      cls, "__reduce__(self)", [](py::object self) -> py::object { return self.attr("__reduce_ex__")(4); },
      "For pickle and copy.");
  method(cls, "__reduce_ex__(self, protocol)", reduced_stream<Own>,
         "For pickle and copy, through the state; without on_event.", "protocol"_a);
  property(
      cls, "seed", [](const Shared& stream) { return seed_of(stream.options().hasher); },
      "The seed of the hash, random unless one was given; None with a keyed hash.");
}

template void define_state<ThresholdStream>(py::handle cls);
template void define_state<SumStream>(py::handle cls);
template void define_state<TopStream>(py::handle cls);

std::string init_documentation(std::string_view signature_of_class) {
  return documented(
      "__init__(self, " + std::string(signature_of_class.substr(signature_of_class.find('(') + 1)), "");
}

py::tuple arrays_of_reports(const ReachedKeys& reports) {
  const auto size = static_cast<py::ssize_t>(reports.size());
  py::array_t<std::int64_t> positions(size);
  py::array_t<std::uint64_t> counts(size);
  std::transform(reports.begin(), reports.end(), positions.mutable_data(),
                 [](const ReachedKey& key) { return static_cast<std::int64_t>(key.index); });
  std::transform(reports.begin(), reports.end(), counts.mutable_data(),
                 [](const ReachedKey& key) { return key.count; });
  return py::make_tuple(std::move(positions), std::move(counts));
}

py::object count_of_report(const ReachedKeys& reports) {
  if (reports.empty()) return py::none();
  return py::int_(reports.front().count);
}

void make_room(ReachedKeys& reports, std::size_t num_keys) {
  const std::size_t most = reports.size() + num_keys;
  if (reports.capacity() < most) reports.reserve(std::max(most, 2 * reports.capacity()));
}

void append_reports(ReachedKeys& reports, std::span<const ReachedKey> of_part, std::size_t first) {
  for (const ReachedKey& key : of_part) reports.push_back({first + key.index, key.count});
}

py::object float_or_none(const std::optional<double>& number) {
  if (!number) return py::none();
  return py::float_(*number);
}

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string short_number(double number) {
  std::array<char, 32> text;
  const int size = std::snprintf(text.data(), text.size(), "%.3g", number);
  return {text.data(), static_cast<std::size_t>(size)};
}

}  // namespace tally::python
