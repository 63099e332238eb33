// Any bytes: refused with a FormatError, or a filter or sketch that writes the same bytes again and works. The input is
// tried as it is, then with both checksums repaired, then without its body being checked, as a mapped file would be.

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <vector>

#include "file_bytes.hpp"
#include "sample_filters.hpp"
#include "tally/serialization/sketch_files.hpp"

namespace {

using namespace tally;

void require(bool law) {
  if (!law) std::abort();
}

void use(AnyFilter& filter) {
  const std::vector<Hash128> keys = test::sample_keys(filter.hasher(), 3);
  test::Flags passes(keys.size());
  if (filter.insert_batch(keys) != 0) return require(filter.can_fill_up());
  if (!filter.has_threshold()) {
    filter.may_contain_batch(keys, passes.span());
    for (std::size_t i = 0; i < keys.size(); ++i) require(passes[i]);
  }
  if (filter.can_count()) {
    std::vector<Count> counts(keys.size());
    filter.count_batch(keys, counts);
    for (const Count& count : counts) require(count.value >= 1);
    filter.at_least_batch(keys, filter.shape().largest_theta(), passes.span());
  }
  if (filter.can_remove()) {
    std::vector<RemoveResult> removed(keys.size());
    filter.remove_batch(keys, removed);
    for (const RemoveResult result : removed) require(result != RemoveResult::refused);
  }
  (void)filter.merge(filter);
  require(filter.statistics().num_positions == filter.shape().num_positions());
}

std::optional<AnyFilter> try_to_load(const std::vector<std::byte>& bytes) {
  try {
    return deserialize(bytes, test::sample_hash_key());
  } catch (const FormatError& error) {
    require(error.offset() <= bytes.size());
  } catch (const std::invalid_argument&) {  // another key
  }
  return std::nullopt;
}

void check(const std::vector<std::byte>& bytes) {
  std::optional<AnyFilter> filter = try_to_load(bytes);
  if (!filter) return;
  require(serialize(*filter) == bytes);
  use(*filter);
  const std::vector<std::byte> used = serialize(*filter);
  require(serialize(*try_to_load(used)) == used);
}

/// The sums of what it says to be certain; the truth before is not known, but what is added now is.
template <class Top>
void use(Top& top) {
  const std::uint64_t total = top.total_count();
  const bool is_known = total < ~std::uint64_t{0} / 4;
  top.add("a key", 5);
  top.add("another", 7);
  top.merge(Top(top));
  if (!is_known) return;
  require(top.total_count() == 2 * (total + 12));
  require(top.floor() <= top.total_count() / top.capacity());
  for (const KeyCount& key : top.top(3)) require(key.error <= key.count && key.error <= top.floor());
  require(top.estimate("a key").count >= 10);
  require(top.estimate("another").count >= 14);
}

template <class Rows>
void use(CountMinWindow<Rows>& window) {
  window.add("a key", 5);
  window.advance();
  window.add("a key", 5);
  window.merge(CountMinWindow<Rows>(window));
  const CountEstimate estimate = window.estimate("a key");
  require(estimate.saturated || estimate.value >= 20);
}

std::optional<AnySketch> try_to_load_sketch(const std::vector<std::byte>& bytes) {
  try {
    return deserialize_sketch(bytes, test::sample_hash_key());
  } catch (const FormatError& error) {
    require(error.offset() <= std::max<std::size_t>(bytes.size(), file_header_bytes));
  } catch (const std::invalid_argument&) {  // another key
  }
  return std::nullopt;
}

void check_sketch(const std::vector<std::byte>& bytes) {
  std::optional<AnySketch> sketch = try_to_load_sketch(bytes);
  if (!sketch) return;
  require(serialize(*sketch) == bytes);
  std::visit([](auto& own) { use(own); }, *sketch);
  const std::vector<std::byte> used = serialize(*sketch);
  require(serialize(*try_to_load_sketch(used)) == used);
}

void use_unchecked(const std::vector<std::byte>& bytes) {
  try {
    const FileHeader header = read_header(bytes);
    if (header.body_bytes() != bytes.size() - file_header_bytes) return;
    detail::AlignedWords words(header.body_bytes() / 8);
    std::memcpy(words.data(), bytes.data() + file_header_bytes, header.body_bytes());
    AnyFilter filter(header.shape, header.hasher(test::sample_hash_key()), header.totals, std::move(words));
    use(filter);
  } catch (const FormatError&) {
  } catch (const std::invalid_argument&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* first = reinterpret_cast<const std::byte*>(data);
  std::vector<std::byte> bytes(first, first + size);
  check(bytes);
  check_sketch(bytes);
  if (size < file_header_bytes) return 0;
  test::repair_checksums(bytes);
  check(bytes);
  check_sketch(bytes);
  use_unchecked(bytes);
  return 0;
}
