#include <array>
#include <optional>

#include "open_filters.hpp"
#include "tally/hashing/scheme_list.hpp"

namespace tally::page {
namespace {

/// The positions that a scheme of AllSchemes gives a digest.
Json positions_of(std::uint16_t scheme_id, const PositionSpace& space, Hash128 digest) {
  Json positions = Json::array();
  AllSchemes::with_id(scheme_id, [&]<class Scheme>(std::type_identity<Scheme>) {
    Scheme(space).all_positions(digest, [&](std::uint64_t position) {
      positions.push_back(position);
      return true;
    });
  });
  return {{"positions", positions}};
}

Json places(const CountMinShape& shape, const AnyFilter& filter, Hash128 digest) {
  Json columns = Json::array();
  const RowSpace space{shape.width, shape.depth, shape.num_copies, filter.hasher().seed_or_key_id()};
  RowSchemes::with_id(filter.shape().scheme_id, [&]<class Rows>(std::type_identity<Rows>) {
    Rows(space).for_each_row(digest, [&](std::uint32_t, std::uint64_t column) { columns.push_back(column); });
  });
  return {{"columns", columns}};
}

/// `Inside` is the filter with its scheme.
template <class Inside>
Json places_in_buckets(const Inside& inside, const DLeftShape& shape, Hash128 digest) {
  std::array<std::uint64_t, max_num_subtables> images{};
  const auto& table = inside.table();
  const std::uint64_t fingerprint = shape.fingerprint_space().fingerprint_of(digest);
  table.scheme().all_images(fingerprint, shape.num_subtables, images.data());
  const std::uint64_t mask = (std::uint64_t{1} << shape.current_remainder_bits()) - 1;
  const std::uint64_t num_buckets = shape.current_buckets_per_subtable();
  Json candidates = Json::array();
  Json cell = nullptr;
  for (std::uint32_t i = 0; i < shape.num_subtables; ++i) {
    const std::uint64_t bucket = images[i] >> shape.current_remainder_bits();
    candidates.push_back({{"subtable", i}, {"bucket", bucket}, {"remainder", images[i] & mask}});
    for (std::uint32_t j = 0; j < shape.cells_per_bucket; ++j) {
      if ((table.cells().get(i * num_buckets + bucket, j) & mask) == (images[i] & mask))
        cell = {{"subtable", i}, {"bucket", bucket}, {"cell", j}};
    }
  }
  return {{"candidates", candidates}, {"cell", cell}};
}

Json places_in_lines(const CompactDLeftFilter& inside, Hash128 digest) {
  const auto& table = inside.table();
  const auto spot = table.spot_of(digest);
  const std::uint64_t remainder_bits = inside.shape().remainder_bits;
  const std::uint64_t num_lines = inside.shape().num_lines_per_subtable;
  Json candidates = Json::array();
  candidates.push_back({{"subtable", 0}, {"line", table.finder().line_of(spot.left)}});
  candidates.push_back({{"subtable", 1}, {"line", table.finder().line_of(spot.right) - num_lines}});
  return {{"mini_bucket", spot.in_line >> remainder_bits},
          {"remainder", spot.in_line & ((std::uint64_t{1} << remainder_bits) - 1)},
          {"candidates", candidates}};
}

}  // namespace

Json places_of(const AnyFilter& filter, Hash128 digest) {
  const FilterShape shape = filter.shape();
  if (const auto* const compact = filter.get_if<CompactDLeftFilter>())
    return places_in_lines(*compact, digest);
  if (const auto* const sketch = std::get_if<CountMinShape>(&shape.shape))
    return places(*sketch, filter, digest);
  if (const auto* const dleft = std::get_if<DLeftShape>(&shape.shape)) {
    Json found;
    BucketSchemes::with_id(shape.scheme_id, [&]<class Scheme>(std::type_identity<Scheme>) {
      found = places_in_buckets(*filter.get_if<DLeftCountingBloomFilter<Scheme>>(), *dleft, digest);
    });
    return found;
  }
  return std::visit(
      [&](const auto& own) -> Json {
        if constexpr (requires { position_space(own); }) {
          return positions_of(shape.scheme_id, position_space(own), digest);
        } else {
          return nullptr;
        }
      },
      shape.shape);
}

}  // namespace tally::page
