#pragma once

#include <cstdint>
#include <string>

namespace tally::cli {

/// Where a Squid requests the digest of another one.
inline constexpr const char* squid_digest_path = "/squid-internal-periodic/store_digest";

struct DigestServerOptions {
  std::string path;  ///< the digest file; read again when it is replaced
  std::string host = "127.0.0.1";
  std::uint16_t port = 3128;             ///< 0: any free port
  std::uint32_t expires_seconds = 3600;  ///< a peer asks again after that
  std::string access_log;                ///< a file; empty: none
  bool log = false;                      ///< "200 GET /path" on standard output for every request
  bool quiet = false;
};

/// Serves the digest until SIGINT, SIGTERM or SIGHUP; SIGUSR1 opens the access log again. The answer to any other path is 404, and to a request
/// for a cached object 504, as from a cache that does not have it: a Squid then goes elsewhere. Throws what
/// reading the digest throws, and std::runtime_error if it cannot listen.
void serve_digest(const DigestServerOptions& options);

}  // namespace tally::cli
