#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

namespace tally::test {

/// How many operations a campaign makes: the environment variable TALLY_OPERATIONS, by default 2 million.
inline std::uint64_t campaign_operations() {
  const char* text = std::getenv("TALLY_OPERATIONS");
  return text == nullptr ? 2'000'000 : std::stoull(text);
}

}  // namespace tally::test
