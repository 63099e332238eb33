#include "tally/summaries/publisher.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <utility>

#include "summaries/message_writer.hpp"
#include "summaries/units.hpp"
#include "tally/detail/parameter_error.hpp"
#include "tally/hashing/mix64.hpp"

namespace tally {

namespace {

constexpr std::uint64_t last_epoch_to_pass = ~std::uint64_t{0} >> 1;

std::uint64_t num_blocks(const SummaryLayout& layout) { return BitArray::num_words(layout.num_units()); }

void copy_block(const detail::UnitView& from, SummaryTable& to, std::uint64_t block) {
  std::uint64_t word = block * to.layout().unit_bits();
  for (const std::uint64_t value : from.block(block)) to.put_word(word++, value);
}

/// Brings the digest and the number of units that are set from `before` to `after`. Returns the number of changes.
std::uint64_t add_changes(const detail::UnitView& before, const detail::UnitView& after, std::uint64_t block,
                          std::uint64_t& digest, std::uint64_t& num_set) {
  std::uint64_t num_changes = 0;
  detail::for_each_change_of_block(before, after, block,
                                   [&](std::uint64_t unit, std::uint32_t was, std::uint32_t is) {
                                     digest ^= unit_digest(unit, was) ^ unit_digest(unit, is);
                                     num_set += std::uint64_t{is != 0} - std::uint64_t{was != 0};
                                     ++num_changes;
                                   });
  return num_changes;
}

}  // namespace

SummaryPublisher::SummaryPublisher(const SummaryLayout& layout, SummaryOptions options)
    : name_(std::move(options.publisher)),
      version_{options.epoch, 0},
      published_(layout),
      next_layout_(layout),
      touched_(num_blocks(layout)),
      max_coded_units_(options.max_coded_units),
      key_(options.key) {
  detail::require_in_range<std::uint64_t>("SummaryPublisher", "length of publisher", name_.size(), 1,
                                          max_publisher_bytes);
  if (version_.epoch == 0) {
    version_.epoch = static_cast<std::uint64_t>(summary_time_now().time_since_epoch().count());
  }
}

void SummaryPublisher::change_layout(const SummaryLayout& layout) {
  check_layout(layout);
  next_layout_ = layout;
  is_layout_changing_ = layout != published_.layout();
  all_touched_ = full_is_next_ = true;
}

SummaryPublisher SummaryPublisher::with_next_layout() const {
  SummaryPublisher next(next_layout_, {name_, version_.epoch, max_coded_units_, key_});
  next.version_.sequence = version_.sequence;
  return next;
}

bool SummaryPublisher::catch_up(std::span<const std::uint64_t> words, std::uint64_t max_changes) {
  if (next_layout_ != layout()) *this = with_next_layout();
  full_is_next_ = is_catching_up_ = true;
  if (next_block_ == 0 && all_touched_) {
    for (std::uint64_t block = 0; block < touched_.size(); ++block) touched_.set(block);
    all_touched_ = false;
  }
  const detail::UnitView before(layout(), published_.words());
  const detail::UnitView after(layout(), words);
  for (std::uint64_t num_met = 0; next_block_ < touched_.size() && num_met < max_changes; ++next_block_) {
    if (!touched_.get(next_block_)) continue;
    num_met += std::max<std::uint64_t>(1, add_changes(before, after, next_block_, digest_, num_set_));
    copy_block(after, published_, next_block_);
    touched_.clear(next_block_);
  }
  if (next_block_ < touched_.size()) return false;
  next_block_ = 0;
  return true;
}

std::vector<std::byte> SummaryPublisher::publish(std::span<const std::uint64_t> words, SummaryTime now) {
  if (next_layout_ != layout()) {
    // The last version stays unchanged until the new one is complete: a request for it may arrive meanwhile.
    SummaryPublisher next = with_next_layout();
    std::vector<std::byte> message = next.publish(words, now);
    *this = std::move(next);
    return message;
  }
  const detail::UnitView before(layout(), published_.words());
  const detail::UnitView after(layout(), words);
  const auto for_each_touched_block = [&](auto use) {
    for (std::uint64_t i = 0; i < touched_.words().size(); ++i) {
      const std::uint64_t first = 64 * i;
      const std::uint64_t end = std::min(first + 64, touched_.size());
      std::uint64_t left = all_touched_ ? ~std::uint64_t{0} >> (64 - (end - first)) : touched_.words()[i];
      for (; left != 0; left &= left - 1) use(first + static_cast<std::uint64_t>(std::countr_zero(left)));
    }
  };
  const auto each = [&](auto visit) {
    for_each_touched_block([&](std::uint64_t block) {
      detail::for_each_change_of_block(
          before, after, block,
          [&](std::uint64_t unit, std::uint32_t, std::uint32_t value) { visit(unit, value); });
    });
  };

  const detail::ChangesCode how = full_is_next_ ? detail::ChangesCode{} : detail::best_code(layout(), each);
  const bool has_changed = how.num_changes != 0 || full_is_next_;
  SummaryEnvelope next = envelope(now);
  next.version.sequence += has_changed;
  std::uint64_t num_set = num_set_;
  for_each_touched_block(
      [&](std::uint64_t block) { add_changes(before, after, block, next.digest, num_set); });

  std::vector<std::byte> message;
  if (!has_changed) {
    message = heartbeat_message(next, layout());
  } else if (!full_is_next_) {
    detail::MessageBytes bytes(SummaryMessageKind::delta, next, layout());
    bytes.put(detail::message::from_sequence_at, version_.sequence);
    message = detail::message_of_changes(std::move(bytes), layout(), how, each);
  }
  // A full copy can be shorter only if more units changed than are set now, or if the delta is longer than
  // all words.
  if (full_is_next_ || num_set < how.num_changes || how.payload_bytes > layout().num_bytes()) {
    std::vector<std::byte> copy = detail::full_message_of(next, layout(), words, {num_set, max_coded_units_});
    if (full_is_next_ || copy.size() < message.size()) message = std::move(copy);
  }

  // Nothing throws from here on: a version that was not sent would leave followers behind.
  for_each_touched_block([&](std::uint64_t block) {
    copy_block(after, published_, block);
    touched_.clear(block);
  });
  version_ = next.version;
  digest_ = next.digest;
  num_set_ = num_set;
  all_touched_ = full_is_next_ = is_catching_up_ = false;
  next_block_ = 0;
  return message;
}

std::vector<std::byte> SummaryPublisher::full(SummaryTime now) const {
  if (is_catching_up_) return {};
  return detail::full_message_of(envelope(now), layout(), published_.words(), {num_set_, max_coded_units_});
}

std::vector<std::byte> SummaryPublisher::heartbeat(SummaryTime now) const {
  if (is_catching_up_) return {};
  return heartbeat_message(envelope(now), layout());
}

std::vector<std::byte> SummaryPublisher::answer(const SummaryMessage& request, SummaryTime now) {
  if (request.kind != SummaryMessageKind::request) {
    detail::throw_parameter_error("SummaryPublisher", "kind of the message to answer",
                                  std::string(name_of(request.kind)), "request");
  }
  if (request.publisher != name_ || is_catching_up_) return {};
  // The digest of an empty directory is also that of a replica that never had a copy; a copy of it is short.
  if (request.version == version_ && request.digest == digest_ && digest_ != 0) return heartbeat(now);
  if (request.version > version_ && request.version.epoch <= last_epoch_to_pass) {
    // With an increment of its own: two runs that both began too low must not get the same epoch.
    SummaryEnvelope later = envelope(now);
    later.version.epoch = request.version.epoch + 1 + (mix64(version_.epoch) >> 44);
    std::vector<std::byte> message =
        detail::full_message_of(later, layout(), published_.words(), {num_set_, max_coded_units_});
    version_ = later.version;
    return message;
  }
  return full(now);
}

SummaryEnvelope SummaryPublisher::envelope(SummaryTime now) const noexcept {
  return {name_, version_, digest_, now, key_ ? &*key_ : nullptr};
}

}  // namespace tally
