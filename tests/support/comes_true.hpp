#pragma once

#include <chrono>
#include <thread>

namespace tally::test {

/// Whether `condition()` comes true within the time; it is tried every few milliseconds.
template <class Condition>
bool comes_true(Condition condition, std::chrono::milliseconds within = std::chrono::seconds(30)) {
  const auto end = std::chrono::steady_clock::now() + within;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

}  // namespace tally::test
