#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "python.hpp"
#include "tally/summaries/message_key.hpp"
#include "tally/summaries/status.hpp"

// What the classes of summaries share.

namespace tally::python {

void bind_summary_publisher(py::module_& module);
void bind_summary_replica(py::module_& module);
void bind_summary_set(py::module_& module);

/// The name of a publisher, which is bytes in messages, as a str: bytes that are no UTF-8 become lone surrogates, as those of
/// file names do.
py::object publisher_to_python(std::string_view name);
/// The inverse. Throws TypeError, or ValueError unless it has 1 to 255 bytes.
std::string publisher_from(py::handle name, const char* field);

/// What signs and checks messages; none without a secret. Throws ValueError for a group without a secret.
std::optional<MessageKey> message_key_from(py::handle message_secret, py::handle group);

/// A datetime in UTC. Later times than datetime has, which a stranger may write, become the latest one.
py::object time_to_python(SummaryTime time);
py::object version_to_python(const SummaryVersion& version);
py::object status_to_python(const SummaryStatus& status);

}  // namespace tally::python
