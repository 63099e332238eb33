#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "summaries/bit_coder.hpp"
#include "summaries/message_header.hpp"
#include "summaries/message_parts.hpp"
#include "summaries/units.hpp"
#include "tally/detail/little_endian.hpp"
#include "tally/detail/parameter_error.hpp"
#include "tally/summaries/delta.hpp"

// Writing messages. `each` is anything that calls its argument with (unit, value) for every change, in
// ascending order of units, and gives the same changes each time it is called: changes need not be in memory.

namespace tally::detail {

/// The best coding of the changes, and its length.
struct ChangesCode {
  std::uint64_t num_changes = 0;
  std::uint8_t rice_bits = 0;
  std::uint64_t payload_bytes = 0;
};

/// Golomb-Rice coded, a distance takes 1 + rice_bits + (distance >> rice_bits) bits. The best parameter is near
/// log2(ln 2 x mean distance), distances being geometric.
template <class Each>
ChangesCode best_code(const SummaryLayout& layout, Each each) {
  const UnitCode code(layout);
  ChangesCode best;
  std::uint64_t cell_bits = 0;
  std::uint64_t last = 0;
  each([&](std::uint64_t unit, std::uint32_t value) {
    ++best.num_changes;
    last = unit;
    if (code.has_cells) cell_bits += code.count_of(value) + 1 + (value == 0 ? 0 : code.remainder_bits);
  });
  if (best.num_changes == 0) return best;
  const double mean = static_cast<double>(last + 1) / static_cast<double>(best.num_changes);
  const double middle = std::floor(std::log2(std::max(1.0, mean * 0.6931471805599453)));
  const auto least = static_cast<std::uint32_t>(std::clamp(middle - 1, 0.0, 53.0));
  std::array<std::uint64_t, 4> quotients{};
  std::uint64_t next = 0;
  each([&](std::uint64_t unit, std::uint32_t) {
    for (std::uint32_t i = 0; i < quotients.size(); ++i) quotients[i] += (unit - next) >> (least + i);
    next = unit + 1;
  });
  std::uint64_t best_bits = ~std::uint64_t{0};
  for (std::uint32_t i = 0; i < quotients.size(); ++i) {
    const std::uint64_t bits = best.num_changes * (1 + least + i) + quotients[i];
    if (bits >= best_bits) continue;
    best_bits = bits;
    best.rice_bits = static_cast<std::uint8_t>(least + i);
  }
  best.payload_bytes = (best_bits + cell_bits + 7) / 8;
  return best;
}

template <class Each>
void append_changes(std::vector<std::byte>& bytes, const SummaryLayout& layout, const ChangesCode& how,
                    Each each) {
  const UnitCode code(layout);
  bytes.reserve(bytes.size() + how.payload_bytes);
  BitWriter writer(bytes);
  std::uint64_t next = 0;
  each([&](std::uint64_t unit, std::uint32_t value) {
    const std::uint64_t distance = unit - next;
    next = unit + 1;
    writer.put_unary(distance >> how.rice_bits);
    writer.put(distance & ((std::uint64_t{1} << how.rice_bits) - 1), how.rice_bits);
    if (!code.has_cells) return;
    writer.put_unary(code.count_of(value));
    if (value != 0) writer.put(code.remainder_of(value), code.remainder_bits);
  });
  writer.finish();
}

/// A message without its payload, which `finish` adds.
class MessageBytes {
 public:
  MessageBytes(SummaryMessageKind kind, const SummaryEnvelope& envelope, const SummaryLayout& layout)
      : key_(envelope.key) {
    const std::string_view name = envelope.publisher;
    if (name.empty() || name.size() > max_publisher_bytes) {
      throw_parameter_error("SummaryMessage", "length of publisher", name.size(),
                            "1 to " + std::to_string(max_publisher_bytes) + " bytes");
    }
    payload_at_ = summary_header_bytes + name.size();
    bytes_.resize(payload_at_);
    std::memcpy(bytes_.data() + summary_header_bytes, name.data(), name.size());
    std::memcpy(bytes_.data() + message::magic_at, message::magic.data(), message::magic.size());
    put(message::version_at, message::version);
    put(message::kind_at, static_cast<std::uint16_t>(kind));
    put(message::publisher_bytes_at, static_cast<std::uint8_t>(name.size()));
    if (key_ != nullptr) put(message::mac_bytes_at, message::mac_bytes);
    put(message::epoch_at, envelope.version.epoch);
    put(message::sequence_at, envelope.version.sequence);
    put(message::digest_at, envelope.digest);
    const std::int64_t published_at = envelope.published_at.time_since_epoch().count();
    put(message::published_at_at, static_cast<std::uint64_t>(std::max<std::int64_t>(0, published_at)));
    put_layout(layout);
  }

  template <class Integer>
  void put(std::size_t at, Integer value) {
    store_little_endian(bytes_.data() + at, value);
  }

  std::vector<std::byte>& bytes() { return bytes_; }

  std::vector<std::byte> finish(SummaryCoding coding, std::uint8_t rice_bits, std::uint64_t num_changes) {
    using namespace message;
    put(coding_at, static_cast<std::uint8_t>(coding));
    put(rice_bits_at, rice_bits);
    put(num_changes_at, num_changes);
    put(payload_bytes_at, std::uint64_t{bytes_.size() - payload_at_});
    if (key_ != nullptr) {
      const std::span<const std::byte> all(bytes_);
      const MessageMac mac = key_->mac(all.first(summary_header_bytes), all.subspan(summary_header_bytes));
      bytes_.insert(bytes_.end(), mac.begin(), mac.end());
    }
    seal(bytes_);
    return std::move(bytes_);
  }

 private:
  void put_layout(const SummaryLayout& layout) {
    using namespace message;
    put(hash_id_at, static_cast<std::uint16_t>(layout.hash_id));
    put(scheme_id_at, layout.scheme_id);
    put(seed_at, layout.seed_or_key_id);
    put(num_hashes_at, layout.num_hashes());
    const auto* const dleft = std::get_if<DLeftShape>(&layout.shape);
    if (dleft == nullptr) {
      put(num_positions_at, layout.num_units());
      return;
    }
    const auto put_byte = [&](std::size_t at, std::uint32_t value) {
      put(at, static_cast<std::uint8_t>(value));
    };
    put(num_positions_at, dleft->buckets_per_subtable);
    put_byte(has_cells_at, 1);
    put_byte(counter_bits_at, dleft->counter_bits);
    put_byte(cells_per_bucket_at, dleft->cells_per_bucket);
    put_byte(remainder_bits_at, dleft->remainder_bits);
    put_byte(least_remainder_bits_at, dleft->least_remainder_bits);
    put_byte(num_doublings_at, dleft->num_doublings);
  }

  const MessageKey* key_;
  std::vector<std::byte> bytes_;
  std::uint64_t payload_at_ = 0;
};

template <class Each>
std::vector<std::byte> message_of_changes(MessageBytes bytes, const SummaryLayout& layout,
                                          const ChangesCode& how, Each each) {
  append_changes(bytes.bytes(), layout, how, each);
  return bytes.finish(SummaryCoding::changes, how.rice_bits, how.num_changes);
}

/// For a full copy. Reading words is much faster, so it stays as words unless changes save a sixteenth.
inline bool stays_words(const SummaryLayout& layout, const ChangesCode& how) {
  return how.payload_bytes >= layout.num_bytes() - layout.num_bytes() / 16;
}

/// The number of units that are set, where it is known, and up to how many of them codes are tried.
struct FullCopyLimit {
  std::uint64_t num_set = 0;
  std::uint64_t max_coded = 0;
};

/// All units of a version, in as many words as the layout requires (for cells one more, see UnitView).
inline std::vector<std::byte> full_message_of(const SummaryEnvelope& envelope, const SummaryLayout& layout,
                                              std::span<const std::uint64_t> words,
                                              FullCopyLimit limit = {}) {
  MessageBytes bytes(SummaryMessageKind::full, envelope, layout);
  ChangesCode how{.num_changes = limit.num_set};
  if (limit.num_set <= limit.max_coded) {
    const UnitView units(layout, words);
    const auto each = [&units](auto visit) { units.for_each(visit); };
    how = best_code(layout, each);
    if (!stays_words(layout, how)) return message_of_changes(std::move(bytes), layout, how, each);
  }
  const std::span<const std::byte> payload = std::as_bytes(words.first(layout.num_words()));
  bytes.bytes().insert(bytes.bytes().end(), payload.begin(), payload.end());
  return bytes.finish(SummaryCoding::words, 0, how.num_changes);
}

}  // namespace tally::detail
