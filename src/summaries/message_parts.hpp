#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "summaries/bit_coder.hpp"
#include "tally/summaries/message.hpp"

// How messages code their units, for the code that writes, checks and applies them.

namespace tally::detail {

/// A cell in a message: its count in unary, 0 for an empty one, and then its remainder. Nothing for a bit.
struct UnitCode {
  explicit UnitCode(const SummaryLayout& layout) noexcept {
    const auto* const dleft = std::get_if<DLeftShape>(&layout.shape);
    if (dleft == nullptr) return;
    has_cells = true;
    counter_at = dleft->remainder_bits;
    max_count = std::uint64_t{1} << dleft->counter_bits;
    remainder_bits = dleft->current_remainder_bits();
    low_mask = (std::uint64_t{1} << dleft->least_remainder_bits) - 1;
  }

  std::uint64_t count_of(std::uint32_t cell) const noexcept {
    return cell == 0 ? 0 : (std::uint64_t{cell} >> counter_at) + 1;
  }
  std::uint64_t remainder_of(std::uint32_t cell) const noexcept {
    return cell & ((std::uint64_t{1} << counter_at) - 1);
  }
  /// Whether a filter can have written it: see FingerprintSpace.
  bool is_cell(std::uint32_t cell) const noexcept {
    const std::uint64_t remainder = remainder_of(cell);
    return cell == 0 || ((remainder & low_mask) != 0 && remainder >> remainder_bits == 0);
  }

  bool has_cells = false;
  std::uint32_t counter_at = 0;
  std::uint64_t max_count = 0;
  std::uint32_t remainder_bits = 0;
  std::uint64_t low_mask = 0;
};

inline std::uint32_t cell_at(std::span<const std::byte> words, std::uint64_t index,
                             std::uint32_t cell_bits) noexcept {
  const std::uint64_t bit = index * cell_bits;
  std::uint64_t value = 0;
  std::memcpy(&value, words.data() + bit / 8, std::min<std::uint64_t>(5, words.size() - bit / 8));
  return static_cast<std::uint32_t>(value >> bit % 8 & (~std::uint64_t{0} >> (64 - cell_bits)));
}

/// What is wrong with a payload; `byte` is an offset from its start.
struct PayloadFault {
  std::string_view reason;
  std::uint64_t byte = 0;
};

/// Calls visit(unit, value) for every unit in the message, in ascending order: in a full copy those that are
/// not 0, in a delta those that changed. For bits the value is 1: set, or flipped. Stops at the first fault
/// and returns it.
template <class Visit>
std::optional<PayloadFault> read_changes(const SummaryMessage& message, Visit visit) {
  const UnitCode code(message.layout);
  const std::uint64_t num_units = message.layout.num_units();
  BitReader reader(message.payload);
  std::uint64_t next = 0;
  for (std::uint64_t i = 0; i < message.num_changes; ++i) {
    const std::uint64_t quotient = reader.get_unary();
    const std::uint64_t rest = reader.get(message.rice_bits);
    if (reader.overrun()) return PayloadFault{"it ends within a change", message.payload.size()};
    if (quotient > num_units >> message.rice_bits)
      return PayloadFault{"a unit after the last one", reader.byte()};
    const std::uint64_t distance = quotient << message.rice_bits | rest;
    if (distance >= num_units - next) return PayloadFault{"a unit after the last one", reader.byte()};
    const std::uint64_t unit = next + distance;
    next = unit + 1;
    std::uint32_t value = 1;
    if (code.has_cells) {
      const std::uint64_t count = reader.get_unary();
      const std::uint64_t remainder = count == 0 ? 0 : reader.get(code.remainder_bits);
      if (reader.overrun()) return PayloadFault{"it ends within a cell", message.payload.size()};
      if (count > code.max_count) return PayloadFault{"an impossible count", reader.byte()};
      value = count == 0 ? 0 : static_cast<std::uint32_t>((count - 1) << code.counter_at | remainder);
      const bool may_be_empty = message.kind == SummaryMessageKind::delta;
      if (count == 0 ? !may_be_empty : value == 0 || !code.is_cell(value)) {
        return PayloadFault{"a cell that no filter can have written", reader.byte()};
      }
    }
    visit(unit, value);
  }
  if (!reader.at_end()) return PayloadFault{"data after the last change", reader.byte()};
  return std::nullopt;
}

/// The same for a full copy that is coded as words.
template <class Visit>
std::optional<PayloadFault> read_words(const SummaryMessage& message, Visit visit) {
  const UnitCode code(message.layout);
  const std::uint64_t num_units = message.layout.num_units();
  const std::uint32_t unit_bits = message.layout.unit_bits();
  const std::uint64_t num_bits = num_units * unit_bits;
  std::uint64_t num_found = 0;
  for (std::uint64_t at = 0; at < message.payload.size(); at += 8) {
    std::uint64_t word = load_little_endian<std::uint64_t>(message.payload.data() + at);
    const std::uint64_t first = 8 * at;
    if (num_bits - first < 64 && word >> (num_bits - first) != 0) {
      return PayloadFault{"a bit after the last unit is set", at};
    }
    if (code.has_cells) continue;
    num_found += static_cast<std::uint64_t>(std::popcount(word));
    for (; word != 0; word &= word - 1) visit(first + static_cast<std::uint64_t>(std::countr_zero(word)), 1u);
  }
  for (std::uint64_t unit = 0; code.has_cells && unit < num_units; ++unit) {
    const std::uint32_t cell = cell_at(message.payload, unit, unit_bits);
    if (!code.is_cell(cell))
      return PayloadFault{"a cell that no filter can have written", unit * unit_bits / 8};
    if (cell == 0) continue;
    ++num_found;
    visit(unit, cell);
  }
  if (num_found != message.num_changes) return PayloadFault{"the number of units differs from the header", 0};
  return std::nullopt;
}

template <class Visit>
std::optional<PayloadFault> read_units(const SummaryMessage& message, Visit visit) {
  if (message.coding == SummaryCoding::words) return read_words(message, visit);
  if (message.coding == SummaryCoding::changes) return read_changes(message, visit);
  return std::nullopt;
}

}  // namespace tally::detail
