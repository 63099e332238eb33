#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "serialization/parts.hpp"
#include "tally/detail/compact/finder.hpp"
#include "tally/detail/compact/kernels.hpp"
#include "tally/detail/compact/line_cells.hpp"

namespace tally::detail {
namespace {

using LineBytes = std::array<unsigned char, compact_line_bytes>;

/// The lines in a file's bytes, at any alignment.
class Lines {
 public:
  Lines(const CompactDLeftShape& shape, std::uint64_t seed, FileBytes body)
      : shape_(shape),
        body_(body),
        layout_(shape.remainder_bits),
        finder_(shape.num_lines_per_subtable, shape.remainder_bits, seed) {}

  void check(std::uint64_t num_fingerprints) const {
    std::uint64_t found = 0;
    for (std::uint64_t line = 0; line < shape_.num_lines(); ++line) {
      const LineBytes bytes = bytes_of(line);
      const CompactLineCells cells(layout_, bytes.data());
      LineBytes as_written;
      cells.write(as_written.data());
      if (as_written != bytes) refuse(line, "holds bits that no filter writes");
      const auto is_too_often = [&](const CompactLineCells::Cell&, std::uint32_t count) {
        ++found;
        return count > max_compact_copies;
      };
      if (CompactLineCells::any_fingerprint(layout_, bytes.data(), is_too_often))
        refuse(line, "holds a fingerprint more than " + std::to_string(max_compact_copies) + " times");
    }
    if (found == num_fingerprints) return;
    throw FormatError("the number of fingerprints is " + std::to_string(found) + "; must be " +
                          std::to_string(num_fingerprints) + ", the header's num_fingerprints",
                      file_header_bytes);
  }

  /// Whether one of its lines holds the fingerprint as often as a line can: only then can the side table have more.
  bool has_all_copies(std::uint64_t fingerprint) const {
    const std::uint32_t bits = CompactLayout::in_line_bits(shape_.remainder_bits);
    const std::uint64_t left = fingerprint >> bits;
    const auto mini_bucket =
        static_cast<std::uint32_t>((fingerprint & ((std::uint64_t{1} << bits) - 1)) >> shape_.remainder_bits);
    if (left >= shape_.num_lines_per_subtable || mini_bucket >= layout_.num_mini_buckets) return false;
    const auto remainder =
        static_cast<std::uint32_t>(fingerprint & ((std::uint64_t{1} << shape_.remainder_bits) - 1));
    for (const std::uint64_t line : {left, finder_.right_line_of(fingerprint)}) {
      const LineBytes bytes = bytes_of(line);
      if (CompactLineCells(layout_, bytes.data()).count({mini_bucket, remainder}) == max_compact_copies)
        return true;
    }
    return false;
  }

 private:
  LineBytes bytes_of(std::uint64_t line) const {
    LineBytes bytes;
    std::memcpy(bytes.data(), body_.data() + compact_line_bytes * line, bytes.size());
    return bytes;
  }
  [[noreturn]] static void refuse(std::uint64_t line, const std::string& reason) {
    throw FormatError("line " + std::to_string(line) + " " + reason,
                      file_header_bytes + compact_line_bytes * line);
  }

  const CompactDLeftShape& shape_;
  FileBytes body_;
  CompactLayout layout_;
  CompactFinder finder_;
};

}  // namespace

void check_compact_body(const FileHeader& header, const CompactDLeftShape& shape, const BodyBytes& body) {
  const Lines lines(shape, header.seed_or_key_id, body.main);
  lines.check(header.totals.num_fingerprints);
  check_side_table(body, shape.spill_capacity,
                   [&](std::uint64_t fingerprint) { return lines.has_all_copies(fingerprint); });
}

}  // namespace tally::detail
