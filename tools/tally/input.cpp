#include "input.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "find_bytes.hpp"
#include "signals.hpp"

namespace tally::cli {
namespace {

constexpr std::size_t first_buffer_bytes = std::size_t{64} << 10;
constexpr std::size_t max_line_bytes = std::size_t{1} << 30;

std::optional<std::uint64_t> size_of_all(const std::vector<std::string>& files) {
  std::uint64_t sum = 0;
  for (const std::string& file : files) {
    const std::optional<std::uint64_t> size = file_size_of(file);
    if (!size) return std::nullopt;
    sum += *size;
  }
  return sum;
}

}  // namespace

void add_input_options(CLI::App& app, InputOptions& options) {
  app.add_option("files", options.files,
                 "read keys from these files, one a line ('-' or none: standard input); .gz and .zst too")
      ->type_name("FILE")
      ->group("Input");
  add_field_options(app, options);
}

void add_field_options(CLI::App& app, InputOptions& options) {
  app.add_flag("-z,--null", options.nul_separated,
               "keys end in a NUL byte instead of a newline, also when printed")
      ->group("Input");
  app.add_option("-d,--delimiter", options.delimiter, "the byte between fields (default: a tab)")
      ->type_name("BYTE")
      ->group("Input");
  app.add_option("-f,--fields", options.fields,
                 "the key is these fields of a line, as with cut: 2 or 1,3 or 4-")
      ->type_name("LIST")
      ->group("Input");
}

KeyReader::KeyReader(const InputOptions& options, bool keep_lines)
    : files_(options.files.empty() ? std::vector<std::string>{"-"} : options.files),
      total_bytes_(size_of_all(files_)),
      separator_(options.nul_separated ? '\0' : '\n'),
      fields_(options.delimiter, options.fields),
      buffer_(first_buffer_bytes),
      keep_lines_(keep_lines) {}

std::span<const std::string_view> KeyReader::next() {
  num_keys_ = 0;
  fields_.forget_joined();
  while (true) {
    take_lines();
    // Filling moves the bytes, so the keys found so far go out first.
    if (num_keys_ > 0) return {keys_.data(), num_keys_};
    if (fill()) continue;
    if (stop_requested()) return {};  // the part of a line that was read is not a key
    if (begin_ < end_) {              // a last line without a separator
      take_line(end_);
      scanned_ = begin_ = end_;
      return {keys_.data(), num_keys_};
    }
    if (next_file_ == files_.size()) return {};
  }
}

void KeyReader::take_lines() {
  const std::span<const char> bytes(buffer_.data() + scanned_, end_ - scanned_);
  const FoundBytes found = find_bytes(bytes, separator_, separators_);
  const std::size_t base = scanned_;
  scanned_ += found.num_scanned;
  for (std::size_t i = 0; i < found.num_found; ++i) {
    const std::size_t separator = base + separators_[i];
    take_line(separator);
    begin_ = separator + 1;
  }
}

void KeyReader::take_line(std::size_t end) {
  const std::string_view line(buffer_.data() + begin_, end - begin_);
  if (keep_lines_) lines_[num_keys_] = line;
  keys_[num_keys_++] = fields_.select(line);
}

/// Reads more bytes of the file that is open, or of the next one; false at the end of a file.
bool KeyReader::fill() {
  if (source_ == nullptr) {
    if (next_file_ == files_.size()) return false;
    source_ = ByteSource::open(files_[next_file_++]);
  }
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    scanned_ -= begin_;
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == buffer_.size()) {
    if (buffer_.size() >= max_line_bytes)
      throw std::runtime_error("a line is longer than 1 GiB; is -z missing?");
    buffer_.resize(2 * buffer_.size());
  }
  const std::size_t count = source_->read(std::span(buffer_).subspan(end_));
  end_ += count;
  if (count > 0) return true;
  finished_bytes_ += source_->file_bytes_read();
  source_.reset();
  return false;
}

}  // namespace tally::cli
