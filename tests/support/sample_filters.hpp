#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tally/any_filter.hpp"

namespace tally::test {

inline constexpr std::array<std::uint32_t, 11> counter_widths = {1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 64};

/// One of every cell width, some of them doubled already, whose counts of 5 do not all fit into cells.
inline std::vector<DLeftShape> sample_dleft_shapes() {
  std::vector<DLeftShape> shapes;
  const auto add = [&](std::uint64_t buckets, std::uint32_t d, std::uint32_t c, std::uint32_t r,
                       std::uint32_t counter_bits, std::uint32_t least, std::uint32_t doublings) {
    shapes.push_back({.buckets_per_subtable = buckets,
                      .num_subtables = d,
                      .cells_per_bucket = c,
                      .remainder_bits = r,
                      .counter_bits = counter_bits,
                      .least_remainder_bits = least,
                      .num_doublings = doublings,
                      .spill_capacity = 200});
  };
  add(61, 4, 8, 7, 1, 7, 0);
  add(13, 3, 9, 12, 0, 8, 2);
  add(7, 4, 8, 14, 2, 14, 0);
  add(3, 2, 32, 15, 1, 12, 1);
  add(29, 3, 5, 22, 2, 20, 2);
  add(5, 2, 64, 30, 2, 30, 0);
  return shapes;
}

/// A small shape of every kind, scheme, counter width and update; their sizes leave unused bits at the end.
inline std::vector<FilterShape> sample_shapes() {
  std::vector<FilterShape> shapes;
  AllSchemes::for_each([&]<class Scheme>(std::type_identity<Scheme>) {
    const auto add = [&](auto shape) {
      shapes.push_back(round_to_scheme({shape, Scheme::file_id}, Rounding::up));
    };
    add(BloomShapeFor<Scheme>{1013, 5});
    if (Scheme::layout == PositionLayout::words) return;
    for (const std::uint32_t width : counter_widths) {
      const std::uint64_t max = ~std::uint64_t{0} >> (64 - width);
      add(CountingBloomShapeFor<Scheme>{307, 4, width, max / 2 + 1});
      if (width == 64 || Scheme::layout == PositionLayout::lines) continue;
      add(ThresholdShape{307, 4, max, CounterUpdate::plain});
      add(ThresholdShape{307, 4, max, CounterUpdate::conservative});
    }
  });
  for (const std::uint16_t scheme : {RotationBuckets::file_id, MultiplierBuckets::file_id}) {
    for (const DLeftShape& shape : sample_dleft_shapes()) {
      shapes.push_back(round_to_scheme({shape, scheme}, Rounding::up));
    }
  }
  // One of every number of remainder bits.
  for (std::uint32_t bits = least_compact_remainder_bits; bits <= max_compact_remainder_bits; ++bits) {
    shapes.push_back({CompactDLeftShape{bits - 6, bits, 200}, RotationBuckets::file_id});
  }
  RowSchemes::for_each([&]<class Rows>(std::type_identity<Rows>) {
    const std::uint32_t num_copies = Rows::law == RowLaw::two_hash ? 2 : 1;
    for (const std::uint32_t counter_bits : {8u, 16u, 32u, 64u}) {
      for (const CounterUpdate update : {CounterUpdate::plain, CounterUpdate::conservative}) {
        const CountMinShape shape{101, 3, num_copies, counter_bits, update};
        shapes.push_back(round_to_scheme({shape, Rows::file_id}, Rounding::up));
      }
    }
  });
  return shapes;
}

inline std::string describe(const FilterShape& shape) {
  return std::string(name_of(shape.kind())) + " " + std::string(shape.scheme_name()) + " counter_bits " +
         std::to_string(shape.counter_bits());
}

/// Digests of the texts "key 0", "key 1", ...
inline std::vector<Hash128> sample_keys(const KeyHasher& hasher, std::uint64_t num_keys) {
  std::vector<Hash128> keys;
  for (std::uint64_t i = 0; i < num_keys; ++i)
    keys.push_back(hasher(std::string_view("key " + std::to_string(i))));
  return keys;
}

/// Inserts keys for which there must be room.
inline void insert_all(AnyFilter& filter, const std::vector<Hash128>& keys) {
  if (filter.insert_batch(keys) != 0) throw std::runtime_error("the filter is full");
}

/// Inserts key i of 30 (i mod 5) + 1 times; from a counting filter removes every third key once.
inline void fill(AnyFilter& filter) {
  const std::vector<Hash128> keys = sample_keys(filter.hasher(), 30);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    insert_all(filter, std::vector<Hash128>(i % 5 + 1, keys[i]));
  }
  if (!filter.can_remove()) return;
  for (std::size_t i = 0; i < keys.size(); i += 3) {
    RemoveResult result{};
    filter.remove_batch(std::span(&keys[i], 1), std::span(&result, 1));
  }
}

inline AnyFilter filled(const FilterShape& shape, const KeyHasher& hasher = 42) {
  AnyFilter filter(shape, hasher);
  fill(filter);
  return filter;
}

/// A vector<bool> has no span.
struct Flags {
  explicit Flags(std::size_t size) : values(new bool[size]()), count(size) {}
  std::span<bool> span() { return {values.get(), count}; }
  bool operator[](std::size_t i) const { return values[i]; }

  std::unique_ptr<bool[]> values;
  std::size_t count;
};

/// A key whose bytes are 0, 1, ..., 31: as secret as a published one is.
inline HashKey sample_hash_key() {
  HashKey key;
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::byte>(i);
  return key;
}

}  // namespace tally::test
