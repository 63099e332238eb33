#include "json_catalogue/catalogue.hpp"

namespace tally::cli {

std::vector<JsonRecord> exchange_records() {
  using Form = JsonRecord::Form;
  return {
      {.name = "diff",
       .form = Form::document,
       .commands = {"diff"},
       .summary = "The message that was written to a file",
       .table = R"(
kind | string | | delta or full
num_changes | integer or null | units | bits or cells that changed; null for a full copy
message_bytes | integer | bytes | size of the message
summary_bytes | integer | bytes | size of the summary that it makes
)"},
      {.name = "patch",
       .form = Form::document,
       .commands = {"patch"},
       .summary = "The messages that were applied",
       .table = R"(
num_messages | integer | messages | messages that were read
num_applied | integer | messages | messages that were applied
is_current | boolean | | whether the copy has the version of the last message
)"},
      {.name = "squid_digest",
       .form = Form::document,
       .commands = {"squid info"},
       .summary = "A cache digest of Squid",
       .table = R"(
capacity | integer | URLs | URLs that it is planned for
bits_per_entry | integer | bits | bits per planned URL
num_bits | integer | bits | its size
count | integer | URLs | URLs in it, as its header says
del_count | integer | URLs | URLs that were removed from the cache since, as its header says
fill_ratio | number | share | share of the bits that are set
estimated_false_positive_rate | number | probability | that another URL is found, now
planned_false_positive_rate | number | probability | the same with `capacity` URLs
)"},
      {.name = "squid_built",
       .form = Form::document,
       .commands = {"squid build"},
       .summary = "A digest that was written; with --output - it is a remark on standard error",
       .parts = {"squid_digest"},
       .table = R"(
num_urls | integer | URLs | URLs that were read, including repeats
)"},
      {.name = "selected_urls",
       .form = Form::document,
       .commands = {"squid query"},
       .summary = "How many URLs were found",
       .table = R"(
num_urls | integer | URLs | URLs that were looked up, including repeats
num_found | integer | URLs | URLs that may be in the digest
num_absent | integer | URLs | URLs that are certainly not in it
)"},
      {.name = "node_answer",
       .form = Form::line,
       .commands = {"node"},
       .summary = "The answer to '?KEY'",
       .parts = {"key_bytes"},
       .table = R"(
peers | [string] | | names of the nodes that may hold the key
)"},
      {.name = "node_wait",
       .form = Form::line,
       .commands = {"node"},
       .summary = "The end of '!wait'",
       .table = R"(
wait | node_wait_result | | what was waited for
)"},
      {.name = "node_wait_result", .summary = "How a '!wait' ended", .table = R"(
is_over | boolean | | whether enough peers were there in time
num_caught_up | integer | nodes | peers whose newest known version is here
)"},
      {.name = "node_status_line",
       .form = Form::line,
       .commands = {"node"},
       .summary = "The answer to '!status'",
       .table = R"(
status | node_status | | the node and its peers
)"},
      {.name = "node_status", .summary = "A node; numbers are since it started", .table = R"(
name | string | | its name
is_connected | boolean | | whether it is connected to the Redis server
redis | string or null | | the server that it subscribes to; null while it is not connected
publish_redis | string or null | | the server where it publishes and keeps its full copy
is_publishing | boolean | | whether it sends its own summary
num_connections_lost | integer | connections | connections to the server that broke
num_failovers | integer | | times that it connected to another server than before
epoch | integer | | epoch of its own summary: another one begins when a node starts anew
sequence | integer | | version of its own summary in that epoch
keys | integer | keys | keys that it holds
pending_changes | integer | keys | insertions and removals that no version has yet
versions_sent | integer | messages | versions that were sent
copies_stored | integer | copies | full copies of its own summary that were stored on the server
copies_fetched | integer | copies | full copies of peers that were fetched
heartbeats_sent | integer | messages | messages that only confirm the last version
requests_sent | integer | messages | requests for full copies
messages_received | integer | messages | messages of other nodes
versions_lost | integer | times | that the copy of a peer fell behind, because a message did not arrive
versions_repaired | integer | times | that such a copy has caught up
lookups | integer | keys | keys that were asked for
lookups_maybe | integer | keys | those of them that some peer may have
name_conflicts | integer | messages | messages of another node with the same name
strangers_removed | integer | nodes | peers that made room for new ones
bytes_sent | integer | bytes | messages that were sent, and copies that were stored
bytes_received | integer | bytes | messages of other nodes, and copies that were fetched
messages_refused | integer | messages | messages that were refused, for one of the following reasons
messages_invalid | integer | messages | they were damaged
messages_not_authentic | integer | messages | they lacked the proof that the key of the group makes
messages_terms | integer | messages | they had another hash or channel, or were larger than is allowed
messages_no_room | integer | messages | there were as many peers, or there was as much memory in use, as is allowed
messages_no_memory | integer | messages | an allocation failed
messages_too_many_new | integer | messages | more new peers came in a second than are allowed
copies_num_bytes | integer | bytes | memory of the copies of all peers
changes_refused | integer | keys | insertions into a full filter, and removals of keys that were certainly absent
lines_refused | integer | lines | lines of the input that are no command
peers | [node_peer] | | the other nodes
)"},
      {.name = "node_peer", .summary = "Another node, as this one knows it", .table = R"(
name | string | | its name
is_current | boolean | | whether its newest known version is here
epoch | integer | | epoch of the version that is here; 0 if there is none
sequence | integer | | version in that epoch
versions_behind | integer or null | versions | versions that are known and not here; null if that is unknown
age_seconds | number or null | seconds | time since the copy was known to equal the peer's own; null if never
silent_seconds | number | seconds | time since its last message
false_positive_rate | number | probability | that its copy finds a key which it does not hold
num_bytes | integer | bytes | memory of its copy
format_version | integer | | version of the format of its messages
bytes_received | integer | bytes | its messages and copies
lookups_maybe | integer | keys | keys that were asked for and that it may have
false_positives | integer | keys | those of them that it did not have, as clients reported
)"},
  };
}

}  // namespace tally::cli
