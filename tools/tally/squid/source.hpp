#pragma once

#include <cstddef>
#include <string>
#include <vector>
#include "cli/command_line.hpp"

#include "tally/summaries/squid/digest.hpp"

namespace tally::cli {

/// The bytes of a digest: of a file, of standard input ("-"), or of a Squid that is asked. A URL without a
/// path is completed with the one where Squid has it. Never more than a digest may have.
std::vector<std::byte> read_squid_bytes(const std::string& source);

/// Throws std::runtime_error, std::system_error and FormatError, which all name the source.
SquidDigest open_squid_digest(const std::string& source);

}  // namespace tally::cli
