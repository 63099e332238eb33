#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>

#include "serialization/parts.hpp"
#include "tally/detail/compact/finder.hpp"
#include "tally/detail/compact/kernels.hpp"
#include "tally/detail/compact/line_cells.hpp"

namespace tally::detail {
namespace {

using LineBytes = std::array<unsigned char, compact_line_bytes>;

/// For each number of cells, the bits that its line can have set.
class LineMasks {
 public:
  explicit LineMasks(const CompactLayout& layout) noexcept : layout_(layout) {
    for (std::uint32_t q = 0; q < layout.num_mini_buckets; ++q) set_bit(occupied_, layout.occupied_bit(q));
    used_[0] = occupied_;
    for (std::uint32_t cell = 0; cell < layout.num_cells; ++cell) {
      LineWords& used = used_[cell + 1] = used_[cell];
      used[cell / 8] |= std::uint64_t{0xff} << 8 * (cell % 8);
      for (std::uint32_t plane = 0; plane < layout.num_planes; ++plane)
        set_bit(used, layout.first_plane + plane * layout.num_cells + cell);
      set_bit(used, layout.first_start + cell);
      set_bit(starts_, layout.first_start + cell);
    }
  }

  /// Whether there is a line of cells that is written so: what is beyond its cells is 0, and there are as many runs as
  /// mini-buckets with cells.
  bool can_be_written(const LineBytes& bytes) const noexcept {
    const auto words = std::bit_cast<LineWords>(bytes);
    const LineWords& used = used_[CompactLineCells::size_of(layout_, bytes.data())];
    std::uint64_t other = 0;
    int num_runs = 0;
    int num_mini_buckets = 0;
    for (std::size_t i = 0; i < words.size(); ++i) {
      other |= words[i] & ~used[i];
      num_runs += std::popcount(words[i] & starts_[i]);
      num_mini_buckets += std::popcount(words[i] & occupied_[i]);
    }
    return other == 0 && num_runs == num_mini_buckets;
  }

 private:
  using LineWords = std::array<std::uint64_t, compact_line_bytes / 8>;

  static void set_bit(LineWords& words, std::uint32_t bit) noexcept {
    words[bit / 64] |= std::uint64_t{1} << bit % 64;
  }

  CompactLayout layout_;
  std::array<LineWords, max_compact_cells + 1> used_{};
  LineWords starts_{};
  LineWords occupied_{};
};

/// The lines in a file's bytes, at any alignment.
class Lines {
 public:
  Lines(const CompactDLeftShape& shape, std::uint64_t seed, FileBytes body)
      : shape_(shape),
        body_(body),
        layout_(shape.remainder_bits),
        masks_(layout_),
        finder_(shape.num_lines_per_subtable, shape.remainder_bits, seed) {}

  void check(std::uint64_t num_bytes, CheckedUnits& checked) const noexcept {
    const std::uint64_t end = std::min(shape_.num_lines(), num_bytes / compact_line_bytes);
    for (; checked.num_good < end; ++checked.num_good) {
      const Line line = read(checked.num_good);
      if (line.fault != Fault::none) return;
      checked.num_fingerprints += line.num_fingerprints;
    }
  }

  void require_all(const CheckedUnits& checked, std::uint64_t num_fingerprints) const {
    if (checked.num_good != shape_.num_lines()) {
      refuse(checked.num_good,
             read(checked.num_good).fault == Fault::bits
                 ? "holds bits that no filter writes"
                 : "holds a fingerprint more than " + std::to_string(max_compact_copies) + " times");
    }
    if (checked.num_fingerprints == num_fingerprints) return;
    throw FormatError("the number of fingerprints is " + std::to_string(checked.num_fingerprints) +
                          "; must be " + std::to_string(num_fingerprints) + ", the header's num_fingerprints",
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
  enum class Fault : std::uint8_t { none, bits, copies };
  struct Line {
    Fault fault;
    std::uint64_t num_fingerprints;
  };

  Line read(std::uint64_t line) const noexcept {
    const LineBytes bytes = bytes_of(line);
    if (!masks_.can_be_written(bytes)) return {Fault::bits, 0};
    Line found{Fault::none, 0};
    CompactLineCells::any_fingerprint(layout_, bytes.data(),
                                      [&](const CompactLineCells::Cell&, std::uint32_t count) {
                                        ++found.num_fingerprints;
                                        if (count > max_compact_copies) found.fault = Fault::copies;
                                        return false;
                                      });
    return found;
  }

  LineBytes bytes_of(std::uint64_t line) const noexcept {
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
  LineMasks masks_;
  CompactFinder finder_;
};

}  // namespace

void check_compact_part(const FileHeader& header, const CompactDLeftShape& shape, const BodyBytes& body,
                        std::uint64_t num_bytes, CheckedUnits& checked,
                        CheckedSideTable& side_table) noexcept {
  const Lines lines(shape, header.seed_or_key_id, body.main);
  if (num_bytes <= body.main.size()) return lines.check(num_bytes, checked);
  lines.check(body.main.size(), checked);
  check_side_table(
      body, num_bytes - body.main.size(), shape.spill_capacity,
      [&](std::uint64_t fingerprint) { return lines.has_all_copies(fingerprint); }, side_table);
}

void check_compact_rest(const FileHeader& header, const CompactDLeftShape& shape, const BodyBytes& body,
                        const CheckedUnits& checked, const CheckedSideTable& side_table) {
  const Lines lines(shape, header.seed_or_key_id, body.main);
  lines.require_all(checked, header.totals.num_fingerprints);
  check_rest_of_side_table(
      body, shape.spill_capacity,
      [&](std::uint64_t fingerprint) { return lines.has_all_copies(fingerprint); }, side_table);
}

}  // namespace tally::detail
