#include "kmers/sequence_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "cli/signals.hpp"
#include "tally/hashing/kmer_scanner.hpp"

namespace tally::cli {
namespace {

constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();
constexpr std::size_t longest_name_shown = 60;

bool is_white(char byte) { return static_cast<unsigned char>(byte) <= ' '; }
bool begins_record(char byte) { return byte == '>' || byte == '@'; }

/// Writes what base_of_byte gives for every byte, for text without white space. Returns false, and the output
/// is then invalid, if there is some. Compilers turn this into a few instructions per 16 bytes.
bool write_bases_without_white(const char* from, std::size_t size, char* to) {
  std::uint8_t least = 0xff;
  for (std::size_t i = 0; i < size; ++i) {
    const auto byte = static_cast<std::uint8_t>(from[i]);
    const auto upper = static_cast<std::uint8_t>(byte & 0xdf);
    // Not compared with ==, which g++ turns into a test of bits that it cannot do for 16 bytes.
    const auto distance_to = [upper](char base) { return static_cast<std::uint8_t>(upper ^ base); };
    const std::uint8_t distance =
        std::min(std::min(distance_to('A'), distance_to('C')), std::min(distance_to('G'), distance_to('T')));
    to[i] = distance == 0 ? static_cast<char>(upper) : '\n';
    least = std::min(least, byte);
  }
  return least > ' ';
}

/// Returns the end of the written bases.
char* write_bases(const char* from, std::size_t size, char* to) {
  if (size > 0 && from[size - 1] == '\r') --size;
  if (write_bases_without_white(from, size, to)) return to + size;
  for (std::size_t i = 0; i < size; ++i) {
    const char base = base_of_byte[static_cast<unsigned char>(from[i])];
    *to = base;
    to += base != '\0';
  }
  return to;
}

}  // namespace

bool SequenceFile::read(std::string& bases, std::size_t size) {
  const std::size_t old_size = bases.size();
  bases.resize(size);
  char* out = bases.data() + old_size;
  const char* const out_end = bases.data() + size;
  bool has_ended = false;
  while (out < out_end && !has_ended) {
    if (begin_ < end_) {
      step(out, out_end);
      continue;
    }
    begin_ = 0;
    end_ = source_->read(buffer_);
    has_ended = end_ == 0;
    if (has_ended && !stop_requested()) end_file();
  }
  bases.resize(static_cast<std::size_t>(out - bases.data()));
  return !has_ended;
}

/// Consumes at least one byte of the buffer.
void SequenceFile::step(char*& out, const char* out_end) {
  switch (place_) {
    case Place::between_records:
      if (const char next = buffer_[begin_]; begins_record(next)) {
        begin_record(out);
      } else if (is_white(next)) {
        take_part(1);
      } else {
        fail_between_records();
      }
      return;
    case Place::header:
      take_header();
      return;
    case Place::line_of_sequence:
      if (const char next = buffer_[begin_]; begins_record(next)) {
        end_record(false);
        begin_record(out);
      } else if (next == '+') {
        needs_quality_ = true;
        place_ = Place::plus_line;
      } else {
        take_sequence(out, out_end);
      }
      return;
    case Place::sequence:
      take_sequence(out, out_end);
      return;
    case Place::plus_line:
      if (take_part(no_limit).ends_line) place_ = Place::quality;
      return;
    case Place::quality:
      take_quality();
      return;
  }
}

/// Up to the end of the line, the end of the buffer, or `most` bytes.
SequenceFile::Part SequenceFile::take_part(std::size_t most) {
  const char* const begin = buffer_.data() + begin_;
  std::size_t size = std::min(end_ - begin_, most);
  const void* const newline = std::memchr(begin, '\n', size);
  const bool ends_line = newline != nullptr;
  if (ends_line) size = static_cast<std::size_t>(static_cast<const char*>(newline) - begin);
  begin_ += size + ends_line;
  num_lines_ += ends_line;
  return {begin, size, ends_line};
}

void SequenceFile::begin_record(char*& out) {
  const bool is_fastq = buffer_[begin_++] == '@';
  if (num_sequences_++ == 0) begins_as_fastq_ = is_fastq;
  needs_quality_ = is_fastq || begins_as_fastq_;
  sequence_length_ = quality_length_ = 0;
  record_line_ = num_lines_ + 1;
  record_name_.clear();
  has_whole_name_ = false;
  place_ = Place::header;
  *out++ = '\n';
}

void SequenceFile::take_header() {
  const Part part = take_part(no_limit);
  for (std::size_t i = 0; i < part.size && !has_whole_name_; ++i) {
    has_whole_name_ = is_white(part.begin[i]) || record_name_.size() == longest_name_shown;
    if (!has_whole_name_) record_name_ += part.begin[i];
  }
  if (part.ends_line) place_ = Place::line_of_sequence;
}

void SequenceFile::take_sequence(char*& out, const char* out_end) {
  const Part part = take_part(static_cast<std::size_t>(out_end - out));
  add_length(part, sequence_length_);
  char* const to = write_bases(part.begin, part.size, out);
  num_bases_ += static_cast<std::uint64_t>(to - out);
  out = to;
  place_ = part.ends_line ? Place::line_of_sequence : Place::sequence;
}

void SequenceFile::take_quality() {
  const Part part = take_part(no_limit);
  add_length(part, quality_length_);
  if (part.ends_line && quality_length_ >= sequence_length_) end_record(true);
}

/// The CR of a CRLF does not count.
void SequenceFile::add_length(const Part& part, std::uint64_t& length) {
  length += part.size;
  if (part.size > 0) ends_in_cr_ = part.begin[part.size - 1] == '\r';
  if (part.ends_line) end_line(length);
}

void SequenceFile::end_line(std::uint64_t& length) {
  length -= ends_in_cr_;
  ends_in_cr_ = false;
}

void SequenceFile::end_file() {
  if (place_ == Place::between_records) return;
  const bool has_quality = place_ == Place::quality;
  end_line(has_quality ? quality_length_ : sequence_length_);
  end_record(has_quality);
}

void SequenceFile::end_record(bool has_quality) {
  place_ = Place::between_records;
  if (has_quality ? quality_length_ == sequence_length_ : !needs_quality_) return;
  fail(record_line_,
       fmt::format("the quality of the record '{}' is missing, cut off, or not as long as its sequence: {} "
                   "characters for {} bases; is the file complete?",
                   record_name_, quality_length_, sequence_length_));
}

void SequenceFile::fail_between_records() const {
  if (num_sequences_ == 0) {
    fail(num_lines_ + 1, "not a FASTA or FASTQ file, compressed or not: it begins with neither '>' nor '@'");
  }
  fail(num_lines_ + 1,
       fmt::format("a record must begin with '@' or '>'; is the quality of the record '{}', in line "
                   "{}, longer than its sequence?",
                   record_name_, record_line_));
}

void SequenceFile::fail(std::uint64_t line, const std::string& what) const {
  throw std::runtime_error(fmt::format("{}, line {}: {}", name_, line, what));
}

}  // namespace tally::cli
