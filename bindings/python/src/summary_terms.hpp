#pragma once

#include "python.hpp"
#include "tally/summaries/terms.hpp"

namespace tally::python {

/// The arguments that SummaryReplica and SummarySet share.
struct TermsArguments {
  py::handle seed;
  py::handle key;
  py::handle bits_scheme;
  py::handle cells_scheme;
  py::handle max_num_hashes;
  py::handle max_bytes_per_peer;
  py::handle message_secret;
  py::handle group;
  py::handle takes_unsigned;

  /// Throws TypeError or ValueError that names the argument.
  SummaryTerms terms() const;
};

/// These arguments in the signatures of both, after seed and key.
inline constexpr const char* terms_signature =
    "bits_scheme='congruential', cells_scheme='rotation', max_num_hashes=64, max_bytes_per_peer=268435456, "
    "message_secret=None, group='', takes_unsigned=False)";

/// What the documentation of both says about these arguments.
inline constexpr const char* terms_text =
    "`seed` or `key` is that of the publishers' filters, by default that of filters that are made without "
    "one. `bits_scheme`\n"
    "is the scheme of their Bloom filters ('blocked' or 'register-blocked' for those classes), "
    "`cells_scheme` "
    "that of their\n"
    "d-left filters. Messages of another hash or scheme are refused, and so are those with more than "
    "`max_num_hashes` hashes\n"
    "(1 to 1024) or more than `max_bytes_per_peer` bytes of bits or cells.\n\n"
    "With `message_secret`, 32 bytes, and `group`, only messages that a publisher with the same two signed "
    "are taken. `tally\n"
    "node` has the group 'default'. Without a secret, anybody who can send a message can speak for every "
    "publisher. With\n"
    "`takes_unsigned`, messages of format version 1, which have no signature, are taken in spite of the "
    "secret: while a\n"
    "group is upgraded.";

}  // namespace tally::python
