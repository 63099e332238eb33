#include "input/read_ahead/pieces.hpp"

#include "input/block_reader.hpp"

namespace tally::cli {

Piece::Piece(const InputOptions& input) : fields(input.fields) {
  constexpr std::size_t num_short_keys = BlockReader::block_bytes / 16;
  texts.reserve(num_short_keys);
  digests.reserve(num_short_keys);
}

Pieces::Pieces(const InputOptions& input, std::uint32_t num_threads) {
  constexpr std::size_t pieces_per_thread = 3;
  for (std::size_t i = 0; i < pieces_per_thread * num_threads; ++i) pieces_.emplace_back(input);
}

}  // namespace tally::cli
