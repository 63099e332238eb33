#include "summary_feed.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "step_costs.hpp"
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

/// Larger full copies are sent as words, because trying codes takes longer than all else.
constexpr std::uint64_t max_coded_units = 100'000;

/// Units that change with an item: the positions of a Bloom filter; in a d-left filter about a cell and one that moves.
std::uint64_t changes_per_item(const SummaryLayout& layout) noexcept {
  return layout.has_cells() ? 2 : layout.num_hashes();
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
    : publisher_(layout_of_filter(filter),
                 {.publisher = std::move(name), .max_coded_units = max_coded_units}),
      num_changes_(publisher_.layout().num_units()) {}

void SummaryFeed::add_changes(std::uint64_t number) noexcept {
  has_changed_ = true;
  const std::uint64_t most = publisher_.layout().num_units();
  for (std::uint64_t* const changes : {&num_changes_, &num_late_changes_})
    *changes += std::min(number, most - std::min(*changes, most));
}

void SummaryFeed::touch(const AnyFilter& filter, std::span<const Hash128> digests) noexcept {
  add_changes(digests.size() * changes_per_item(publisher_.layout()));
  filter.visit([&](const auto& inside) { touch_positions(inside, digests, publisher_); });
}

void SummaryFeed::touch_all() noexcept {
  add_changes(publisher_.layout().num_units());
  publisher_.touch_all();
}

void SummaryFeed::adopt_layout(const AnyFilter& filter) {
  const SummaryLayout layout = layout_of_filter(filter);
  if (layout == publisher_.layout()) return;
  publisher_.change_layout(layout);
  num_changes_ = layout.num_units();
  is_catching_up_ = false;
}

std::uint64_t SummaryFeed::cost_of_change() const noexcept {
  if (publisher_.full_is_next()) return step_cost::caught_up_change;  // needs no code of the change
  return publisher_.layout().has_cells() ? step_cost::published_cell : step_cost::published_change;
}

bool SummaryFeed::can_publish(const AnyFilter& filter, std::uint64_t max_bytes) {
  if (!has_changed_) return true;
  adopt_layout(filter);
  if (num_changes_ <= max_bytes / cost_of_change()) return true;
  if (!is_catching_up_) num_late_changes_ = 0;
  with_summary_words(filter, [&](std::span<const std::uint64_t> words) {
    is_catching_up_ = !publisher_.catch_up(words, max_bytes / step_cost::caught_up_change + 1);
  });
  forget_deltas();
  full_copy_ = {};
  if (!is_catching_up_) num_changes_ = num_late_changes_;
  return false;
}

void SummaryFeed::publish(const AnyFilter& filter) {
  if (!has_changed_) return;
  adopt_layout(filter);
  const std::uint64_t from = publisher_.version().sequence;
  const bool is_full = publisher_.full_is_next();
  deltas_.push_back({from, {}});
  std::vector<std::byte> message;
  try {
    with_summary_words(filter,
                       [&](std::span<const std::uint64_t> words) { message = publisher_.publish(words); });
  } catch (...) {
    deltas_.pop_back();
    throw;
  }
  has_changed_ = is_catching_up_ = false;
  num_changes_ = 0;
  if (publisher_.version().sequence == from) {  // a heartbeat
    deltas_.pop_back();
    return;
  }
  full_copy_ = {};
  if (is_full) {
    forget_deltas();
    full_copy_ = std::move(message);
    return;
  }
  delta_bytes_ += message.size();
  deltas_.back().message = std::move(message);
  const std::uint64_t most_bytes = publisher_.layout().num_bytes();
  while (delta_bytes_ > most_bytes && !deltas_.empty()) {
    delta_bytes_ -= deltas_.front().message.size();
    deltas_.pop_front();
  }
}

void SummaryFeed::forget_deltas() noexcept {
  deltas_.clear();
  delta_bytes_ = 0;
}

std::span<const std::byte> SummaryFeed::heartbeat_or_full_copy(SummaryVersion version) {
  if (version == publisher_.version()) return heartbeat_ = publisher_.heartbeat();
  SummaryMessage request;
  request.kind = SummaryMessageKind::request;
  request.publisher = publisher_.name();
  request.version = version;
  if (full_copy_.empty() || version.epoch > publisher_.version().epoch)
    full_copy_ = publisher_.answer(request);
  return full_copy_;
}

std::vector<std::span<const std::byte>> SummaryFeed::since(const AnyFilter& filter, SummaryVersion version) {
  publish(filter);
  const auto first = std::ranges::find_if(
      deltas_, [&](const Delta& delta) { return delta.from_sequence == version.sequence; });
  if (version.epoch != publisher_.version().epoch || first == deltas_.end())
    return {heartbeat_or_full_copy(version)};
  std::vector<std::span<const std::byte>> messages;
  for (auto delta = first; delta != deltas_.end(); ++delta) messages.emplace_back(delta->message);
  return messages;
}

std::uint64_t SummaryFeed::memory_bytes() const noexcept {
  return publisher_.num_bytes() + delta_bytes_ + full_copy_.capacity() + heartbeat_.capacity();
}

}  // namespace tally::redis
