#include "input/read_ahead.hpp"

#include <algorithm>
#include <array>
#include <system_error>
#include <thread>

#include "input/read_ahead/sieving_thread.hpp"
#include "input/read_ahead/using_thread.hpp"

namespace tally::cli {

bool wants_two_threads(std::optional<std::uint32_t> num_threads) {
  return num_threads ? *num_threads > 1 : std::thread::hardware_concurrency() > 1;
}

bool can_read_ahead(const InputOptions& input) {
  if (input.follow) return false;
  const auto total_bytes = BlockReader(input.files, separator_of(input), decompress_of(input)).total_bytes();
  return total_bytes &&
         *total_bytes / BlockReader::block_bytes >= std::max<std::size_t>(1, input.files.size());
}

// Pieces go round. Each thread does what is its own with the next piece that is ready for it, in the order of the input;
// while there is none, it reads and hashes a further piece.
bool read_ahead(const InputOptions& input, const KeyHasher& hasher, bool quiet, const WorkForTwo& work,
                KeyTotals& totals) {
  Pieces pieces(input);
  Supply supply(input, hasher, pieces);
  std::array<std::exception_ptr, 2> failures;
  std::jthread second;
  try {
    second = std::jthread([&] {
      failures[1] = caught([&] { SievingThread(work, pieces, supply).run(); });
      pieces.second_has_ended = true;
      pieces.tell();
    });
  } catch (const std::system_error&) {
    return false;
  }
  failures[0] = caught([&] { run_using_thread(input, work, pieces, supply, quiet, totals); });
  pieces.first_has_ended = true;
  pieces.tell();
  second.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  remark_skipped(quiet, totals.num_skipped);
  return true;
}

}  // namespace tally::cli
