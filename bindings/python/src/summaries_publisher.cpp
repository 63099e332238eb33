#include <memory>
#include <utility>

#include "arguments.hpp"
#include "bytes.hpp"
#include "collected.hpp"
#include "filter.hpp"
#include "made.hpp"
#include "summaries.hpp"
#include "summary_argument.hpp"
#include "tally/any_filter/summary.hpp"
#include "tally/summaries/publisher.hpp"
#include "tally/summaries/terms.hpp"

namespace tally::python {
namespace {

/// The layout of the filter's summary. Throws ValueError for a filter that has none.
SummaryLayout published_layout(const Filter& filter) {
  const auto layout = filter.read(1, [](const AnyFilter& own) { return summary_layout_of(own); });
  if (layout) return *layout;
  throw py::value_error("filter is of kind '" + std::string(name_of(filter.peek().kind())) +
                        "', which has no summary; must be a bloom, blocked-bloom, counting-bloom or dleft "
                        "filter");
}

/// A publisher of what a filter of Python holds.
class PyPublisher : public ZeroedStorage {
 public:
  PyPublisher(py::object filter, const SummaryLayout& layout, const SummaryOptions& options)
      : filter_(std::move(filter)), guard_(std::make_unique<Guard>()), key_(options.key) {
    const Unlocked unlocked;
    publisher_ = std::make_unique<SummaryPublisher>(layout, options);
  }

  template <class Use>
  NotOfPython auto read(std::size_t num_keys, Use use) const {
    const Held held(*guard_, Access::read, num_keys);
    return use(std::as_const(*publisher_));
  }

  std::vector<std::byte> publish() {
    (void)*publisher_;
    return py::cast<const Filter&>(filter_).read_into(*guard_, [&](const AnyFilter& own) {
      const SummaryLayout layout = summary_layout_of(own).value();
      if (layout != publisher_->layout() || publisher_->is_layout_changing())
        publisher_->change_layout(layout);
      publisher_->touch_all();
      std::vector<std::byte> message;
      with_summary_words(own, [&](auto words) { message = publisher_->publish(words); });
      return message;
    });
  }

  std::vector<std::byte> answer(const SummaryMessage& request) {
    // A request may set the epoch, so that it needs a signature as much as a version does.
    require_authentic({.key = key_}, request);
    const Held held(*guard_, Access::write, Held::long_batch);
    return publisher_->answer(request);
  }

  // For the garbage collector, because an attribute of the filter may refer to the publisher.
  int visit(visitproc visit, void* arg) const {
    Py_VISIT(filter_.ptr());
    return 0;
  }
  void forget_objects() noexcept { filter_ = {}; }

  const py::object& filter() const {
    (void)*publisher_;
    return filter_;
  }
  /// For what never changes.
  const SummaryPublisher& peek() const { return *publisher_; }

 private:
  py::object filter_;
  Made<Guard> guard_;
  std::optional<MessageKey> key_;
  Made<SummaryPublisher> publisher_;
};

std::unique_ptr<PyPublisher> new_publisher(py::object filter, py::handle name, py::handle epoch,
                                           py::handle message_secret, py::handle group) {
  if (!py::isinstance<Filter>(filter)) throw_type_error("filter", filter, "a filter of tally");
  const SummaryOptions options{.publisher = publisher_from(name, "name"),
                               .epoch = whole_number(epoch, "epoch"),
                               .key = message_key_from(message_secret, group)};
  const SummaryLayout layout = published_layout(py::cast<const Filter&>(filter));
  return std::make_unique<PyPublisher>(std::move(filter), layout, options);
}

SummaryVersion version_of(const PyPublisher& publisher) {
  return publisher.read(1, [](const SummaryPublisher& own) { return own.version(); });
}

constexpr const char* publisher_text =
    "Tells other processes what a filter holds: each publish() is a version, and its message brings copies "
    "(SummaryReplica,\n"
    "SummarySet) of the version before to it. The filter is a BloomFilter, BlockedBloomFilter, "
    "RegisterBlockedBloomFilter,\n"
    "CountingBloomFilter (whether each counter is above 0) or DLeftCountingBloomFilter; you change it as "
    "before.\n\n"
    "`name` distinguishes publishers: 1 to 255 bytes of UTF-8. `epoch` is a number that grows with every "
    "start of this\n"
    "publisher (0: the time in microseconds). With `message_secret`, 32 bytes, messages are signed for the "
    "`group`; see\n"
    "SummaryReplica. Takes as much memory as the bits or cells. Raises ValueError for a filter of another "
    "kind. Source: Fan\n"
    "et al. 2000 (docs/summaries.md).";

}  // namespace

void bind_summary_publisher(py::module_& module) {
  const std::string arguments = "filter, name, *, epoch=0, message_secret=None, group='')";
  py::class_<PyPublisher> cls(module, "SummaryPublisher",
                              documented("SummaryPublisher(" + arguments, publisher_text).c_str(),
                              py::custom_type_setup(Collected<PyPublisher>::setup));
  cls.def(py::init(&new_publisher), "filter"_a, "name"_a, py::kw_only(), "epoch"_a = 0,
          "message_secret"_a = py::none(), "group"_a = "",
          documented("__init__(self, " + arguments, "").c_str());
  refuse_pickling(
      cls, "a SummaryPublisher cannot be pickled or copied: two of one name would contradict each other");
  method(
      cls, "publish(self)", [](PyPublisher& publisher) { return bytes_from(publisher.publish()); },
      "Makes a version of what the filter holds now, and returns its message: what changed since the last "
      "version, or a full\n"
      "copy if that is shorter, or if there is no last version of the same size. If nothing changed, it is a "
      "heartbeat, and\n"
      "the version stays. Raises ValueError if the filter is closed, and MemoryError; the next version has "
      "the changes then.");
  method(
      cls, "full(self)",
      [](const PyPublisher& publisher) {
        return bytes_from(
            publisher.read(Held::long_batch, [](const SummaryPublisher& own) { return own.full(); }));
      },
      "A full copy of the last version, for a peer that is new or missed a message; before the first "
      "publish(), a copy of an\n"
      "empty filter.");
  method(
      cls, "heartbeat(self)",
      [](const PyPublisher& publisher) {
        return bytes_from(publisher.read(1, [](const SummaryPublisher& own) { return own.heartbeat(); }));
      },
      "A message that names the last version, by which peers notice that they missed one.");
  method(
      cls, "answer(self, request)",
      [](PyPublisher& publisher, py::handle request) {
        const SummaryArgument own(request, "request");
        return bytes_from(publisher.answer(own.message()));
      },
      "The answer to the request of a replica: a full copy, or a heartbeat if it holds the last version; "
      "b'' if the request is\n"
      "for another publisher. If the sender has heard of a later version, because this machine's clock was "
      "set back, the\n"
      "publisher continues with an epoch that is later still.\n\n"
      "Raises FormatError, ValueError for a message that is no request, and NotAuthentic for a request that "
      "is not signed with\n"
      "the publisher's secret, if it has one.",
      "request"_a);
  property(
      cls, "version", [](const PyPublisher& publisher) { return version_to_python(version_of(publisher)); },
      "The last version, as a tally.SummaryVersion; its sequence is 0 before the first publish().");
  property(
      cls, "name", [](const PyPublisher& publisher) { return publisher_to_python(publisher.peek().name()); },
      "The name of the publisher among its peers.");
  property(
      cls, "filter", [](const PyPublisher& publisher) { return publisher.filter(); },
      "The filter that it publishes.");
  property(
      cls, "memory_bytes",
      [](const PyPublisher& publisher) {
        return publisher.read(1, [](const SummaryPublisher& own) { return own.num_bytes(); });
      },
      "Bytes of memory, without the filter's.");
  method(
      cls, "__repr__(self)",
      [](const PyPublisher& publisher) {
        const SummaryVersion version = version_of(publisher);
        return py::str("<tally.SummaryPublisher {!r}: version {} of epoch {}>")
            .format(publisher_to_python(publisher.peek().name()), version.sequence, version.epoch);
      },
      "Name and version.");
}

}  // namespace tally::python
