#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "tally/filters/counting_bloom.hpp"
#include "tally/filters/dleft_counting_bloom.hpp"
#include "tally/storage/nonzero_bits.hpp"
#include "tally/summaries/publisher.hpp"

namespace tally {

/// What followers of a filter receive. `refresh(filter, digests, publisher)` is called after these keys were
/// inserted or removed. It marks in the publisher what may have changed, and returns by how much the number
/// of units that differ from the last version grew.
template <class Filter>
class SummarySource;

/// Bit i: whether counter i is above 0.
template <HashScheme Scheme>
class SummarySource<CountingBloomFilter<Scheme>> {
 public:
  using Filter = CountingBloomFilter<Scheme>;

  explicit SummarySource(const Filter& filter)
      : scheme_(position_space(filter.shape())), bits_(nonzero_bits(filter.storage())) {}

  SummaryLayout layout(const Filter& filter) const {
    return layout_of(filter.shape(), Scheme::file_id, filter.hasher());
  }

  std::span<const std::uint64_t> words(const Filter&) const noexcept { return bits_.words(); }

  std::int64_t refresh(const Filter& filter, std::span<const Hash128> digests,
                       SummaryPublisher& publisher) noexcept {
    std::int64_t change = 0;
    for (const Hash128 digest : digests) {
      scheme_.all_positions(digest, [&](std::uint64_t position) {
        const bool is_set = filter.storage().get(position) != 0;
        if (is_set == bits_.get(position)) return true;
        is_set ? bits_.set(position) : bits_.clear(position);
        publisher.touch(position);
        const bool differs =
            publisher.is_layout_changing() || is_set != (publisher.published().get(position) != 0);
        change += differs ? 1 : -1;
        return true;
      });
    }
    return change;
  }

 private:
  Scheme scheme_;
  BitArray bits_;
};

/// The cells themselves.
template <BucketScheme Scheme>
class SummarySource<DLeftCountingBloomFilter<Scheme>> {
 public:
  using Filter = DLeftCountingBloomFilter<Scheme>;

  explicit SummarySource(const Filter& filter)
      : num_rescues_(filter.totals().num_rescues), num_doublings_(filter.shape().num_doublings) {}

  SummaryLayout layout(const Filter& filter) const {
    return layout_of(filter.shape(), Scheme::file_id, filter.hasher());
  }

  std::span<const std::uint64_t> words(const Filter& filter) const noexcept {
    return filter.table().cells().words();
  }

  std::int64_t refresh(const Filter& filter, std::span<const Hash128> digests,
                       SummaryPublisher& publisher) noexcept {
    const DLeftShape& shape = filter.shape();
    if (shape.num_doublings != num_doublings_) {
      publisher.change_layout(layout(filter));
      num_doublings_ = shape.num_doublings;
    }
    // Moves may go anywhere.
    if (filter.totals().num_rescues != num_rescues_) publisher.touch_all();
    num_rescues_ = filter.totals().num_rescues;
    std::array<std::uint64_t, max_num_subtables> images;
    const FingerprintSpace space = shape.fingerprint_space();
    for (const Hash128 digest : digests) {
      filter.table().scheme().all_images(space.fingerprint_of(digest), shape.num_subtables, images.data());
      for (std::uint32_t i = 0; i < shape.num_subtables; ++i) {
        const std::uint64_t first = filter.table().bucket_of(i, images[i]) * shape.cells_per_bucket;
        publisher.touch(first);
        publisher.touch(first + shape.cells_per_bucket - 1);
      }
    }
    return static_cast<std::int64_t>(digests.size());
  }

 private:
  std::uint64_t num_rescues_;
  std::uint32_t num_doublings_;
};

}  // namespace tally
