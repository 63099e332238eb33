#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tally/detail/parameter_error.hpp"
#include "tally/filters/key_batch.hpp"
#include "tally/filters/outcomes.hpp"
#include "tally/summaries/publisher.hpp"
#include "tally/summaries/send_policy.hpp"
#include "tally/summaries/source.hpp"

namespace tally {

/// What a node holds, in a filter with removals, and how it is published: first the filter's bits, and then,
/// from version to version, the bits that flipped (Fan et al. 2000). Or the cells of a d-left filter, and the
/// cells that changed.
///
/// `Filter` is a CountingBloomFilter<> or DLeftCountingBloomFilter<> of any scheme. Guarantee: a replica that
/// received every message since a full copy holds exactly the bits (cells) of its version. So it has no false
/// negatives for that version, as long as only keys in the directory are removed. The counters are not sent.
/// Threads: const functions may run concurrently; a write needs exclusive access; `publish` is a write.
template <class Filter>
class DirectorySummary {
 public:
  using Shape = std::remove_cvref_t<decltype(std::declval<const Filter&>().shape())>;

  /// An empty directory. Throws std::invalid_argument for a shape or a name out of range, and std::bad_alloc.
  DirectorySummary(const Shape& shape, const KeyHasher& hasher, SummaryOptions options)
      : DirectorySummary(Filter(shape, hasher), std::move(options)) {}

  /// A directory with the contents of the filter.
  DirectorySummary(Filter filter, SummaryOptions options)
      : filter_(std::move(filter)),
        source_(filter_),
        publisher_(source_.layout(filter_), std::move(options)),
        published_(filter_.totals()) {}

  /// The same, continuing the versions of a publisher whose directory had other contents: the next version brings its followers
  /// to these. Throws std::bad_alloc.
  DirectorySummary(Filter filter, SummaryPublisher publisher)
      : filter_(std::move(filter)),
        source_(filter_),
        publisher_(std::move(publisher)),
        published_(filter_.totals()),
        num_changed_units_(layout().num_units()) {
    publisher_.touch_all();
    if (layout() != publisher_.layout()) publisher_.change_layout(layout());
  }

  DirectorySummary(const DirectorySummary&) = default;
  DirectorySummary(DirectorySummary&&) noexcept = default;
  DirectorySummary& operator=(const DirectorySummary& other) { return *this = DirectorySummary(other); }
  DirectorySummary& operator=(DirectorySummary&&) noexcept = default;
  ~DirectorySummary() = default;

  /// InsertResult::full (d-left filters only): nothing has changed.
  template <Key K>
  [[nodiscard]] InsertResult insert(K&& key) noexcept {
    const Hash128 digest = filter_.hasher()(key);
    const InsertResult result = filter_.insert(digest);
    refresh(std::span(&digest, 1));
    return result;
  }

  /// RemoveResult::refused: the key is provably absent, and nothing has changed.
  template <Key K>
  [[nodiscard]] RemoveResult remove(K&& key) noexcept {
    const Hash128 digest = filter_.hasher()(key);
    const RemoveResult result = filter_.remove(digest);
    refresh(std::span(&digest, 1));
    return result;
  }

  /// Returns the number of keys that were refused because the filter is full (d-left filters only); all
  /// others are in it.
  template <KeyBatch Keys>
  [[nodiscard]] std::uint64_t insert_batch(const Keys& keys) noexcept {
    std::uint64_t num_full = 0;
    for_each_part(keys, [&](std::size_t, std::span<const Hash128> digests) {
      if constexpr (requires(std::span<InsertResult> results) { filter_.insert_batch(digests, results); }) {
        std::array<InsertResult, keys_per_part> results;
        const std::span own(results.data(), digests.size());
        filter_.insert_batch(digests, own);
        num_full += static_cast<std::uint64_t>(std::count(own.begin(), own.end(), InsertResult::full));
      } else {
        filter_.insert_batch(digests);
      }
    });
    return num_full;
  }

  /// results[i] = remove(keys[i]), in order; `results` is as long as `keys`.
  template <KeyBatch Keys>
  void remove_batch(const Keys& keys, std::span<RemoveResult> results) {
    detail::require_one_per_key("remove_batch", "results", std::span(keys).size(), results.size());
    for_each_part(keys, [&](std::size_t first, std::span<const Hash128> digests) {
      filter_.remove_batch(digests, results.subspan(first, digests.size()));
    });
  }

  /// For the current directory, published or not.
  template <Key K>
  [[nodiscard]] bool may_contain(K&& key) const noexcept {
    return filter_.may_contain(key);
  }

  /// The next version, and the message that brings followers of the previous version to it: see
  /// SummaryPublisher::publish. Throws std::bad_alloc, and then makes no new version.
  std::vector<std::byte> publish(SummaryTime now = summary_time_now()) {
    std::vector<std::byte> message = publisher_.publish(source_.words(filter_), now);
    published_ = filter_.totals();
    num_changed_units_ = 0;
    return message;
  }

  /// See SummaryPublisher.
  std::vector<std::byte> full(SummaryTime now = summary_time_now()) const { return publisher_.full(now); }
  std::vector<std::byte> heartbeat(SummaryTime now = summary_time_now()) const {
    return publisher_.heartbeat(now);
  }
  std::vector<std::byte> answer(const SummaryMessage& request, SummaryTime now = summary_time_now()) {
    return publisher_.answer(request, now);
  }

  /// The input of a SendPolicy.
  PendingChanges pending() const noexcept {
    const typename Filter::Totals& now = filter_.totals();
    return {now.num_insertions - now.num_removes,
            now.num_insertions - published_.num_insertions,
            now.num_removes - published_.num_removes,
            num_changed_units_,
            layout().num_units(),
            layout().unit_bits()};
  }

  /// The current bits, or cells: always up to date with the filter.
  std::span<const std::uint64_t> words() const noexcept {
    return source_.words(filter_).first(layout().num_words());
  }

  const Filter& filter() const noexcept { return filter_; }
  const SummaryPublisher& publisher() const noexcept { return publisher_; }
  /// The layout of words(); the publisher has that of the last version.
  SummaryLayout layout() const noexcept { return source_.layout(filter_); }
  SummaryVersion version() const noexcept { return publisher_.version(); }

 private:
  // Few enough keys that their counters are still in the cache when their bits are read.
  static constexpr std::size_t keys_per_part = 128;

  template <KeyBatch Keys, class Use>
  void for_each_part(const Keys& key_range, Use use) noexcept {
    const std::span keys(key_range);
    std::array<Hash128, keys_per_part> digests;
    for (std::size_t first = 0; first < keys.size(); first += keys_per_part) {
      const std::span part = keys.subspan(first, std::min(keys_per_part, keys.size() - first));
      for (std::size_t i = 0; i < part.size(); ++i) digests[i] = filter_.hasher()(part[i]);
      use(first, std::span<const Hash128>(digests.data(), part.size()));
      refresh(std::span<const Hash128>(digests.data(), part.size()));
    }
  }

  void refresh(std::span<const Hash128> digests) noexcept {
    const std::int64_t change = source_.refresh(filter_, digests, publisher_);
    num_changed_units_ += static_cast<std::uint64_t>(change);
  }

  Filter filter_;
  SummarySource<Filter> source_;
  SummaryPublisher publisher_;
  typename Filter::Totals published_;  // the filter's totals when the last version was made
  std::uint64_t num_changed_units_ = 0;
};

}  // namespace tally
