#include "input/block_reader.hpp"

#include "cli/signals.hpp"
#include "input/follow/follow_reader.hpp"
#include "input/input_is_output.hpp"

namespace tally::cli {

BlockReader::BlockReader(const std::vector<std::string>& files, char separator, Decompress decompress,
                         Follow follow)
    : files_(files.empty() ? std::vector<std::string>{"-"} : files),
      decompress_(decompress),
      lines_(separator) {
  refuse_input_as_standard_output(files_);
  if (follow == Follow::no) total_bytes_ = total_size_of(files_);
  else followed_ = std::make_unique<FollowReader>(files_, separator, decompress, follow);
}

BlockReader::~BlockReader() = default;

const std::string& BlockReader::file_name(std::size_t number) const noexcept {
  return followed_ ? followed_->file_name(number) : files_[number];
}

std::uint64_t BlockReader::bytes_read() const noexcept {
  if (followed_) return followed_->bytes_read();
  return finished_bytes_ + (source_ ? source_->file_bytes_read() : 0);
}

std::span<const char> BlockReader::next_followed(std::vector<char>& buffer) {
  const FollowedBlock block = followed_->next(buffer);
  file_number_ = block.number;
  begins_file_ = block.begins_file;
  return block.bytes;
}

std::optional<std::span<const char>> BlockReader::next(std::vector<char>& buffer, Waits waits) {
  if (followed_) return next_followed(buffer);
  begins_file_ = false;
  while (true) {
    if (source_ == nullptr) {
      if (next_file_ == files_.size()) return std::span<const char>();
      // Opening anything else may wait for its writer, and for its first bytes.
      if (waits == Waits::no && !file_size_of(files_[next_file_])) return std::nullopt;
      file_number_ = next_file_;
      source_ = ByteSource::open(files_[next_file_++], decompress_);
      begins_file_ = true;
    }
    bool is_paused = false;
    std::span<const char> block = lines_.next(buffer, [&](std::span<char> into) {
      if (waits == Waits::yes) return source_->read(into);
      const std::optional<std::size_t> count = source_->read_now(into);
      is_paused = !count;
      return count.value_or(0);
    });
    if (block.empty()) {
      if (is_paused) return std::nullopt;
      if (stop_requested()) return std::span<const char>();  // an incomplete line is not a key
      finished_bytes_ += source_->file_bytes_read();
      source_.reset();
      block = lines_.rest(buffer);
    }
    if (!block.empty()) return block;
  }
}

}  // namespace tally::cli
