#include <pybind11/numpy.h>

#include <algorithm>
#include <compare>
#include <limits>

#include "arguments.hpp"
#include "bytes.hpp"
#include "guarded.hpp"
#include "summaries.hpp"
#include "summary_argument.hpp"
#include "summary_terms.hpp"
#include "tally/summaries/set.hpp"

namespace tally::python {
namespace {

using PySummarySet = Guarded<SummarySet>;

/// Those of `tally node`.
constexpr std::uint32_t default_max_peers = 1000;
constexpr std::uint64_t default_max_total_bytes = std::uint64_t{1} << 30;

PySummarySet new_summary_set(py::handle seed, py::handle key, py::handle max_peers,
                             py::handle max_total_bytes, py::handle bits_scheme, py::handle cells_scheme,
                             py::handle max_num_hashes, py::handle max_bytes_per_peer,
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
  SummaryTerms terms = arguments.terms();
  terms.max_peers = static_cast<std::uint32_t>(
      whole_number(max_peers, "max_peers", {1, std::numeric_limits<std::uint32_t>::max()}));
  terms.max_total_bytes =
      whole_number(max_total_bytes, "max_total_bytes", {1, std::numeric_limits<std::uint64_t>::max()});
  return {SummarySet(terms), terms.hasher};
}

/// The names of all peers in order, and the place of each peer's name.
struct PeerNames {
  explicit PeerNames(const SummarySet& set) {
    set.for_each_peer([&](SummarySet::Peer peer) {
      if (places.size() <= peer) places.resize(std::size_t{peer} + 1);
      places[peer] = static_cast<std::uint32_t>(names.size());
      names.push_back(set.name(peer));
    });
  }
  py::list to_python() const {
    py::list list;
    for (const std::string& name : names) list.append(publisher_to_python(name));
    return list;
  }

  std::vector<std::string> names;
  std::vector<std::uint32_t> places;
};

/// A key of a batch and a peer that may have it.
struct PeerMatch {
  std::int64_t key;
  std::uint32_t peer;
  friend auto operator<=>(const PeerMatch&, const PeerMatch&) = default;
};

struct PeerMatches {
  PeerNames names;
  std::vector<PeerMatch> matches;  // of places in names, ordered
};

PeerMatches matches_in(const SummarySet& set, const KeyBatch& batch) {
  PeerMatches found{PeerNames(set), {}};
  batch.for_each_part([&](std::size_t first, std::span<const Hash128> digests) {
    set.who_may_have_batch(digests, [&](std::size_t key, SummarySet::Peer peer) {
      found.matches.push_back({static_cast<std::int64_t>(first + key), found.names.places[peer]});
    });
  });
  // Peers that took the numbers of removed ones are out of order.
  if (!std::ranges::is_sorted(found.matches)) std::ranges::sort(found.matches);
  return found;
}

py::object who_may_have_batch(const PySummarySet& set, py::handle keys) {
  const KeyBatch batch(keys, set.hasher());
  const PeerMatches found =
      set.read(batch.size(), [&](const SummarySet& own) { return matches_in(own, batch); });
  const auto size = static_cast<py::ssize_t>(found.matches.size());
  py::array_t<std::int64_t> key_indices(size);
  py::array_t<std::uint32_t> peer_indices(size);
  std::ranges::transform(found.matches, key_indices.mutable_data(), &PeerMatch::key);
  std::ranges::transform(found.matches, peer_indices.mutable_data(), &PeerMatch::peer);
  return record("PeerMatches", "key_indices"_a = key_indices, "peer_indices"_a = peer_indices,
                "names"_a = found.names.to_python(), "num_keys"_a = batch.size());
}

py::list who_may_have(const PySummarySet& set, py::handle key) {
  const Hash128 digest = digest_of(key, set.hasher());
  std::vector<std::string> names = set.read(1, [&](const SummarySet& own) {
    std::vector<std::string> found;
    for (const SummarySet::Peer peer : own.who_may_have(digest)) found.push_back(own.name(peer));
    return found;
  });
  std::ranges::sort(names);
  py::list list;
  for (const std::string& name : names) list.append(publisher_to_python(name));
  return list;
}

py::list longest_prefix(const PySummarySet& set, py::handle blocks) {
  const KeyBatch batch(blocks, set.hasher());
  std::vector<std::pair<std::string, std::size_t>> prefixes =
      set.read(batch.size(), [&](const SummarySet& own) {
        std::vector<Hash128> digests;
        digests.reserve(batch.size());
        batch.for_each_part([&](std::size_t, std::span<const Hash128> part) {
          digests.insert(digests.end(), part.begin(), part.end());
        });
        std::vector<std::pair<std::string, std::size_t>> found;
        for (const SummarySet::Prefix& prefix : own.longest_prefix(digests))
          found.emplace_back(own.name(prefix.peer), prefix.num_blocks);
        return found;
      });
  std::ranges::sort(prefixes, [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  py::list list;
  for (const auto& [name, num_blocks] : prefixes)
    list.append(py::make_tuple(publisher_to_python(name), num_blocks));
  return list;
}

/// What use(set, peer) returns for the peer with this name. Throws ValueError if there is none.
template <class Use>
auto of_peer(const PySummarySet& set, py::handle name, Use use) {
  const std::string own_name = publisher_from(name, "name");
  auto result = set.read(1, [&](const SummarySet& own) {
    const auto peer = own.find(own_name);
    return peer ? std::optional(use(own, *peer)) : std::nullopt;
  });
  if (!result)
    throw_value_error("name", name,
                      "that of a peer, one of `peers`: a publisher whose full copy has arrived");
  return std::move(*result);
}

py::tuple apply_to_set(PySummarySet& set, py::handle message) {
  const SummaryArgument own(message, "message");
  const ApplyResult result =
      set.write(own.work(), [&](SummarySet& copies) { return copies.apply(own.message()).result; });
  return py::make_tuple(publisher_to_python(own.message().publisher),
                        member(EnumClass::apply_result, result));
}

py::bytes request_of_unknown(const PySummarySet& set, py::handle message) {
  const SummaryArgument own(message, "message");
  const SummaryMessage& heard = own.message();
  return bytes_from(set.read(own.work(), [&](const SummarySet& copies) {
    // A forged version would make the publisher continue after it.
    require_authentic(copies.terms(), heard);
    require_terms(copies.terms(), heard.layout, heard.publisher);
    return copies.request_of_unknown(heard);
  }));
}

constexpr const char* set_text =
    "The copies of what all publishers hold: which of them may have this key? The guarantees for each copy "
    "are those of\n"
    "SummaryReplica. Filters of one shape are stored side by side, so that a lookup in a thousand of them "
    "reads few cache\n"
    "lines: give all publishers the same shape if you can.\n\n"
    "It has at most `max_peers` peers, and all copies take at most `max_total_bytes`. ";

void define_questions(py::handle cls) {
  method(cls, "who_may_have(self, key)", who_may_have,
         "The names of all peers that may have the key, in the order of their bytes.", "key"_a);
  method(cls, "longest_prefix(self, blocks)", longest_prefix,
         "For the blocks of a request in their order, pairs of a peer's name and how many of them it may "
         "hold from the "
         "first\non without a gap: the longest prefix first, and peers of equally long ones by name. Peers "
         "without the "
         "first block are left out.",
         "blocks"_a);
  method(cls, "who_may_have_batch(self, keys)", who_may_have_batch,
         "who_may_have for every key, as a tally.PeerMatches: an array of positions in the batch, one of "
         "positions in its list\n"
         "of names, an entry of both for every pair of a key and a peer that may have it; lists() makes a "
         "list of names for\n"
         "every key. 12 bytes per pair.",
         "keys"_a);
  property(
      cls, "peers",
      [](const PySummarySet& set) {
        return set.read(1, [](const SummarySet& own) { return PeerNames(own); }).to_python();
      },
      "The names of all peers, in the order of their bytes.");
  method(
      cls, "__len__(self)",
      [](const PySummarySet& set) {
        return set.read(1, [](const SummarySet& own) { return own.num_peers(); });
      },
      "The number of peers.");
  method(
      cls, "status(self, name)",
      [](const PySummarySet& set, py::handle name) {
        return status_to_python(of_peer(
            set, name, [](const SummarySet& own, SummarySet::Peer peer) { return own.status(peer); }));
      },
      "Where the copy of a peer stands in its publisher's history, as a tally.SummaryStatus. Raises "
      "ValueError for a name that\n"
      "is not in `peers`.",
      "name"_a);
  method(
      cls, "estimated_false_positive_rate(self, name)",
      [](const PySummarySet& set, py::handle name) {
        return of_peer(set, name, [](const SummarySet& own, SummarySet::Peer peer) {
          return own.estimated_false_positive_rate(peer);
        });
      },
      "For a key that the peer does not have, for what its copy holds now: the share of positive answers. Up "
      "to a third too\n"
      "low for blocked filters. Raises ValueError for a name that is not in `peers`.",
      "name"_a);
  property(
      cls, "memory_bytes",
      [](const PySummarySet& set) {
        return set.read(1, [](const SummarySet& own) { return own.num_bytes(); });
      },
      "Bytes of memory of all copies.");
}

}  // namespace

void bind_summary_set(py::module_& module) {
  const SummaryTerms defaults;
  const std::string arguments =
      "*, seed=None, key=None, max_peers=1000, max_total_bytes=1073741824, " + std::string(terms_signature);
  py::class_<PySummarySet> cls(
      module, "SummarySet",
      documented("SummarySet(" + arguments, std::string(set_text) + terms_text).c_str());
  cls.def(py::init(&new_summary_set), py::kw_only(), "seed"_a = py::none(), "key"_a = py::none(),
          "max_peers"_a = default_max_peers, "max_total_bytes"_a = default_max_total_bytes,
          "bits_scheme"_a = "congruential", "cells_scheme"_a = "rotation",
          "max_num_hashes"_a = defaults.max_num_hashes, "max_bytes_per_peer"_a = defaults.max_bytes_per_peer,
          "message_secret"_a = py::none(), "group"_a = "", "takes_unsigned"_a = false,
          documented("__init__(self, " + arguments, "").c_str());
  refuse_pickling(cls, "a SummarySet cannot be pickled or copied; apply full copies to a new one");
  method(
      cls, "apply(self, message)", apply_to_set,
      "Applies a message of any publisher. Returns its name, and ApplyResult.applied, unchanged, behind, "
      "or unknown: only a\n"
      "full copy makes a publisher a peer, and request_of_unknown(message) asks for one. A request changes "
      "nothing.\n\n"
      "Raises what SummaryReplica.apply raises, and NoRoomForPeer if max_peers or max_total_bytes would be "
      "exceeded. Nothing\n"
      "has changed then.",
      "message"_a);
  method(
      cls, "remove(self, name)",
      [](PySummarySet& set, py::handle name) {
        const std::string own_name = publisher_from(name, "name");
        return set.write(1, [&](SummarySet& own) { return own.remove(own_name); });
      },
      "Removes a peer and its copy. Returns False if there is none with this name.", "name"_a);
  method(
      cls, "request(self, name)",
      [](const PySummarySet& set, py::handle name) {
        return bytes_from(of_peer(
            set, name, [](const SummarySet& own, SummarySet::Peer peer) { return own.request(peer); }));
      },
      "A request to a peer for a full copy, to be sent if status(name).needs_full. Raises ValueError for a "
      "name that is not in\n"
      "`peers`.",
      "name"_a);
  method(cls, "request_of_unknown(self, message)", request_of_unknown,
         "A request for a full copy to the publisher of a message for which apply returned "
         "ApplyResult.unknown. Raises what apply\n"
         "raises.",
         "message"_a);
  define_questions(cls);
  method(
      cls, "__repr__(self)",
      [](const PySummarySet& set) {
        const auto [peers, bytes] =
            set.read(1, [](const SummarySet& own) { return std::pair(own.num_peers(), own.num_bytes()); });
        return "<tally.SummarySet: " + std::to_string(peers) + " peers in " + std::to_string(bytes) +
               " bytes>";
      },
      "Peers and memory.");
}

}  // namespace tally::python
