#include "summary_feed.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "tally/any_filter/summary.hpp"
#include "tally/summaries/message.hpp"

namespace tally::redis {
namespace {

SummaryLayout layout_of_filter(const AnyFilter& filter) {
  if (const auto layout = summary_layout_of(filter)) return *layout;
  throw std::invalid_argument("a " + std::string(name_of(filter.kind())) +
                              " structure has no summary; create the key with --kind and one of bloom, "
                              "blocked-bloom, counting-bloom, dleft");
}

template <HashScheme Scheme>
void touch_positions(const BloomFilter<Scheme>& filter, std::span<const Hash128> digests,
                     SummaryPublisher& publisher) noexcept {
  const Scheme scheme(position_space(filter.shape()));
  for (const Hash128 digest : digests) {
    scheme.all_positions(digest, [&](std::uint64_t position) noexcept {
      publisher.touch(position);
      return true;
    });
  }
}

/// Of the other kinds, all units are compared with the last version.
template <class Filter>
void touch_positions(const Filter&, std::span<const Hash128>, SummaryPublisher& publisher) noexcept {
  publisher.touch_all();
}

}  // namespace

SummaryFeed::SummaryFeed(const AnyFilter& filter, std::string name)
    : publisher_(layout_of_filter(filter), {std::move(name)}) {}

void SummaryFeed::touch(const AnyFilter& filter, std::span<const Hash128> digests) noexcept {
  has_changed_ = true;
  filter.visit([&](const auto& inside) { touch_positions(inside, digests, publisher_); });
}

void SummaryFeed::touch_all() noexcept {
  has_changed_ = true;
  publisher_.touch_all();
}

void SummaryFeed::publish(const AnyFilter& filter) {
  if (!has_changed_) return;
  const SummaryLayout layout = layout_of_filter(filter);
  if (layout != publisher_.layout()) publisher_.change_layout(layout);
  deltas_.push_back({publisher_.version().sequence, {}});
  std::vector<std::byte>& message = deltas_.back().message;
  try {
    with_summary_words(filter,
                       [&](std::span<const std::uint64_t> words) { message = publisher_.publish(words); });
  } catch (...) {
    deltas_.pop_back();
    throw;
  }
  has_changed_ = false;
  if (publisher_.version().sequence == deltas_.back().from_sequence) {  // a heartbeat
    deltas_.pop_back();
    return;
  }
  const std::uint64_t most_bytes = publisher_.layout().num_bytes();
  delta_bytes_ += message.size();
  while (delta_bytes_ > most_bytes && !deltas_.empty()) {
    delta_bytes_ -= deltas_.front().message.size();
    deltas_.pop_front();
  }
}

std::span<const std::byte> SummaryFeed::other_message(SummaryVersion version) {
  SummaryMessage request;
  request.kind = SummaryMessageKind::request;
  request.publisher = publisher_.name();
  request.version = version;
  other_message_ = version == publisher_.version() ? publisher_.heartbeat() : publisher_.answer(request);
  return other_message_;
}

std::vector<std::span<const std::byte>> SummaryFeed::since(const AnyFilter& filter, SummaryVersion version) {
  publish(filter);
  const auto first = std::ranges::find_if(
      deltas_, [&](const Delta& delta) { return delta.from_sequence == version.sequence; });
  if (version.epoch != publisher_.version().epoch || first == deltas_.end()) return {other_message(version)};
  std::vector<std::span<const std::byte>> messages;
  for (auto delta = first; delta != deltas_.end(); ++delta) messages.emplace_back(delta->message);
  return messages;
}

std::uint64_t SummaryFeed::memory_bytes() const noexcept {
  return publisher_.num_bytes() + delta_bytes_ + other_message_.capacity();
}

}  // namespace tally::redis
