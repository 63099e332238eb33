#pragma once

#include <cstddef>
#include <cstdint>

#include "input/read_ahead/supply.hpp"
#include "input/read_ahead/work_for_two.hpp"

namespace tally::cli {

/// The second thread: sieves the hashed pieces in the order of the input, if they need one, so that only keys remain that are
/// absent from the set, and remembers what the first thread found. While there is nothing of that, it reads and hashes a
/// further piece.
class SievingThread {
 public:
  SievingThread(const WorkForTwo& work, Pieces& pieces, Supply& supply)
      : work_(work), pieces_(pieces), supply_(supply) {}

  /// Ends when the first thread has ended and all that it used is remembered.
  void run();

 private:
  bool read_further();
  void begin_to_sieve(Piece& piece);

  const WorkForTwo& work_;
  Pieces& pieces_;
  Supply& supply_;
  LineCutter cutter_{supply_.separator()};
  std::uint64_t next_to_sieve_ = 0;
  std::uint64_t num_remembered_ = 0;
};

}  // namespace tally::cli
