#pragma once

#include <exception>

namespace tally::cli {

/// What work() throws, if anything.
template <class Work>
std::exception_ptr caught(Work work) {
  try {
    work();
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace tally::cli
