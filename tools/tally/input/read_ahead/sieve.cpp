#include "input/read_ahead/sieve.hpp"

#include "input/key_loop.hpp"

namespace tally::cli {

void sieve(const WorkForTwo& work, Piece& piece, std::size_t begin) {
  if (!work.find_absent) return;
  Batch<std::uint32_t> absent;
  std::size_t num_kept = begin;
  for (; begin < piece.digests.size() && !piece.error_after; begin += absent.size()) {
    const std::size_t size = std::min(absent.size(), piece.digests.size() - begin);
    std::size_t count = 0;
    piece.error_after = caught([&] { count = work.find_absent({&piece.digests[begin], size}, absent); });
    if (num_kept == begin && count == size) {
      num_kept += size;
      continue;
    }
    for (std::size_t i = 0; i < count; ++i, ++num_kept) {
      piece.texts[num_kept] = piece.texts[begin + absent[i]];
      piece.digests[num_kept] = piece.digests[begin + absent[i]];
    }
  }
  piece.num_others += piece.texts.size() - num_kept;
  piece.texts.resize(num_kept);
  piece.digests.resize(num_kept);
}

}  // namespace tally::cli
