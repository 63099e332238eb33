#pragma once

#include <string>

namespace tally::cli {

/// While one lives, a bus error (SIGBUS) ends the command with a message that names the file, and status 2, in
/// place of the signal: a file that is mapped was made shorter, or its disk failed. Results that are still buffered
/// are not written then. One at a time.
class BusErrorMessage {
 public:
  explicit BusErrorMessage(const std::string& path);
  ~BusErrorMessage();
  BusErrorMessage(const BusErrorMessage&) = delete;
  BusErrorMessage& operator=(const BusErrorMessage&) = delete;
};

}  // namespace tally::cli
