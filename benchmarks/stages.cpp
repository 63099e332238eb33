// One stage of a command that reads lines, together with the stages before it, for bench_stages to time:
//
//   stages read|lines|hash|lookup [FILE]
//
// read: the blocks of the input, decompressed. lines: finds their newlines, too. hash: also makes a digest of every line.
// lookup: also reads one random line of 64 bytes of 64 MiB for every digest, prefetched in batches.

#include <fmt/core.h>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/line_reads.hpp"
#include "input/block_reader.hpp"
#include "input/line_cutter.hpp"
#include "tally/detail/aligned_words.hpp"
#include "tally/hashing/key_hasher.hpp"

namespace {

using namespace tally;

enum class Stage : std::uint8_t { read, lines, hash, lookup };

Stage stage_named(const std::string& name) {
  const std::array<std::string, 4> names{"read", "lines", "hash", "lookup"};
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return static_cast<Stage>(i);
  fmt::print(stderr, "stages: '{}' is no stage; give read, lines, hash or lookup\n", name);
  std::exit(2);
}

std::uint64_t run(Stage last, const std::vector<std::string>& files) {
  cli::BlockReader reader(files, '\n', cli::Decompress::yes);
  cli::LineCutter cutter('\n');
  const KeyHasher hasher(1);
  std::vector<char> buffer;
  std::array<Hash128, cli::LineCutter::max_lines_a_call> digests;
  const detail::AlignedWords words((std::uint64_t{64} << 20) / 8);
  std::uint64_t sum = 0;
  while (true) {
    const std::span<const char> block = reader.next(buffer);
    if (block.empty()) return sum;
    sum += static_cast<unsigned char>(block.back());
    if (last == Stage::read) continue;
    cutter.begin(block);
    while (true) {
      const std::span<const std::string_view> lines = cutter.next();
      if (lines.empty()) break;
      sum += lines.size();
      if (last == Stage::lines) continue;
      for (std::size_t i = 0; i < lines.size(); ++i) digests[i] = hasher(lines[i]);
      sum += digests[lines.size() - 1].low;
      if (last == Stage::lookup)
        sum += cli::read_lines(words.words(), std::span(digests).first(lines.size()), 1, 64);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: stages read|lines|hash|lookup [FILE]\n");
    return 2;
  }
  const Stage stage = stage_named(argv[1]);
  return run(stage, {argv + 2, argv + argc}) == 1 ? 1 : 0;  // the sum is used
}
