#include "tally/shapes/filter.hpp"

#include <limits>
#include <string>

#include "tally/detail/parameter_error.hpp"
#include "tally/hashing/scheme_list.hpp"
#include "tally/storage/bit_array.hpp"
#include "tally/storage/counter_array.hpp"

namespace tally {
namespace {

// The field that is rounded to the scheme.
std::uint64_t& size_of(BloomShape& shape) { return shape.num_bits; }
std::uint64_t& size_of(BlockedBloomShape& shape) { return shape.num_bits; }
std::uint64_t& size_of(CountingBloomShape& shape) { return shape.num_counters; }
std::uint64_t& size_of(ThresholdShape& shape) { return shape.num_counters; }
std::uint64_t& size_of(DLeftShape& shape) { return shape.buckets_per_subtable; }
std::uint64_t& size_of(CountMinShape& shape) { return shape.width; }
std::uint64_t& size_of(CompactDLeftShape& shape) { return shape.num_lines_per_subtable; }
std::uint64_t& size_of(BlockedCountingBloomShape& shape) { return shape.num_counters; }

std::uint64_t num_positions_of(const BloomShape& shape) { return shape.num_bits; }
std::uint64_t num_positions_of(const BlockedBloomShape& shape) { return shape.num_bits; }
std::uint64_t num_positions_of(const CountingBloomShape& shape) { return shape.num_counters; }
std::uint64_t num_positions_of(const ThresholdShape& shape) { return shape.num_counters; }
std::uint64_t num_positions_of(const DLeftShape& shape) { return shape.num_cells(); }
std::uint64_t num_positions_of(const CountMinShape& shape) { return shape.num_counters(); }
std::uint64_t num_positions_of(const CompactDLeftShape& shape) { return shape.num_cells(); }
std::uint64_t num_positions_of(const BlockedCountingBloomShape& shape) { return shape.num_counters; }

std::uint32_t num_hashes_of(const auto& shape) { return shape.num_hashes; }
std::uint32_t num_hashes_of(const DLeftShape& shape) { return shape.num_subtables; }
std::uint32_t num_hashes_of(const CountMinShape& shape) { return shape.num_rows(); }
std::uint32_t num_hashes_of(const CompactDLeftShape&) { return 2; }

void check_dleft(const DLeftShape& shape, std::uint16_t scheme_id) {
  check_shape(shape);
  const bool found = BucketSchemes::with_id(
      scheme_id, [&]<class Scheme>(std::type_identity<Scheme>) { check_shape<Scheme>(shape); });
  if (!found) bucket_scheme_name(scheme_id);  // throws, and lists the ids
}

FilterShape round_dleft(FilterShape shape, Rounding rounding) {
  DLeftShape& own = std::get<DLeftShape>(shape.shape);
  check_shape(own);
  BucketSchemes::with_id(shape.scheme_id, [&]<class Scheme>(std::type_identity<Scheme>) {
    own.buckets_per_subtable = Scheme::round_buckets(own.buckets_per_subtable, rounding);
  });
  check_dleft(own, shape.scheme_id);
  return shape;
}

void check_compact(const CompactDLeftShape& shape, std::uint16_t scheme_id) {
  check_shape(shape);
  if (scheme_id == RotationBuckets::file_id) return;
  detail::throw_parameter_error("CompactDLeftFilter", "scheme_id", scheme_id,
                                std::to_string(RotationBuckets::file_id) + " (rotation)");
}

void check_count_min(const CountMinShape& shape, std::uint16_t scheme_id) {
  const bool found =
      RowSchemes::with_id(scheme_id, [&]<class Rows>(std::type_identity<Rows>) { check_shape<Rows>(shape); });
  if (!found) row_scheme_name(scheme_id);  // throws, and lists the ids
}

FilterShape round_count_min(FilterShape shape, Rounding rounding) {
  CountMinShape& own = std::get<CountMinShape>(shape.shape);
  detail::require_in_range("CountMinSketch", "width", own.width, 1, max_num_positions);
  RowSchemes::with_id(shape.scheme_id, [&]<class Rows>(std::type_identity<Rows>) {
    const std::uint64_t rounded = Rows::round_width(own.width, rounding);
    if (rounded == 0) {
      detail::throw_parameter_error("CountMinSketch", "width", own.width,
                                    "greater for the row scheme '" + std::string(Rows::name) + "'");
    }
    own.width = rounded;
  });
  check_count_min(own, shape.scheme_id);
  return shape;
}

// Throws for widths of counters, thresholds and updates out of range.
void check_counters(const FilterShape& shape) {
  if (const auto* counting = std::get_if<CountingBloomShape>(&shape.shape)) check_shape(*counting);
  if (const auto* blocked = std::get_if<BlockedCountingBloomShape>(&shape.shape)) check_shape(*blocked);
  if (const auto* threshold = std::get_if<ThresholdShape>(&shape.shape)) check_shape(*threshold);
}

// Throws for fields that do not depend on the scheme; returns those that do.
PositionSpace checked_space(const FilterShape& shape) {
  check_counters(shape);
  const KindTraits& kind = traits_of(shape.kind());
  if (!uses_scheme(kind.kind, shape.scheme_id)) {
    detail::throw_parameter_error(
        kind.structure, "scheme", "'" + std::string(shape.scheme_name()) + "'",
        kind.kind == FilterKind::blocked_bloom ? "'blocked' or 'register-blocked'"
        : kind.kind == FilterKind::blocked_counting_bloom
            ? "'blocked'"
            : "a scheme of this kind: only a BlockedBloomShape has 'blocked' or 'register-blocked', "
              "and a BlockedCountingBloomShape 'blocked'");
  }
  const bool is_bits = kind.kind == FilterKind::blocked_bloom || kind.kind == FilterKind::bloom;
  return {shape.num_positions(), shape.num_hashes(),
          is_bits ? BitArray::positions_per_line : CounterArray::positions_per_line(shape.counter_bits())};
}

}  // namespace

FilterKind FilterShape::kind() const noexcept {
  if (std::holds_alternative<CountingBloomShape>(shape)) return FilterKind::counting_bloom;
  if (std::holds_alternative<ThresholdShape>(shape)) return FilterKind::threshold;
  if (std::holds_alternative<DLeftShape>(shape)) return FilterKind::dleft;
  if (std::holds_alternative<CountMinShape>(shape)) return FilterKind::count_min;
  if (std::holds_alternative<BlockedBloomShape>(shape)) return FilterKind::blocked_bloom;
  if (std::holds_alternative<CompactDLeftShape>(shape)) return FilterKind::compact_dleft;
  if (std::holds_alternative<BlockedCountingBloomShape>(shape)) return FilterKind::blocked_counting_bloom;
  return FilterKind::bloom;
}

std::string_view FilterShape::scheme_name() const {
  if (kind() == FilterKind::dleft || kind() == FilterKind::compact_dleft)
    return bucket_scheme_name(scheme_id);
  return kind() == FilterKind::count_min ? row_scheme_name(scheme_id) : tally::scheme_name(scheme_id);
}

std::uint64_t FilterShape::num_positions() const noexcept {
  return std::visit([](const auto& own) { return num_positions_of(own); }, shape);
}

std::uint32_t FilterShape::num_hashes() const noexcept {
  return std::visit([](const auto& own) { return num_hashes_of(own); }, shape);
}

std::uint32_t FilterShape::counter_bits() const noexcept {
  if (const auto* counting = std::get_if<CountingBloomShape>(&shape)) return counting->counter_bits;
  if (const auto* blocked = std::get_if<BlockedCountingBloomShape>(&shape)) return blocked->counter_bits;
  if (const auto* threshold = std::get_if<ThresholdShape>(&shape)) return counter_bits_for(*threshold);
  if (const auto* dleft = std::get_if<DLeftShape>(&shape)) return dleft->counter_bits;
  if (const auto* count_min = std::get_if<CountMinShape>(&shape)) return count_min->counter_bits;
  if (std::holds_alternative<CompactDLeftShape>(shape)) return 0;
  return 1;
}

std::optional<std::uint64_t> FilterShape::made_for_theta() const noexcept {
  if (const auto* counting = std::get_if<CountingBloomShape>(&shape)) return counting->max_threshold;
  if (const auto* blocked = std::get_if<BlockedCountingBloomShape>(&shape)) return blocked->max_threshold;
  if (const auto* threshold = std::get_if<ThresholdShape>(&shape)) return threshold->threshold;
  return std::nullopt;
}

std::uint64_t FilterShape::largest_theta() const noexcept {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  if (const auto* count_min = std::get_if<CountMinShape>(&shape))
    return most >> (64 - count_min->counter_bits);
  if (traits_of(kind()).can_fill_up) return most;
  return made_for_theta().value_or(0);
}

std::uint64_t FilterShape::num_bytes() const {
  check_counters(*this);
  return std::visit([](const auto& own) { return tally::num_bytes(own); }, shape);
}

std::uint64_t FilterShape::side_bytes() const noexcept {
  constexpr std::uint64_t slot_bytes = 16;
  if (const auto* dleft = std::get_if<DLeftShape>(&shape))
    return slot_bytes * num_spill_slots(dleft->spill_capacity);
  if (const auto* compact = std::get_if<CompactDLeftShape>(&shape))
    return slot_bytes * num_spill_slots(compact->spill_capacity);
  return 0;
}

std::optional<std::uint64_t> FilterShape::bytes_after_growth() const {
  const auto* dleft = std::get_if<DLeftShape>(&shape);
  if (dleft == nullptr || !dleft->can_double()) return std::nullopt;
  DLeftShape doubled = *dleft;
  ++doubled.num_doublings;
  return tally::num_bytes(doubled);
}

FilterShape bloom_filter_shape(std::uint64_t num_bits, std::uint32_t num_hashes,
                               std::uint16_t scheme_id) noexcept {
  if (is_line_scheme(scheme_id)) return {BlockedBloomShape{num_bits, num_hashes}, scheme_id};
  return {BloomShape{num_bits, num_hashes}, scheme_id};
}

void check_shape(const FilterShape& shape) {
  if (const auto* dleft = std::get_if<DLeftShape>(&shape.shape)) return check_dleft(*dleft, shape.scheme_id);
  if (const auto* count_min = std::get_if<CountMinShape>(&shape.shape)) {
    return check_count_min(*count_min, shape.scheme_id);
  }
  if (const auto* compact = std::get_if<CompactDLeftShape>(&shape.shape))
    return check_compact(*compact, shape.scheme_id);
  const PositionSpace space = checked_space(shape);
  const KindTraits& kind = traits_of(shape.kind());
  const bool found = AllSchemes::with_id(shape.scheme_id, [&]<class Scheme>(std::type_identity<Scheme>) {
    check_position_space<Scheme>(kind.structure, kind.size_field, space);
  });
  if (!found) scheme_name(shape.scheme_id);  // throws, and lists the ids
}

FilterShape round_to_scheme(FilterShape shape, Rounding rounding) {
  if (shape.kind() == FilterKind::dleft) return round_dleft(shape, rounding);
  if (shape.kind() == FilterKind::count_min) return round_count_min(shape, rounding);
  if (shape.kind() == FilterKind::compact_dleft) {  // the scheme takes any number of lines
    check_shape(shape);
    return shape;
  }
  PositionSpace space = checked_space(shape);
  const KindTraits& kind = traits_of(shape.kind());
  detail::require_in_range(kind.structure, "num_hashes", space.num_hashes, 1, max_num_hashes);
  detail::require_in_range(kind.structure, kind.size_field, space.num_positions, 1, max_num_positions);
  std::uint64_t rounded = 0;
  const bool found = AllSchemes::with_id(shape.scheme_id, [&]<class Scheme>(std::type_identity<Scheme>) {
    constexpr std::uint32_t step = num_hashes_step<Scheme>;
    space.num_hashes = (space.num_hashes + step - 1) / step * step;
    rounded = Scheme::round_positions(space, rounding);
  });
  const std::string_view scheme = scheme_name(shape.scheme_id);
  if (!found || rounded == 0 || rounded > max_num_positions) {
    detail::throw_parameter_error(kind.structure, kind.size_field, space.num_positions,
                                  std::string(rounded == 0 ? "greater" : "less") + " for the scheme '" +
                                      std::string(scheme) + "' with num_hashes " +
                                      std::to_string(space.num_hashes));
  }
  if (auto* blocked = std::get_if<BlockedBloomShape>(&shape.shape)) blocked->num_hashes = space.num_hashes;
  std::visit([&](auto& own) { size_of(own) = rounded; }, shape.shape);
  return shape;
}

}  // namespace tally
