#include "arguments.hpp"
#include "batches.hpp"
#include "bytes.hpp"
#include "filter.hpp"
#include "guarded.hpp"
#include "summaries.hpp"
#include "summary_argument.hpp"
#include "summary_terms.hpp"
#include "tally/any_filter/summary.hpp"
#include "tally/hashing/scheme_list.hpp"
#include "tally/summaries/replica.hpp"

namespace tally::python {
namespace {

using PyReplica = Guarded<SummaryReplica>;

std::uint16_t scheme_from(py::handle name, const char* field, std::span<const NamedScheme> schemes) {
  const std::string wanted = text(name, field);
  std::string rule;
  for (const NamedScheme& scheme : schemes) {
    if (scheme.name == wanted) return scheme.file_id;
    rule += (rule.empty() ? "'" : " or '") + std::string(scheme.name) + "'";
  }
  throw_value_error(field, name, rule);
}

PyReplica new_replica(py::handle seed, py::handle key, py::handle publisher, py::handle bits_scheme,
                      py::handle cells_scheme, py::handle max_num_hashes, py::handle max_bytes_per_peer,
                      py::handle message_secret, py::handle group, py::handle takes_unsigned) {
  const TermsArguments arguments{.seed = seed,
                                 .key = key,
                                 .bits_scheme = bits_scheme,
                                 .cells_scheme = cells_scheme,
                                 .max_num_hashes = max_num_hashes,
                                 .max_bytes_per_peer = max_bytes_per_peer,
                                 .message_secret = message_secret,
                                 .group = group,
                                 .takes_unsigned = takes_unsigned};
  const SummaryTerms terms = arguments.terms();
  std::string name;
  if (!publisher.is_none()) name = publisher_from(publisher, "publisher");
  return {SummaryReplica(terms, std::move(name)), terms.hasher};
}

int replica_contains(PyObject* self, PyObject* key) noexcept {
  return slot_of_in<PyReplica>(
      self, key, [](const SummaryReplica& own, Hash128 digest) { return own.may_contain(digest); });
}

py::array_t<bool> replica_contains_batch(const PyReplica& replica, py::handle keys) {
  return results_of_keys<bool>(replica, keys,
                               [](const SummaryReplica& own, std::span<const Hash128> digests,
                                  std::span<bool> results) { own.may_contain_batch(digests, results); });
}

SummaryStatus status_of(const PyReplica& replica) {
  return replica.read(1, [](const SummaryReplica& own) { return own.status(); });
}

std::string publisher_of(const PyReplica& replica) {
  return replica.read(1, [](const SummaryReplica& own) { return own.publisher(); });
}

py::object publisher_or_none(const PyReplica& replica) {
  const std::string name = publisher_of(replica);
  return name.empty() ? py::object(py::none()) : publisher_to_python(name);
}

py::object filter_of_replica(const PyReplica& replica) {
  auto filter = replica.read(Held::long_batch, [&](const SummaryReplica& own) -> std::optional<AnyFilter> {
    if (!own.table()) return std::nullopt;
    return filter_of(*own.table(), replica.hasher());
  });
  if (!filter) throw py::value_error("no full copy has arrived yet; send the request() and apply the answer");
  return wrapped(std::move(*filter));
}

constexpr const char* replica_text =
    "A copy of what one publisher holds. At the version held it has exactly the publisher's bits or cells: "
    "`key in replica`\n"
    "is True for every key that the filter held then. Messages may be lost, repeated, damaged, and arrive "
    "in any order;\n"
    "`status` tells how far behind the copy is. Before the first full copy, it is empty. For many "
    "publishers, use SummarySet.\n\n"
    "`publisher` is the only one whose messages are taken (None: that of the first message). ";

}  // namespace

SummaryTerms TermsArguments::terms() const {
  constexpr std::uint64_t most = ~std::uint64_t{0};
  SummaryTerms terms;
  terms.hasher = hasher_from(seed, key);
  terms.bits_scheme_id = scheme_from(bits_scheme, "bits_scheme", AllSchemes::names);
  terms.cells_scheme_id = scheme_from(cells_scheme, "cells_scheme", BucketSchemes::names);
  terms.max_num_hashes =
      static_cast<std::uint32_t>(whole_number(max_num_hashes, "max_num_hashes", {1, tally::max_num_hashes}));
  terms.max_bytes_per_peer = whole_number(max_bytes_per_peer, "max_bytes_per_peer", {1, most});
  terms.key = message_key_from(message_secret, group);
  terms.takes_unsigned = truth(takes_unsigned, "takes_unsigned");
  return terms;
}

void bind_summary_replica(py::module_& module) {
  const auto slots = [](PyHeapTypeObject* type) { type->as_sequence.sq_contains = replica_contains; };
  const SummaryTerms defaults;
  const std::string arguments = "*, seed=None, key=None, publisher=None, " + std::string(terms_signature);
  py::class_<PyReplica> cls(
      module, "SummaryReplica",
      documented("SummaryReplica(" + arguments, std::string(replica_text) + terms_text).c_str(),
      py::custom_type_setup(slots));
  cls.def(py::init(&new_replica), py::kw_only(), "seed"_a = py::none(), "key"_a = py::none(),
          "publisher"_a = py::none(), "bits_scheme"_a = "congruential", "cells_scheme"_a = "rotation",
          "max_num_hashes"_a = defaults.max_num_hashes, "max_bytes_per_peer"_a = defaults.max_bytes_per_peer,
          "message_secret"_a = py::none(), "group"_a = "", "takes_unsigned"_a = false,
          documented("__init__(self, " + arguments, "").c_str());
  refuse_pickling(cls, "a SummaryReplica cannot be pickled or copied; apply a full copy to a new one");
  method(
      cls, "apply(self, message)",
      [](PyReplica& replica, py::handle message) {
        const SummaryArgument own(message, "message");
        return member(EnumClass::apply_result, replica.write(own.work(), [&](SummaryReplica& copy) {
          return copy.apply(own.message());
        }));
      },
      "Applies a message of the publisher. Returns ApplyResult.applied, unchanged or behind. A request "
      "changes nothing.\n\n"
      "Raises FormatError for a damaged message, NotAuthentic for one without the right signature, "
      "ValueError for one of\n"
      "another publisher or that the terms do not allow, and MemoryError. Nothing has changed then.",
      "message"_a);
  method(
      cls, "may_contain(self, key)",
      [](const PyReplica& replica, py::handle key) {
        const Hash128 digest = digest_of(key, replica.hasher());
        return replica.read(1, [&](const SummaryReplica& own) { return own.may_contain(digest); });
      },
      "Whether the publisher may have the key, at the version held. `key in replica` is the same.", "key"_a);
  method(cls, "may_contain_batch(self, keys)", replica_contains_batch,
         "may_contain for every key, as an array of bool.", "keys"_a);
  method(
      cls, "request(self)",
      [](const PyReplica& replica) {
        return bytes_from(replica.read(1, [](const SummaryReplica& own) { return own.request(); }));
      },
      "A request to the publisher for a full copy, to be sent if status.needs_full; b'' if nothing has "
      "arrived from one.");
  method(cls, "filter(self)", filter_of_replica,
         "A filter with the copy's bits or cells, which can be saved: a BloomFilter, BlockedBloomFilter, "
         "RegisterBlockedBloomFilter\n"
         "or DLeftCountingBloomFilter. Its num_insertions is 0, or the number of keys in the cells. Raises "
         "ValueError before\n"
         "the first full copy.");
  property(
      cls, "status", [](const PyReplica& replica) { return status_to_python(status_of(replica)); },
      "Where the copy stands in its publisher's history, as a tally.SummaryStatus.");
  property(cls, "publisher", publisher_or_none, "The name of the publisher; None if none is known yet.");
  property(
      cls, "estimated_false_positive_rate",
      [](const PyReplica& replica) {
        return replica.read(1, [](const SummaryReplica& own) { return own.estimated_false_positive_rate(); });
      },
      "For a key that the publisher does not have, for what the copy holds now: the share of positive "
      "answers. Up to a third\n"
      "too low for blocked filters, where statistics() of filter() has the rate.");
  method(
      cls, "__repr__(self)",
      [](const PyReplica& replica) {
        const SummaryStatus status = status_of(replica);
        return py::str("<tally.SummaryReplica of {!r}: version {} of epoch {}, {}>")
            .format(publisher_or_none(replica), status.held.sequence, status.held.epoch,
                    status.is_current()   ? "current"
                    : status.needs_full() ? "needs a full copy"
                                          : "empty");
      },
      "Publisher and version.");
}

}  // namespace tally::python
