#include "tally/shapes/filter_kind.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "tally/detail/parameter_error.hpp"
#include "tally/hashing/scheme_list.hpp"

namespace tally {
namespace {

constexpr std::array<NamedScheme, 1> blocked{NamedScheme{BlockedScheme::file_id, BlockedScheme::name}};
constexpr std::array<NamedScheme, 1> rotation{NamedScheme{RotationBuckets::file_id, RotationBuckets::name}};

constexpr std::array<KindTraits, num_kinds> kinds{{
    {.kind = FilterKind::bloom,
     .name = "bloom",
     .structure = "BloomFilter",
     .size_field = "num_bits",
     .schemes = CounterSchemes::names,
     .default_scheme_id = DefaultScheme::file_id,
     .can_intersect = true,
     .has_parts = true},
    {.kind = FilterKind::blocked_bloom,
     .name = "blocked-bloom",
     .structure = "BlockedBloomFilter",
     .size_field = "num_bits",
     .schemes = LineSchemes::names,
     .default_scheme_id = BlockedScheme::file_id,
     .can_intersect = true,
     .has_parts = true},
    {.kind = FilterKind::counting_bloom,
     .name = "counting-bloom",
     .structure = "CountingBloomFilter",
     .size_field = "num_counters",
     .schemes = CounterSchemes::names,
     .default_scheme_id = DefaultScheme::file_id,
     .can_remove = true,
     .can_count = true,
     .has_parts = true},
    {.kind = FilterKind::threshold,
     .name = "threshold",
     .structure = "ThresholdFilter",
     .size_field = "num_counters",
     .schemes = CounterSchemes::names,
     .default_scheme_id = DefaultScheme::file_id,
     .can_count = true,
     .tells_states = true},
    {.kind = FilterKind::dleft,
     .name = "dleft",
     .structure = "DLeftCountingBloomFilter",
     .size_field = "buckets_per_subtable",
     .schemes = BucketSchemes::names,
     .default_scheme_id = RotationBuckets::file_id,
     .can_remove = true,
     .can_count = true,
     .can_fill_up = true,
     .can_grow = true},
    {.kind = FilterKind::count_min,
     .name = "count-min",
     .structure = "CountMinSketch",
     .size_field = "width",
     .schemes = RowSchemes::names,
     .default_scheme_id = DefaultRows::file_id,
     .can_count = true,
     .takes_weights = true},
    {.kind = FilterKind::compact_dleft,
     .name = "compact-dleft",
     .structure = "CompactDLeftFilter",
     .size_field = "num_lines_per_subtable",
     .schemes = rotation,
     .default_scheme_id = RotationBuckets::file_id,
     .can_remove = true,
     .can_count = true,
     .can_fill_up = true},
    {.kind = FilterKind::blocked_counting_bloom,
     .name = "blocked-counting-bloom",
     .structure = "BlockedCountingBloomFilter",
     .size_field = "num_counters",
     .schemes = blocked,
     .default_scheme_id = BlockedScheme::file_id,
     .can_remove = true,
     .can_count = true,
     .has_parts = true},
}};
static_assert(!kinds.back().name.empty());  // one row per kind

}  // namespace

std::span<const KindTraits> all_kinds() noexcept { return kinds; }

const KindTraits& traits_of(FilterKind kind) noexcept {
  return *std::ranges::find(kinds, kind, &KindTraits::kind);
}

std::string_view name_of(FilterKind kind) noexcept { return traits_of(kind).name; }

FilterKind filter_kind(std::string_view name) {
  std::string names;
  for (const KindTraits& kind : kinds) {
    if (kind.name == name) return kind.kind;
    names.append(names.empty() ? "" : ", ").append(kind.name);
  }
  detail::throw_parameter_error("FilterKind", "name", "'" + std::string(name) + "'", "one of " + names);
}

bool uses_scheme(FilterKind kind, std::uint16_t scheme_id) noexcept {
  const std::span<const NamedScheme> schemes = traits_of(kind).schemes;
  return std::ranges::find(schemes, scheme_id, &NamedScheme::file_id) != schemes.end();
}

std::uint16_t scheme_id_of(FilterKind kind, std::string_view scheme) {
  std::string names;
  for (const NamedScheme& own : traits_of(kind).schemes) {
    if (own.name == scheme) return own.file_id;
    names.append(names.empty() ? "" : ", ").append(own.name);
  }
  detail::throw_parameter_error(traits_of(kind).structure, "scheme", "'" + std::string(scheme) + "'",
                                "one of " + names);
}

}  // namespace tally
