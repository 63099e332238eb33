#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "serialization/sketch_parts.hpp"
#include "tally/detail/checked_math.hpp"
#include "tally/detail/little_endian.hpp"

// Candidates in a file: a record for each, in the order of the heap, then the bytes of all keys.

namespace tally::detail {
namespace {

constexpr std::size_t record_words = 4;
constexpr std::size_t record_bytes = 8 * record_words;
constexpr std::uint64_t unknown = ~std::uint64_t{0};

struct Record {
  std::uint64_t count;
  std::uint64_t error;
  std::uint64_t count_in_heap;
  std::uint64_t key_bytes;
};

Record record_at(FileBytes part, std::uint64_t i) {
  std::array<std::uint64_t, record_words> words;
  for (std::size_t word = 0; word < record_words; ++word) {
    words[word] = load_little_endian<std::uint64_t>(part.data() + i * record_bytes + 8 * word);
  }
  return {words[0], words[1], words[2], words[3]};
}

/// How a candidate contradicts itself, the header or its parent in the heap; empty if it does not.
std::string fault_of(const Record& record, const SketchHeader& header, const Record& parent) {
  const bool is_full = header.num_candidates == header.capacity;
  if (record.count == 0) return "has a count of 0";
  if (is_full && record.count < header.floor) return "has a count below the floor";
  if (record.error > record.count) return "has an error above its count";
  if (record.error > header.floor) return "has an error above the floor";
  if (record.count_in_heap > record.count) return "has a count in the heap above its count";
  if (record.count_in_heap < parent.count_in_heap) return "is below a greater count in the heap";
  return "";
}

void check_sums(const SketchHeader& header, std::uint64_t sum_of_counts, std::uint64_t sum_of_exact,
                std::uint64_t offset) {
  if (header.total_count == unknown) return;  // a sum that did not fit
  const std::string total = std::to_string(header.total_count) + ", the total count";
  if (sum_of_counts > header.total_count)
    throw FormatError("the counts add up to more than " + total, offset);
  if (header.kind == FileKind::top_keys &&
      saturating_add(sum_of_exact, header.sketch_total) != header.total_count) {
    throw FormatError("the counts of candidates and sketch do not add up to " + total, offset);
  }
}

}  // namespace

void append_candidates(std::vector<std::byte>& bytes, const CountedKeys& keys) {
  const auto put = [&](std::uint64_t value) {
    std::array<std::byte, 8> field;
    store_little_endian(field.data(), value);
    bytes.insert(bytes.end(), field.begin(), field.end());
  };
  for (const CountedKeys::HeapNode& node : keys.heap()) {
    put(keys[node.entry].count);
    put(keys[node.entry].error);
    put(node.count);
    put(keys.key_bytes(node.entry).size());
  }
  for (const CountedKeys::HeapNode& node : keys.heap()) {
    const FileBytes key = std::as_bytes(std::span(keys.key_bytes(node.entry)));
    bytes.insert(bytes.end(), key.begin(), key.end());
  }
  bytes.resize((bytes.size() + 7) / 8 * 8);
}

CountedKeys read_candidates(const SketchHeader& header, const KeyHasher& hasher, FileBytes part,
                            std::uint64_t offset) {
  std::vector<CountedKeys::Entry> entries;
  std::vector<std::string> keys;
  std::vector<CountedKeys::HeapNode> heap;
  entries.reserve(header.num_candidates);  // the body is long enough for their records
  keys.reserve(header.num_candidates);
  heap.reserve(header.num_candidates);
  FileBytes key_bytes = part.subspan(header.num_candidates * record_bytes);
  std::uint64_t sum_of_counts = 0;
  std::uint64_t sum_of_exact = 0;
  for (std::uint64_t i = 0; i < header.num_candidates; ++i) {
    const Record record = record_at(part, i);
    const Record parent = i == 0 ? Record{} : record_at(part, (i - 1) / CountedKeys::heap_arity);
    std::string fault = fault_of(record, header, parent);
    if (record.key_bytes > key_bytes.size()) fault = "has a key longer than the rest of the body";
    if (!fault.empty())
      throw FormatError("candidate " + std::to_string(i) + " " + fault, offset + i * record_bytes);
    const std::string_view key(reinterpret_cast<const char*>(key_bytes.data()), record.key_bytes);
    key_bytes = key_bytes.subspan(record.key_bytes);
    entries.push_back({hasher(key), record.count, record.error});
    keys.emplace_back(key);
    heap.push_back({record.count_in_heap, static_cast<std::uint32_t>(i)});
    sum_of_counts = saturating_add(sum_of_counts, record.count);
    sum_of_exact = saturating_add(sum_of_exact, record.count - record.error);
  }
  const std::uint64_t end = offset + part.size() - key_bytes.size();
  if (key_bytes.size() >= 8) throw FormatError("there are bytes after the last key", end);
  if (std::ranges::any_of(key_bytes, [](std::byte byte) { return byte != std::byte{0}; }))
    throw FormatError("a byte after the last key is not 0", end);
  check_sums(header, sum_of_counts, sum_of_exact, offset);
  try {
    return {header.capacity, name_of(header.kind), std::move(entries), std::move(keys), std::move(heap)};
  } catch (const std::invalid_argument&) {  // everything else that it refuses has been checked
    throw FormatError("two candidates have the same key", offset);
  }
}

}  // namespace tally::detail
