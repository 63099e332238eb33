// Any bytes as FASTA or FASTQ, cut in two ways: refused both times, or the same bases both times, and those that reading
// the whole text at once gives.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "kmers/sequence_file.hpp"
#include "sequence_oracle.hpp"

namespace {

using namespace tally::cli;

void require(bool law) {
  if (!law) std::abort();
}

class CutBytes : public ByteSource {
 public:
  CutBytes(std::string_view bytes, std::size_t largest_read) : bytes_(bytes), largest_read_(largest_read) {}

  std::size_t read(std::span<char> into) override {
    const std::size_t count = std::min({into.size(), bytes_.size() - num_read_, largest_read_});
    std::copy_n(bytes_.data() + num_read_, count, into.data());
    num_read_ += count;
    return count;
  }
  std::uint64_t file_bytes_read() const noexcept override { return num_read_; }

 private:
  std::string_view bytes_;
  std::size_t largest_read_;
  std::size_t num_read_ = 0;
};

std::optional<std::string> bases_of(std::string_view text, std::size_t largest_read, std::size_t piece) {
  SequenceFile file(std::make_unique<CutBytes>(text, largest_read), "file");
  std::string bases;
  try {
    while (file.read(bases, bases.size() + piece)) {
    }
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
  return bases;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto whole = bases_of(text, size + 1, size + 1);
  const auto cut = bases_of(text, 1 + size % 7, 1 + size % 5);
  require(whole == cut);
  const auto expected = tally::test::sequences_of(text);
  require(whole.has_value() == expected.has_value());
  if (!expected) return 0;
  std::size_t num_letters = 0;
  for (const std::string& sequence : *expected) num_letters += 1 + sequence.size();
  require(whole->size() == num_letters);
  return 0;
}
