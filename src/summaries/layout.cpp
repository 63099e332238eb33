#include "tally/summaries/layout.hpp"

#include "tally/detail/parameter_error.hpp"
#include "tally/hashing/scheme_list.hpp"
#include "tally/storage/bit_array.hpp"
#include "tally/storage/cell_table.hpp"

namespace tally {

std::uint64_t SummaryLayout::num_units() const noexcept {
  if (const auto* const dleft = std::get_if<DLeftShape>(&shape)) return dleft->num_cells();
  return std::get<BloomShape>(shape).num_bits;
}

std::uint32_t SummaryLayout::unit_bits() const noexcept {
  const auto* const dleft = std::get_if<DLeftShape>(&shape);
  return dleft != nullptr ? dleft->cell_bits() : 1;
}

std::uint32_t SummaryLayout::num_hashes() const noexcept {
  if (const auto* const dleft = std::get_if<DLeftShape>(&shape)) return dleft->num_subtables;
  return std::get<BloomShape>(shape).num_hashes;
}

std::uint64_t SummaryLayout::num_words() const noexcept {
  if (!has_cells()) return BitArray::num_words(num_units());
  return CellTable::num_words(num_units(), unit_bits()) - 1;  // without the word that only reads need
}

std::string_view SummaryLayout::scheme_name() const {
  return has_cells() ? bucket_scheme_name(scheme_id) : tally::scheme_name(scheme_id);
}

SummaryLayout layout_of(const BloomShape& shape, std::uint16_t scheme_id, const KeyHasher& hasher) {
  return {shape, scheme_id, hasher.id(), hasher.seed_or_key_id()};
}

SummaryLayout layout_of(const BlockedBloomShape& shape, std::uint16_t scheme_id, const KeyHasher& hasher) {
  return layout_of(BloomShape{shape.num_bits, shape.num_hashes}, scheme_id, hasher);
}

SummaryLayout layout_of(const CountingBloomShape& shape, std::uint16_t scheme_id, const KeyHasher& hasher) {
  return layout_of(BloomShape{shape.num_counters, shape.num_hashes}, scheme_id, hasher);
}

SummaryLayout layout_of(const DLeftShape& shape, std::uint16_t scheme_id, const KeyHasher& hasher) {
  DLeftShape cells = shape;
  cells.spill_capacity = 0;
  cells.moves = DLeftMoves::none;
  cells.grows = false;
  return {cells, scheme_id, hasher.id(), hasher.seed_or_key_id()};
}

void check_layout(const SummaryLayout& layout) {
  bool is_known = false;
  if (const auto* const dleft = std::get_if<DLeftShape>(&layout.shape)) {
    check_shape(*dleft);
    is_known = BucketSchemes::with_id(
        layout.scheme_id, [&]<class Scheme>(std::type_identity<Scheme>) { check_shape<Scheme>(*dleft); });
  } else {
    const BloomShape& bloom = std::get<BloomShape>(layout.shape);
    is_known = AllSchemes::with_id(layout.scheme_id, [&]<class Scheme>(std::type_identity<Scheme>) {
      check_position_space<Scheme>("SummaryLayout", "num_bits", position_space(bloom));
    });
  }
  if (!is_known) (void)layout.scheme_name();  // throws, and lists the ids
}

}  // namespace tally
