#include "input/block_reader.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "cli/signals.hpp"
#include "input/input_is_output.hpp"

namespace tally::cli {
namespace {

constexpr std::size_t max_line_bytes = std::size_t{1} << 30;

/// Just past the last separator; 0 if there is none.
std::size_t end_of_lines(std::span<const char> bytes, char separator) {
  const void* const last = bytes.empty() ? nullptr : ::memrchr(bytes.data(), separator, bytes.size());
  return last == nullptr ? 0 : static_cast<std::size_t>(static_cast<const char*>(last) - bytes.data()) + 1;
}

/// At least that size and somewhat more, so that the rest of a line seldom makes the buffer grow again.
void make_room(std::vector<char>& buffer, std::size_t num_bytes) {
  if (buffer.size() < num_bytes) buffer.resize(num_bytes + num_bytes / 8);
}

}  // namespace

BlockReader::BlockReader(const std::vector<std::string>& files, char separator, Decompress decompress)
    : files_(files.empty() ? std::vector<std::string>{"-"} : files),
      total_bytes_(total_size_of(files_)),
      separator_(separator),
      decompress_(decompress) {
  refuse_input_as_standard_output(files_);
}

std::span<const char> BlockReader::next(std::vector<char>& buffer) {
  std::size_t end = begun_line_.size();
  make_room(buffer, end + block_bytes);
  std::copy(begun_line_.begin(), begun_line_.end(), buffer.begin());
  begun_line_.clear();
  while (true) {
    if (source_ == nullptr) {
      if (next_file_ == files_.size()) return {};
      source_ = ByteSource::open(files_[next_file_++], decompress_);
    }
    if (end > max_line_bytes) throw std::runtime_error("a line is longer than 1 GiB; is -z missing?");
    make_room(buffer, end + block_bytes);
    const std::size_t count = source_->read(std::span(buffer).subspan(end, block_bytes));
    if (count > 0) {
      const std::size_t num_whole = end_of_lines({buffer.data() + end, count}, separator_);
      const std::size_t end_of_block = end + num_whole;
      end += count;
      if (num_whole == 0) continue;
      begun_line_.assign(buffer.data() + end_of_block, buffer.data() + end);
      return {buffer.data(), end_of_block};
    }
    if (stop_requested()) return {};  // an incomplete line is not a key
    finished_bytes_ += source_->file_bytes_read();
    source_.reset();
    if (end > 0) return {buffer.data(), end};  // a last line without a separator
  }
}

}  // namespace tally::cli
