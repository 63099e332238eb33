#pragma once

#include <string>

namespace tally::cli {

/// Whether the host is an IPv4 or IPv6 address, so that there is no name to look up.
bool is_ip_address(const std::string& host) noexcept;

}  // namespace tally::cli
