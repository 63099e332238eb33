#pragma once

#include <poll.h>

#include <algorithm>
#include <vector>

#include "tally/redis_client/connection.hpp"

namespace tally::cli {

/// What poll has reported for the connection: 0 if it was not asked.
inline short events_of(const redis_client::Connection& connection, const std::vector<pollfd>& polled) {
  const auto found = std::ranges::find(polled, connection.polled().fd, &pollfd::fd);
  return found == polled.end() ? short{0} : found->revents;
}

}  // namespace tally::cli
