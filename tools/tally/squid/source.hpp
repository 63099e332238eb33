#pragma once

#include <cstddef>
#include <string>
#include <vector>
#include "cli/command_line.hpp"

#include "tally/summaries/squid/digest.hpp"

namespace tally::cli {

/// The bytes of a digest: of a file, of standard input ("-"), or of a Squid, fetched over HTTP. A URL without
/// a path gets the path where Squid has its digest. Never more bytes than a digest may have.
std::vector<std::byte> read_squid_bytes(const std::string& source);

/// Throws std::runtime_error, std::system_error and FormatError, which all name the source.
SquidDigest open_squid_digest(const std::string& source);

}  // namespace tally::cli
