#pragma once

#include <cstdint>
#include <string>

namespace tally::cli {

/// Where a Squid asks another one for its digest.
inline constexpr const char* squid_digest_path = "/squid-internal-periodic/store_digest";

struct DigestServerOptions {
  std::string path;  ///< the digest file; read again when it is replaced
  std::string host = "127.0.0.1";
  std::uint16_t port = 3128;             ///< 0: one that is free
  std::uint32_t expires_seconds = 3600;  ///< a peer asks again after that
  bool log = false;                      ///< "200 GET /path" on standard output for every request
  bool quiet = false;
};

/// Serves the digest until SIGINT, SIGTERM or SIGHUP. Anything else is answered 404, and what a peer asks of a cache
/// 504, as by a cache that does not have it: a Squid goes elsewhere then.
/// Throws what reading the digest throws, and std::runtime_error where it cannot listen.
void serve_digest(const DigestServerOptions& options);

}  // namespace tally::cli
