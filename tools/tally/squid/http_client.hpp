#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "squid/http_url.hpp"

namespace tally::cli {

struct HttpLimits {
  std::uint64_t max_body_bytes = 0;
  std::uint32_t idle_seconds = 30;  ///< without a byte
  std::uint32_t seconds = 600;      ///< in total
  /// An answer that takes longer than slow_seconds must arrive at least_bytes_a_second or faster, on average.
  std::uint32_t slow_seconds = 10;
  std::uint32_t least_bytes_a_second = 8192;
  /// Bytes that are not part of the body, such as chunk sizes: this many, plus as many as the body has.
  std::uint64_t max_other_bytes = 65536;
};

/// The body of the answer to GET. Throws std::runtime_error that names the URL if no answer arrives in time,
/// if its status is not 200, or if it exceeds a limit; SIGINT also ends it.
std::vector<std::byte> http_get(const HttpUrl& url, const std::string& accept, const HttpLimits& limits);

}  // namespace tally::cli
