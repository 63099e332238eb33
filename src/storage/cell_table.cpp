#include "tally/storage/cell_table.hpp"

#include <string>
#include <utility>

#include "tally/detail/checked_math.hpp"
#include "tally/detail/parameter_error.hpp"

namespace tally {
namespace {

constexpr std::uint32_t line_bytes = 64;

std::uint64_t checked_num_words(std::uint64_t num_buckets, std::uint32_t cells_per_bucket,
                                std::uint32_t cell_bits) {
  constexpr const char* where = "CellTable";
  if (!CellTable::is_width(cell_bits)) {
    detail::throw_parameter_error(where, "cell_bits", cell_bits, "8, 12, 16, 24 or 32");
  }
  detail::require_in_range(where, "cells_per_bucket", cells_per_bucket, 1, CellTable::max_cells_per_bucket);
  const std::uint64_t num_cells = detail::checked_mul(num_buckets, cells_per_bucket, "CellTable: cells");
  (void)detail::checked_mul(num_cells, cell_bits, "CellTable: bits");
  return CellTable::num_words(num_cells, cell_bits);
}

/// Takes bit i * cell_bits to bit 64 - n + i, for each of the n = 64 / cell_bits cells i of a word. No other bit gets there,
/// as n is at most cell_bits.
std::uint64_t gathering_of(std::uint32_t cell_bits) {
  std::uint64_t factor = 0;
  for (std::uint32_t i = 0; i < 64 / cell_bits; ++i) {
    factor |= std::uint64_t{1} << (64 - 64 / cell_bits - i * (cell_bits - 1));
  }
  return factor;
}

}  // namespace

CellTable::CellTable(std::uint64_t num_buckets, std::uint32_t cells_per_bucket, std::uint32_t cell_bits)
    : CellTable(num_buckets, cells_per_bucket, cell_bits,
                detail::AlignedWords(checked_num_words(num_buckets, cells_per_bucket, cell_bits))) {}

CellTable::CellTable(std::uint64_t num_buckets, std::uint32_t cells_per_bucket, std::uint32_t cell_bits,
                     detail::AlignedWords words)
    : words_(std::move(words)),
      num_buckets_(num_buckets),
      mask_((std::uint64_t{1} << cell_bits) - 1),
      cells_per_bucket_(cells_per_bucket),
      cell_bits_(cell_bits),
      bucket_bytes_((cells_per_bucket * cell_bits + 7) / 8),
      lowest_bits_(64 % cell_bits == 0 && cells_per_bucket * cell_bits % 64 == 0 ? ~std::uint64_t{0} / mask_
                                                                                 : 0),
      gathering_(gathering_of(cell_bits)),
      may_straddle_(line_bytes * 8 % (cells_per_bucket * cell_bits) != 0) {
  const std::uint64_t num_words = checked_num_words(num_buckets, cells_per_bucket, cell_bits);
  if (words_.size() != num_words) {
    detail::throw_parameter_error("CellTable", "number of words", words_.size(), std::to_string(num_words));
  }
}

CellTable split_buckets(const CellTable& cells, std::uint32_t bit) {
  CellTable larger(2 * cells.num_buckets(), cells.cells_per_bucket(), cells.cell_bits());
  for (std::uint64_t bucket = 0; bucket < cells.num_buckets(); ++bucket) {
    std::uint32_t loads[2] = {0, 0};
    for (std::uint32_t index = 0; index < cells.cells_per_bucket(); ++index) {
      const std::uint32_t cell = cells.get(bucket, index);
      if (cell == 0) continue;
      const bool upper = (cell & bit) != 0;
      larger.set(2 * bucket + upper, loads[upper]++, cell & ~bit);
    }
  }
  return larger;
}

}  // namespace tally
