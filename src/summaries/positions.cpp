#include "tally/summaries/positions.hpp"

#include <optional>

namespace tally {

std::variant<SummaryPositions::BitSchemes, SummaryPositions::CellSchemes> SummaryPositions::scheme_of(
    const SummaryLayout& layout) {
  check_layout(layout);
  std::optional<std::variant<BitSchemes, CellSchemes>> scheme;
  if (const auto* const dleft = std::get_if<DLeftShape>(&layout.shape)) {
    BucketSchemes::with_id(layout.scheme_id, [&]<class Scheme>(std::type_identity<Scheme>) {
      scheme.emplace(CellSchemes(Scheme(dleft->fingerprint_space(), layout.seed_or_key_id)));
    });
  } else {
    const PositionSpace space = position_space(std::get<BloomShape>(layout.shape));
    AllSchemes::with_id(layout.scheme_id, [&]<class Scheme>(std::type_identity<Scheme>) {
      scheme.emplace(BitSchemes(Scheme(space)));
    });
  }
  return *scheme;
}

SummaryPositions::SummaryPositions(const SummaryLayout& layout)
    : scheme_(scheme_of(layout)), num_hashes_(layout.num_hashes()) {
  const auto* const dleft = std::get_if<DLeftShape>(&layout.shape);
  if (dleft == nullptr) return;
  space_ = dleft->fingerprint_space();
  remainder_bits_ = dleft->current_remainder_bits();
  images_per_subtable_ = dleft->buckets_per_subtable << dleft->remainder_bits;
}

void SummaryPositions::find(Hash128 digest, std::uint64_t* positions) const noexcept {
  if (const auto* const bits = std::get_if<BitSchemes>(&scheme_)) {
    std::visit(
        [&](const auto& scheme) {
          std::uint64_t* next = positions;
          scheme.all_positions(digest, [&](std::uint64_t position) {
            *next++ = position;
            return true;
          });
        },
        *bits);
    return;
  }
  std::visit(
      [&](const auto& scheme) {
        scheme.all_images(space_.fingerprint_of(digest), num_hashes_, positions);
        for (std::uint32_t i = 1; i < num_hashes_; ++i) positions[i] += i * images_per_subtable_;
      },
      std::get<CellSchemes>(scheme_));
}

}  // namespace tally
