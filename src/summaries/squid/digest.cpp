#include "tally/summaries/squid/digest.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "tally/detail/batches/counter_writes.hpp"
#include "tally/detail/parameter_error.hpp"
#include "tally/storage/nibble_counters.hpp"
#include "tally/storage/nonzero_bits.hpp"
#include "tally/summaries/squid/counting_digest.hpp"
#include "tally/theory/bloom.hpp"

namespace tally {

namespace {

constexpr std::uint64_t max_signed_32 = std::numeric_limits<std::int32_t>::max();
constexpr std::uint64_t num_words_of_md5 = std::uint64_t{1} << 32;

// Offsets in the header; everything is big-endian, and the bytes after these fields are 0 up to the bits.
enum Offset : std::uint64_t {
  version_at = 0,
  required_version_at = 2,
  capacity_at = 4,
  count_at = 8,
  del_count_at = 12,
  mask_size_at = 16,
  bits_per_entry_at = 20,
  hash_func_count_at = 21,
};

template <class Integer>
Integer load_big_endian(std::span<const std::byte> bytes, std::uint64_t at) noexcept {
  Integer value = 0;
  for (std::size_t i = 0; i < sizeof(Integer); ++i) {
    value = static_cast<Integer>(value << 8 | std::to_integer<Integer>(bytes[at + i]));
  }
  return value;
}

template <class Integer>
void store_big_endian(std::span<std::byte> bytes, std::uint64_t at, Integer value) noexcept {
  for (std::size_t i = sizeof(Integer); i-- > 0; value = static_cast<Integer>(value >> 8)) {
    bytes[at + i] = static_cast<std::byte>(value & 0xFF);
  }
}

[[noreturn]] void refuse(const std::string& reason, std::uint64_t offset) {
  throw FormatError(reason, offset, "Squid digest");
}

// A 32-bit field that is signed in Squid and must not be negative.
std::uint32_t load_count(std::span<const std::byte> bytes, Offset at, const char* name, std::uint32_t least) {
  const auto value = load_big_endian<std::uint32_t>(bytes, at);
  if (value < least || value > max_signed_32) {
    refuse(std::string(name) + " is " + std::to_string(std::bit_cast<std::int32_t>(value)) +
               "; must be at least " + std::to_string(least),
           at);
  }
  return value;
}

const SquidShape& checked(const SquidShape& shape) {
  check_shape(shape);
  return shape;
}

using Offsets = std::array<std::uint64_t, SquidShape::num_hashes>;

// Those of NibbleCounters.
Offsets offsets_of(const SquidKey& key, std::uint64_t num_counters) {
  Offsets offsets{};
  std::transform(key.words().begin(), key.words().end(), offsets.begin(),
                 [&](std::uint32_t word) { return word % num_counters; });
  return offsets;
}

}  // namespace

void check_shape(const SquidShape& shape) {
  detail::require_in_range("SquidDigest", "bits_per_entry", shape.bits_per_entry, 1,
                           SquidShape::max_bits_per_entry);
  // Rounded up to whole bytes it is at most max_num_bits, which is a multiple of 8.
  detail::require_in_range("SquidDigest", "capacity", shape.capacity, 1,
                           SquidShape::max_num_bits / shape.bits_per_entry);
}

double planned_false_positive_rate(const SquidShape& shape, std::uint64_t num_keys) {
  check_shape(shape);
  return theory::false_positive_probability(shape.num_bits(), SquidShape::num_hashes, num_keys);
}

SquidDigest::SquidDigest(const SquidShape& shape)
    : SquidDigest(shape, {}, BitArray(checked(shape).num_bits())) {}

SquidDigest::SquidDigest(const SquidShape& shape, const Totals& totals, BitArray bits)
    : shape_(checked(shape)), totals_(totals), bits_(std::move(bits)) {
  detail::require_in_range("SquidDigest", "count", totals.count, 0, max_signed_32);
  detail::require_in_range("SquidDigest", "del_count", totals.del_count, 0, max_signed_32);
  detail::require_in_range("SquidDigest", "number of bits", bits_.size(), shape.num_bits(), shape.num_bits());
}

SquidDigest SquidDigest::from_bytes(std::span<const std::byte> bytes) {
  if (bytes.size() < header_bytes) {
    refuse("length is " + std::to_string(bytes.size()) + " bytes; must be at least 128, the header",
           bytes.size());
  }
  const auto written_version = load_big_endian<std::uint16_t>(bytes, version_at);
  if (written_version < required_version || written_version > 0x7FFF) {
    refuse("version is " + std::to_string(written_version) + "; must be at least 3", version_at);
  }
  const auto needed_version = load_big_endian<std::uint16_t>(bytes, required_version_at);
  if (needed_version > version) {
    refuse("it needs a reader of version " + std::to_string(needed_version) + "; this reader has version 5",
           required_version_at);
  }
  SquidShape shape;
  shape.capacity = load_count(bytes, capacity_at, "capacity", 1);
  Totals totals;
  totals.count = load_count(bytes, count_at, "count", 0);
  totals.del_count = load_count(bytes, del_count_at, "del_count", 0);
  const std::uint64_t mask_size = load_count(bytes, mask_size_at, "mask_size", 1);
  shape.bits_per_entry = std::to_integer<std::uint32_t>(bytes[bits_per_entry_at]);
  if (shape.bits_per_entry < 1 || shape.bits_per_entry > SquidShape::max_bits_per_entry) {
    refuse("bits_per_entry is " + std::to_string(shape.bits_per_entry) + "; must be 1 to 127",
           bits_per_entry_at);
  }
  const auto num_hashes = std::to_integer<std::uint32_t>(bytes[hash_func_count_at]);
  if (num_hashes != SquidShape::num_hashes) {
    refuse("hash_func_count is " + std::to_string(num_hashes) + "; must be 4", hash_func_count_at);
  }
  if (shape.capacity > SquidShape::max_num_bits / shape.bits_per_entry) {
    refuse("capacity is " + std::to_string(shape.capacity) + ", at " + std::to_string(shape.bits_per_entry) +
               " bits per entry; the maximum is " +
               std::to_string(SquidShape::max_num_bits / shape.bits_per_entry),
           capacity_at);
  }
  if (mask_size != shape.num_bytes()) {
    refuse("mask_size is " + std::to_string(mask_size) + "; capacity and bits_per_entry make it " +
               std::to_string(shape.num_bytes()),
           mask_size_at);
  }
  const std::uint64_t expected = header_bytes + mask_size;
  if (bytes.size() < expected) {
    refuse("it ends after " + std::to_string(bytes.size()) + " of " + std::to_string(expected) + " bytes",
           bytes.size());
  }
  if (bytes.size() > expected) {
    refuse(std::to_string(bytes.size() - expected) + " bytes follow after its end", expected);
  }
  // Bit i of a digest is bit i mod 8 of byte i / 8: the bytes are those of little-endian words.
  detail::AlignedWords words(BitArray::num_words(shape.num_bits()));
  const std::span<const std::byte> mask = bytes.subspan(header_bytes);
  for (std::size_t i = 0; i < mask.size(); ++i) {
    words.data()[i / 8] |= std::to_integer<std::uint64_t>(mask[i]) << i % 8 * 8;
  }
  return {shape, totals, BitArray(shape.num_bits(), std::move(words))};
}

std::vector<std::byte> SquidDigest::to_bytes() const {
  std::vector<std::byte> bytes(header_bytes + shape_.num_bytes());
  store_big_endian(bytes, version_at, version);
  store_big_endian(bytes, required_version_at, required_version);
  store_big_endian(bytes, capacity_at, static_cast<std::uint32_t>(shape_.capacity));
  store_big_endian(bytes, count_at, totals_.count);
  store_big_endian(bytes, del_count_at, totals_.del_count);
  store_big_endian(bytes, mask_size_at, static_cast<std::uint32_t>(shape_.num_bytes()));
  bytes[bits_per_entry_at] = static_cast<std::byte>(shape_.bits_per_entry);
  bytes[hash_func_count_at] = static_cast<std::byte>(SquidShape::num_hashes);
  for (std::size_t i = 0; i < shape_.num_bytes(); ++i) {
    bytes[header_bytes + i] = static_cast<std::byte>(bits_.words()[i / 8] >> i % 8 * 8 & 0xFF);
  }
  return bytes;
}

bool SquidDigest::insert(const SquidKey& key) noexcept {
  bool is_new = false;
  for (const std::uint32_t word : key.words()) {
    const std::uint64_t position = word % bits_.size();
    is_new = is_new || !bits_.get(position);
    bits_.set(position);
  }
  if (totals_.count < max_signed_32) ++totals_.count;
  return is_new;
}

bool SquidDigest::may_contain(const SquidKey& key) const noexcept {
  return std::ranges::all_of(key.words(), [&](std::uint32_t word) { return bits_.get(word % bits_.size()); });
}

double SquidDigest::fill_ratio() const noexcept {
  return static_cast<double>(bits_.num_set(0, bits_.size())) / static_cast<double>(bits_.size());
}

double SquidDigest::estimated_false_positive_rate() const noexcept {
  const std::uint64_t words_per_bit = num_words_of_md5 / bits_.size();
  const std::uint64_t num_set = bits_.num_set(0, bits_.size());
  const std::uint64_t num_set_with_one_more = bits_.num_set(0, num_words_of_md5 % bits_.size());
  const double share = static_cast<double>(num_set * words_per_bit + num_set_with_one_more) / 0x1p32;
  return std::pow(share, SquidShape::num_hashes);
}

bool operator==(const SquidDigest& a, const SquidDigest& b) {
  return a.shape_ == b.shape_ && a.totals_ == b.totals_ && a.bits_ == b.bits_;
}

CountingSquidDigest::CountingSquidDigest(const SquidShape& shape)
    : shape_(shape), counters_(checked(shape).num_bits(), counter_bits) {}

InsertResult CountingSquidDigest::insert(const SquidKey& key) noexcept {
  ++num_keys_;
  return detail::insert_at(NibbleCounters(counters_.words()), offsets_of(key, counters_.size()));
}

RemoveResult CountingSquidDigest::remove(const SquidKey& key) noexcept {
  const RemoveResult result =
      detail::remove_at(NibbleCounters(counters_.words()), offsets_of(key, counters_.size()));
  if (result != RemoveResult::refused && num_keys_ > 0) --num_keys_;
  num_saturated_removes_ += result == RemoveResult::saturated ? 1 : 0;
  return result;
}

bool CountingSquidDigest::may_contain(const SquidKey& key) const noexcept {
  return std::ranges::all_of(key.words(),
                             [&](std::uint32_t word) { return counters_.get(word % counters_.size()) > 0; });
}

SquidDigest CountingSquidDigest::digest() const {
  const auto limited = [](std::uint64_t number) {
    return static_cast<std::uint32_t>(std::min(number, max_signed_32));
  };
  return {shape_, {limited(num_keys_), limited(num_saturated_removes_)}, nonzero_bits(counters_)};
}

}  // namespace tally
