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
  std::uint32_t seconds = 600;      ///< for everything together
  /// An answer that began longer ago than the first must have come at the second, on average.
  std::uint32_t slow_seconds = 10;
  std::uint32_t least_bytes_a_second = 8192;
  /// Bytes that are no part of the body, sizes of chunks for instance: so many, and as many again as the body has.
  std::uint64_t max_other_bytes = 65536;
};

/// What GET of the URL answers. Throws std::runtime_error that names the URL if no answer comes in time, or
/// it is not 200, or is beyond a limit; SIGINT ends it too.
std::vector<std::byte> http_get(const HttpUrl& url, const std::string& accept, const HttpLimits& limits);

}  // namespace tally::cli
