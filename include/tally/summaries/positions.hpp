#pragma once

#include <cstdint>
#include <variant>

#include "tally/export.hpp"
#include "tally/hashing/scheme_list.hpp"
#include "tally/summaries/layout.hpp"

namespace tally {

/// Where a key's units are, in every summary of one layout: k bits, or one of the cells of d buckets, the
/// cell that holds the key's remainder there. The scheme is chosen at run time.
class TALLY_EXPORT SummaryPositions {
 public:
  /// Throws std::invalid_argument for a layout out of range.
  explicit SummaryPositions(const SummaryLayout& layout);

  /// Writes num_hashes() of them: bits, or bucket << remainder_bits | remainder, with the buckets of all
  /// subtables numbered consecutively.
  void find(Hash128 digest, std::uint64_t* positions) const noexcept;

  std::uint32_t num_hashes() const noexcept { return num_hashes_; }

  std::uint64_t bucket_of(std::uint64_t position) const noexcept { return position >> remainder_bits_; }
  std::uint32_t remainder_of(std::uint64_t position) const noexcept {
    return static_cast<std::uint32_t>(position & ((std::uint64_t{1} << remainder_bits_) - 1));
  }

 private:
  template <class List>
  struct VariantOf;
  template <class... Schemes>
  struct VariantOf<SchemeList<Schemes...>> {
    using type = std::variant<Schemes...>;
  };

  using BitSchemes = VariantOf<AllSchemes>::type;
  using CellSchemes = VariantOf<BucketSchemes>::type;

  static std::variant<BitSchemes, CellSchemes> scheme_of(const SummaryLayout& layout);

  std::variant<BitSchemes, CellSchemes> scheme_;
  FingerprintSpace space_;
  std::uint64_t images_per_subtable_ = 0;
  std::uint32_t num_hashes_;
  std::uint32_t remainder_bits_ = 0;
};

}  // namespace tally
