#pragma once

#include <string>

namespace tally::cli {

/// While such an object exists, a bus error (SIGBUS) ends the command with a message that names the file and
/// with status 2, instead of the signal. Either a mapped file was shortened, or its disk failed. Results that
/// are still buffered are then not written. Only one at a time.
class BusErrorMessage {
 public:
  explicit BusErrorMessage(const std::string& path);
  ~BusErrorMessage();
  BusErrorMessage(const BusErrorMessage&) = delete;
  BusErrorMessage& operator=(const BusErrorMessage&) = delete;
};

}  // namespace tally::cli
