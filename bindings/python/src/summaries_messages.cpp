#include <cstring>
#include <type_traits>
#include <variant>

#include "arguments.hpp"
#include "bindings.hpp"
#include "bytes.hpp"
#include "guard.hpp"
#include "keys.hpp"
#include "shapes.hpp"
#include "summaries.hpp"
#include "summary_argument.hpp"

namespace tally::python {
namespace {

/// Reading a longer message takes more time than passing the interpreter's lock on.
constexpr std::size_t long_message = 4096;

SummaryMessage read_message(std::span<const std::byte> bytes) {
  if (bytes.size() < long_message) return read_summary_message(bytes);
  const Unlocked unlocked;
  return read_summary_message(bytes);
}

/// The shape of a filter with the bits or cells of this layout.
py::object shape_of_layout(const SummaryLayout& layout) {
  if (const auto* const dleft = std::get_if<DLeftShape>(&layout.shape))
    return to_python(FilterShape{*dleft, layout.scheme_id});
  const auto& bits = std::get<BloomShape>(layout.shape);
  return to_python(bloom_filter_shape(bits.num_bits, bits.num_hashes, layout.scheme_id));
}

py::object message_to_python(py::handle data) {
  const SummaryArgument own(data, "data");
  const SummaryMessage& message = own.message();
  const SummaryLayout& layout = message.layout;
  py::object seed = py::none();
  if (layout.hash_id == HashId::xxh3_128) seed = py::int_(layout.seed_or_key_id);
  return record("SummaryMessage", "kind"_a = std::string(name_of(message.kind)),
                "publisher"_a = publisher_to_python(message.publisher),
                "version"_a = version_to_python(message.version), "from_sequence"_a = message.from_sequence,
                "published_at"_a = time_to_python(message.published_at),
                "num_changes"_a = message.num_changes, "digest"_a = message.digest,
                "shape"_a = shape_of_layout(layout), "seed"_a = seed, "is_signed"_a = !message.mac.empty(),
                "format_version"_a = message.format_version, "num_bytes"_a = own.num_bytes());
}

}  // namespace

SummaryArgument::SummaryArgument(py::handle object, const char* field) {
  if (PyBytes_Check(object.ptr())) {
    source_ = py::reinterpret_borrow<py::object>(object);
    bytes_ = std::as_bytes(
        std::span(PyBytes_AS_STRING(object.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(object.ptr()))));
  } else {
    const BytesArgument changing(object, field);
    copy_.assign(changing.span().begin(), changing.span().end());
    bytes_ = copy_;
  }
  message_ = read_message(bytes_);
}

std::size_t SummaryArgument::work() const noexcept {
  // A full copy of a few bytes may be one of a large filter.
  return message_.kind == SummaryMessageKind::full ? std::max(Held::long_batch, bytes_.size())
                                                   : bytes_.size();
}

py::object publisher_to_python(std::string_view name) {
  const py::object text = py::reinterpret_steal<py::object>(
      PyUnicode_DecodeUTF8(name.data(), static_cast<Py_ssize_t>(name.size()), "surrogateescape"));
  if (!text) throw py::error_already_set();
  return text;
}

std::string publisher_from(py::handle name, const char* field) {
  if (!PyUnicode_Check(name.ptr())) throw_type_error(field, name, "a str");
  const py::object encoded =
      py::reinterpret_steal<py::object>(PyUnicode_AsEncodedString(name.ptr(), "utf-8", "surrogateescape"));
  if (!encoded) throw py::error_already_set();
  const auto num_bytes = static_cast<std::size_t>(PyBytes_GET_SIZE(encoded.ptr()));
  if (num_bytes == 0 || num_bytes > max_publisher_bytes)
    throw py::value_error(std::string(field) + " has " + std::to_string(num_bytes) +
                          " bytes of UTF-8; must have 1 to " + std::to_string(max_publisher_bytes));
  return {PyBytes_AS_STRING(encoded.ptr()), num_bytes};
}

std::optional<MessageKey> message_key_from(py::handle message_secret, py::handle group) {
  const std::string own_group = text(group, "group");
  const std::optional<HashKey> secret = hash_key_from(message_secret, "message_secret");
  if (secret) return MessageKey(*secret, own_group);
  if (!own_group.empty())
    throw_value_error("group", group, "'' without message_secret, because messages are not signed then");
  return std::nullopt;
}

py::object time_to_python(SummaryTime time) {
  return call_in_records("summary_time", time.time_since_epoch().count());
}

py::object version_to_python(const SummaryVersion& version) {
  return record("SummaryVersion", "epoch"_a = version.epoch, "sequence"_a = version.sequence);
}

py::object status_to_python(const SummaryStatus& status) {
  py::object as_of = py::none();
  if (status.as_of != SummaryTime{}) as_of = time_to_python(status.as_of);
  py::object behind = py::none();
  if (const auto number = status.num_versions_behind()) behind = py::int_(*number);
  return record("SummaryStatus", "held"_a = version_to_python(status.held),
                "newest"_a = version_to_python(status.newest), "as_of"_a = as_of,
                "is_current"_a = status.is_current(), "needs_full"_a = status.needs_full(),
                "num_versions_behind"_a = behind, "num_nonzero"_a = status.num_nonzero,
                "digest"_a = status.digest, "has_diverged"_a = status.has_diverged,
                "is_contradicted"_a = status.is_contradicted);
}

void bind_summaries(py::module_& module) {
  bind_summary_publisher(module);
  bind_summary_replica(module);
  bind_summary_set(module);
  module.attr("summary_header_bytes") = summary_header_bytes;
  define(module, "read_summary_message(data)", message_to_python,
         "What the bytes of a message between nodes say, as a tally.SummaryMessage; the whole message is "
         "checked, but not its\n"
         "signature. Raises FormatError (with offset).",
         "data"_a);
  define(
      module, "summary_message_bytes(header)",
      [](py::handle header) {
        const BytesArgument bytes(header, "header");
        return summary_message_bytes(bytes.span());
      },
      "The length of a message in bytes, from its first 128 bytes, summary_header_bytes, which are checked: "
      "for programs that\n"
      "read messages from a pipe or a socket. A stranger may write any length up to 2^60: compare it with "
      "the longest that\n"
      "you take. Raises FormatError.",
      "header"_a);
}

}  // namespace tally::python
