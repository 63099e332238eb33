#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "tally/any_filter/summary.hpp"
#include "tally/storage/nonzero_bits.hpp"

namespace tally {

std::optional<SummaryLayout> summary_layout_of(const AnyFilter& filter) {
  const FilterShape shape = filter.shape();
  return std::visit(
      [&](const auto& own) -> std::optional<SummaryLayout> {
        if constexpr (requires { layout_of(own, shape.scheme_id, filter.hasher()); }) {
          return layout_of(own, shape.scheme_id, filter.hasher());
        } else {
          return std::nullopt;
        }
      },
      shape.shape);
}

void with_summary_words(const AnyFilter& filter,
                        const std::function<void(std::span<const std::uint64_t>)>& use) {
  filter.visit([&](const auto& inside) {
    if constexpr (requires { nonzero_bits(inside.storage()); }) {
      use(nonzero_bits(inside.storage()).words());
    } else {
      use(filter.words());
    }
  });
}

SummaryTable summary_of(const AnyFilter& filter) {
  const std::optional<SummaryLayout> layout = summary_layout_of(filter);
  if (!layout) {
    throw std::invalid_argument(
        "a filter of kind " + std::string(name_of(filter.kind())) +
        " has no summary; use a bloom, blocked-bloom, counting-bloom or dleft filter");
  }
  SummaryTable summary(*layout);
  with_summary_words(filter, [&](std::span<const std::uint64_t> words) { summary.assign(words); });
  return summary;
}

AnyFilter filter_of(const SummaryTable& summary, const KeyHasher& hasher) {
  const SummaryLayout& layout = summary.layout();
  if (hasher.id() != layout.hash_id || hasher.seed_or_key_id() != layout.seed_or_key_id) {
    throw std::invalid_argument(
        "the hasher differs from that of the summary's publisher; use the same hash and seed or key");
  }
  FilterTotals totals;
  FilterShape shape{BloomShape{}, layout.scheme_id};
  if (const auto* const dleft = std::get_if<DLeftShape>(&layout.shape)) {
    shape.shape = *dleft;
    for (std::uint64_t i = 0; i < summary.num_units(); ++i) {
      const std::uint32_t cell = summary.get(i);
      if (cell == 0) continue;
      ++totals.num_fingerprints;
      totals.num_insertions += (cell >> dleft->remainder_bits) + 1;
    }
  } else {
    const BloomShape& bits = std::get<BloomShape>(layout.shape);
    shape = bloom_filter_shape(bits.num_bits, bits.num_hashes, layout.scheme_id);
  }
  detail::AlignedWords words(shape.num_bytes() / 8);
  std::copy(summary.words().begin(), summary.words().end(), words.data());
  return AnyFilter(shape, hasher, totals, std::move(words));
}

}  // namespace tally
