#pragma once

#include "tally/hashing/hash_scheme.hpp"
#include "tally/hashing/mix64.hpp"
#include "tally/hashing/range_reduction.hpp"

namespace tally {

/// The i-th of k hashes that behave as independent hashes: a strong mix of both halves of the digest and i.
constexpr std::uint64_t independent_hash(Hash128 hash, std::uint32_t i) noexcept {
  return mix64(mix64(hash.low + (std::uint64_t{i} + 1) * 0x9e3779b97f4a7c15u) + hash.high);
}

/// k independent hashes on one array of m positions: the textbook filter.
/// Source: Kirsch and Mitzenmacher 2008, Section 2.
class StandardScheme {
 public:
  static constexpr std::string_view name = "standard";
  static constexpr std::uint16_t file_id = 3;
  static constexpr PositionLayout layout = PositionLayout::whole;
  static constexpr PositionLaw law = PositionLaw::independent;

  static std::uint64_t round_positions(PositionSpace space, Rounding) noexcept { return space.num_positions; }

  explicit StandardScheme(PositionSpace space) noexcept
      : num_positions_(space.num_positions), num_hashes_(space.num_hashes) {}

  template <class Visit>
  bool all_positions(Hash128 hash, Visit visit) const noexcept {
    for (std::uint32_t i = 0; i < num_hashes_; ++i) {
      if (!visit(reduce_to_range(independent_hash(hash, i), num_positions_))) return false;
    }
    return true;
  }

 private:
  std::uint64_t num_positions_;
  std::uint32_t num_hashes_;
};

/// k independent hashes, the i-th on the i-th of k parts of m/k positions; no two positions are equal. Its
/// false positive rate is slightly higher than that of the standard scheme.
/// Source: Kirsch and Mitzenmacher 2008, Section 2.
class PartitionedScheme {
 public:
  static constexpr std::string_view name = "partitioned";
  static constexpr std::uint16_t file_id = 4;
  static constexpr PositionLayout layout = PositionLayout::parts;
  static constexpr PositionLaw law = PositionLaw::parts;

  /// A multiple of the number of hashes.
  static std::uint64_t round_positions(PositionSpace space, Rounding rounding) noexcept {
    const std::uint64_t rest = space.num_positions % space.num_hashes;
    if (rest == 0) return space.num_positions;
    return space.num_positions - rest + (rounding == Rounding::up ? space.num_hashes : 0);
  }

  explicit PartitionedScheme(PositionSpace space) noexcept
      : part_size_(space.num_positions / space.num_hashes), num_hashes_(space.num_hashes) {}

  template <class Visit>
  bool all_positions(Hash128 hash, Visit visit) const noexcept {
    for (std::uint32_t i = 0; i < num_hashes_; ++i) {
      if (!visit(i * part_size_ + reduce_to_range(independent_hash(hash, i), part_size_))) return false;
    }
    return true;
  }

 private:
  std::uint64_t part_size_;
  std::uint32_t num_hashes_;
};

}  // namespace tally
