#include "tally/summaries/message.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "detail/byte_fields.hpp"
#include "summaries/message_header.hpp"
#include "summaries/message_parts.hpp"
#include "tally/hashing/mix64.hpp"

namespace tally {

namespace {

using namespace detail::message;

constexpr const char* subject = "summary message";

using Bytes = std::span<const std::byte>;

template <class Integer>
Integer get(Bytes bytes, std::size_t at) {
  return detail::field<Integer>(bytes, at);
}

template <class Value>
void require(std::string_view name, Value value, std::type_identity_t<Value> low,
             std::type_identity_t<Value> high, std::size_t at, std::string_view condition = "") {
  detail::require_field(name, value, low, high, at, condition, subject);
}

void check_frame(Bytes bytes) {
  if (bytes.size() < summary_header_bytes) {
    throw FormatError("length is " + std::to_string(bytes.size()) + " bytes; must be at least " +
                          std::to_string(summary_header_bytes) + ", the header",
                      bytes.size(), subject);
  }
  for (std::size_t i = 0; i < magic.size(); ++i) {
    if (bytes[magic_at + i] == std::byte{magic[i]}) continue;
    throw FormatError("not a summary message: it does not start with the bytes 89 54 53 55 4d 0d 0a 1a",
                      magic_at + i, subject);
  }
  const auto found = get<std::uint16_t>(bytes, version_at);
  if (found < first_version || found > version) {
    detail::throw_field_error("format version", found,
                              std::to_string(first_version) + " or " + std::to_string(version) +
                                  ", the versions that this library reads",
                              version_at, subject);
  }
  if (get<std::uint64_t>(bytes, header_checksum_at) != checksum(bytes.first(header_checksum_at))) {
    throw FormatError("the checksum of the header does not match; the message is damaged", header_checksum_at,
                      subject);
  }
  const auto require_zeros = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      require("reserved byte", std::to_integer<std::uint32_t>(bytes[i]), 0, 0, i);
    }
  };
  const auto mac_size = get<std::uint8_t>(bytes, mac_bytes_at);
  if (found == first_version || mac_size != mac_bytes) require("mac_bytes", mac_size, 0, 0, mac_bytes_at);
  require_zeros(reserved_at, num_changes_at);
  require_zeros(reserved_too_at, body_checksum_at);
}

SummaryLayout read_layout(Bytes bytes) {
  const auto has_cells = get<std::uint8_t>(bytes, has_cells_at);
  require("has_cells", has_cells, 0, 1, has_cells_at);
  const auto hash_id = get<std::uint16_t>(bytes, hash_id_at);
  require("hash id", hash_id, 1, 2, hash_id_at);
  SummaryLayout layout{BloomShape{}, get<std::uint16_t>(bytes, scheme_id_at), static_cast<HashId>(hash_id),
                       get<std::uint64_t>(bytes, seed_at)};
  const auto num_positions = get<std::uint64_t>(bytes, num_positions_at);
  const auto num_hashes = get<std::uint32_t>(bytes, num_hashes_at);
  if (has_cells == 0) {
    for (std::size_t i = counter_bits_at; i < coding_at; ++i) {
      require("field of cells", get<std::uint8_t>(bytes, i), 0, 0, i, " for bits");
    }
    layout.shape = BloomShape{num_positions, num_hashes};
  } else {
    layout.shape = DLeftShape{.buckets_per_subtable = num_positions,
                              .num_subtables = num_hashes,
                              .cells_per_bucket = get<std::uint8_t>(bytes, cells_per_bucket_at),
                              .remainder_bits = get<std::uint8_t>(bytes, remainder_bits_at),
                              .counter_bits = get<std::uint8_t>(bytes, counter_bits_at),
                              .least_remainder_bits = get<std::uint8_t>(bytes, least_remainder_bits_at),
                              .num_doublings = get<std::uint8_t>(bytes, num_doublings_at),
                              .spill_capacity = 0,
                              .moves = DLeftMoves::none,
                              .grows = false};
    // check_shape shifts by it.
    require("num_doublings", std::get<DLeftShape>(layout.shape).num_doublings, 0, max_remainder_bits,
            num_doublings_at);
  }
  try {
    check_layout(layout);
  } catch (const std::invalid_argument& error) {
    throw FormatError(std::string("layout: ") + error.what(), num_positions_at, subject);
  }
  return layout;
}

void check_coding(const SummaryMessage& message, std::uint64_t payload_bytes) {
  const auto coding = static_cast<std::uint8_t>(message.coding);
  const bool is_full = message.kind == SummaryMessageKind::full;
  const bool is_delta = message.kind == SummaryMessageKind::delta;
  const std::uint8_t least = is_full ? 1 : is_delta ? 2 : 0;
  require("coding", coding, least, is_full || is_delta ? 2 : 0, coding_at, " for this kind of message");
  require("rice_bits", message.rice_bits, 0, message.coding == SummaryCoding::changes ? 56 : 0, rice_bits_at,
          " for this coding");
  if (message.coding == SummaryCoding::words) {
    const std::uint64_t size = message.layout.num_bytes();
    require("payload_bytes", payload_bytes, size, size, payload_bytes_at, " for this layout");
  } else if (message.coding == SummaryCoding::none) {
    require("payload_bytes", payload_bytes, 0, 0, payload_bytes_at, " for this kind of message");
  }
  // A change takes at least one bit, so the length of the payload bounds the number given here.
  const std::uint64_t most = message.coding == SummaryCoding::none ? 0
                             : message.coding == SummaryCoding::words
                                 ? message.layout.num_units()
                                 : std::min(message.layout.num_units(), 8 * payload_bytes);
  require("num_changes", message.num_changes, 0, most, num_changes_at, " for this payload");
}

SummaryMessage read_header(Bytes bytes, std::uint64_t& payload_bytes) {
  check_frame(bytes);
  SummaryMessage message;
  const auto kind = get<std::uint16_t>(bytes, kind_at);
  message.format_version = get<std::uint16_t>(bytes, version_at);
  require("kind", kind, 1, message.format_version == first_version ? 4 : 5, kind_at);
  message.kind = static_cast<SummaryMessageKind>(kind);
  message.layout = read_layout(bytes);
  message.version = {get<std::uint64_t>(bytes, epoch_at), get<std::uint64_t>(bytes, sequence_at)};
  message.from_sequence = get<std::uint64_t>(bytes, from_sequence_at);
  message.digest = get<std::uint64_t>(bytes, digest_at);
  const auto published_at = get<std::uint64_t>(bytes, published_at_at);
  require("published_at", published_at, 0, std::uint64_t{1} << 62, published_at_at);
  message.published_at = SummaryTime(std::chrono::microseconds(static_cast<std::int64_t>(published_at)));
  message.coding = static_cast<SummaryCoding>(get<std::uint8_t>(bytes, coding_at));
  message.rice_bits = get<std::uint8_t>(bytes, rice_bits_at);
  message.num_changes = get<std::uint64_t>(bytes, num_changes_at);
  require("publisher_bytes", get<std::uint8_t>(bytes, publisher_bytes_at), 1, 255, publisher_bytes_at);
  payload_bytes = get<std::uint64_t>(bytes, payload_bytes_at);
  require("payload_bytes", payload_bytes, 0, std::uint64_t{1} << 60, payload_bytes_at);
  check_coding(message, payload_bytes);
  if (message.kind == SummaryMessageKind::delta) {
    require("sequence", message.version.sequence, 1, ~std::uint64_t{0}, sequence_at, " for a delta");
    require("from_sequence", message.from_sequence, 0, message.version.sequence - 1, from_sequence_at,
            " for this sequence");
  } else {
    require("from_sequence", message.from_sequence, 0, 0, from_sequence_at, " for this kind of message");
  }
  return message;
}

}  // namespace

std::string_view name_of(SummaryMessageKind kind) noexcept {
  switch (kind) {
    case SummaryMessageKind::full:
      return "full";
    case SummaryMessageKind::delta:
      return "delta";
    case SummaryMessageKind::heartbeat:
      return "heartbeat";
    case SummaryMessageKind::request:
      return "request";
    case SummaryMessageKind::stored:
      return "stored";
  }
  return "unknown";
}

std::uint64_t summary_message_bytes(Bytes header) {
  std::uint64_t payload_bytes = 0;
  (void)read_header(header, payload_bytes);
  return summary_header_bytes + get<std::uint8_t>(header, publisher_bytes_at) + payload_bytes +
         get<std::uint8_t>(header, mac_bytes_at);
}

SummaryMessage read_summary_header(Bytes bytes) {
  std::uint64_t payload_bytes = 0;
  return read_header(bytes, payload_bytes);
}

SummaryMessage read_summary_message(Bytes bytes) {
  std::uint64_t payload_bytes = 0;
  SummaryMessage message = read_header(bytes, payload_bytes);
  const std::uint64_t publisher_bytes = get<std::uint8_t>(bytes, publisher_bytes_at);
  const std::uint64_t mac_size = get<std::uint8_t>(bytes, mac_bytes_at);
  const std::uint64_t size = summary_header_bytes + publisher_bytes + payload_bytes + mac_size;
  if (bytes.size() != size) {
    throw FormatError("length is " + std::to_string(bytes.size()) + " bytes; must be " +
                          std::to_string(size) + ", as in the header",
                      std::min<std::uint64_t>(bytes.size(), size), subject);
  }
  if (get<std::uint64_t>(bytes, body_checksum_at) != checksum(bytes.subspan(summary_header_bytes))) {
    throw FormatError("the checksum of the body does not match; the message is damaged", body_checksum_at,
                      subject);
  }
  const Bytes body = bytes.subspan(summary_header_bytes, publisher_bytes + payload_bytes);
  message.header = bytes.first(summary_header_bytes);
  message.body = body;
  message.mac = bytes.last(mac_size);
  message.publisher = {reinterpret_cast<const char*>(body.data()), publisher_bytes};
  message.payload = body.subspan(publisher_bytes);

  std::uint64_t digest = 0;
  const auto fault = detail::read_units(
      message, [&](std::uint64_t unit, std::uint32_t value) { digest ^= unit_digest(unit, value); });
  if (fault) {
    throw FormatError("payload: " + std::string(fault->reason),
                      summary_header_bytes + publisher_bytes + fault->byte, subject);
  }
  if (message.kind == SummaryMessageKind::full && digest != message.digest) {
    throw FormatError("the digest does not match the units", digest_at, subject);
  }
  return message;
}

bool SummaryMessage::is_signed_with(const MessageKey& key) const noexcept {
  if (mac.size() != mac_bytes) return false;
  const MessageMac expected = key.mac(header, body);
  std::byte difference{0};
  for (std::size_t i = 0; i < expected.size(); ++i) difference |= mac[i] ^ expected[i];
  return difference == std::byte{0};
}

std::vector<std::byte> in_format_version_1(Bytes message) {
  const std::uint64_t size = summary_message_bytes(message);
  if (get<std::uint16_t>(message, kind_at) > static_cast<std::uint16_t>(SummaryMessageKind::request))
    return {};
  const std::uint64_t mac_size = get<std::uint8_t>(message, mac_bytes_at);
  const Bytes rest = message.first(size - mac_size);
  std::vector<std::byte> bytes(rest.begin(), rest.end());
  detail::store_little_endian(bytes.data() + version_at, first_version);
  detail::store_little_endian(bytes.data() + mac_bytes_at, std::uint8_t{0});
  seal(bytes);
  return bytes;
}

std::uint64_t unit_digest(std::uint64_t unit, std::uint32_t value) noexcept {
  return value == 0 ? 0 : mix64(mix64(unit) + value);
}

}  // namespace tally
