#include "bloom_chain.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <new>
#include <stdexcept>
#include <utility>

#include "parameter_bytes.hpp"
#include "refusal.hpp"
#include "tally/planner.hpp"

namespace tally::redis {
namespace {

constexpr std::uint64_t greatest = std::numeric_limits<std::uint64_t>::max();

}  // namespace

BloomChain::BloomChain(const BloomChainOptions& options, std::uint64_t seed, const Call& call)
    : options_(options) {
  const BloomShape shape = shape_of(0);
  const std::uint64_t max_bytes = call.max_key_bytes();
  if (num_bytes(shape) > max_bytes) {
    throw Refusal("ERR could not create filter: it takes " + std::to_string(num_bytes(shape)) +
                  " bytes; must be at most " + std::to_string(max_bytes) +
                  ", the module's option MAX-KEY-BYTES");
  }
  call.require_memory_for(num_bytes(shape));
  filters_.emplace_back(shape, seed);
}

std::uint64_t BloomChain::capacity_of(std::uint64_t filter) const noexcept {
  std::uint64_t capacity = options_.capacity;
  for (std::uint64_t i = 0; i < filter; ++i) {
    if (__builtin_mul_overflow(capacity, options_.expansion, &capacity)) return greatest;
  }
  return capacity;
}

BloomShape BloomChain::shape_of(std::uint64_t filter) const {
  const double rate = options_.grows()
                          ? std::ldexp(options_.false_positive_rate, -static_cast<int>(filter) - 1)
                          : options_.false_positive_rate;
  return plan_bloom({.num_keys = capacity_of(filter), .false_positive_rate = rate});
}

bool BloomChain::contains(Hash128 digest) const noexcept {
  // The newest filter has the most keys.
  return std::any_of(filters_.rbegin(), filters_.rend(),
                     [&](const BloomFilter<>& filter) { return filter.may_contain(digest); });
}

bool BloomChain::may_contain(std::string_view key) const noexcept {
  return contains(filters_.front().hasher()(key));
}

ChainInsert BloomChain::insert(std::string_view key, const Call& call) {
  const Hash128 digest = filters_.front().hasher()(key);
  if (contains(digest)) return ChainInsert::seen;
  if (filters_.back().num_insertions() >= capacity_of(filters_.size() - 1)) {
    if (!options_.grows()) return ChainInsert::full;
    try {
      const BloomShape shape = shape_of(filters_.size());
      std::uint64_t bytes = num_bytes(shape);
      for (const BloomFilter<>& filter : filters_) bytes += num_bytes(filter.shape());
      if (bytes > call.max_key_bytes()) return ChainInsert::no_room;
      if (!call.has_memory_for(num_bytes(shape))) return ChainInsert::no_memory;
      filters_.emplace_back(shape, filters_.front().hasher());
    } catch (const std::bad_alloc&) {
      return ChainInsert::no_memory;
    } catch (const std::invalid_argument&) {  // more than the largest filter
      return ChainInsert::no_room;
    }
  }
  filters_.back().insert(digest);
  return ChainInsert::inserted;
}

std::uint64_t BloomChain::capacity() const noexcept {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < filters_.size(); ++i) {
    if (__builtin_add_overflow(sum, capacity_of(i), &sum)) return greatest;
  }
  return sum;
}

std::uint64_t BloomChain::num_keys() const noexcept {
  std::uint64_t sum = 0;
  for (const BloomFilter<>& filter : filters_) sum += filter.num_insertions();
  return sum;
}

std::string BloomChain::parameters() const {
  std::string bytes;
  append_parameter(bytes, std::bit_cast<std::uint64_t>(options_.false_positive_rate));
  append_parameter(bytes, options_.capacity);
  append_parameter(bytes, options_.expansion);
  return bytes;
}

std::vector<FilterView> BloomChain::filters() const { return {filters_.begin(), filters_.end()}; }

void BloomChain::set_parameters(std::string_view bytes, const std::vector<FileHeader>& headers) {
  BloomChain read;
  read.options_.false_positive_rate = std::bit_cast<double>(take_parameter(bytes));
  read.options_.capacity = take_parameter(bytes);
  const std::uint64_t expansion = take_parameter(bytes);
  read.options_.expansion = static_cast<std::uint32_t>(expansion);
  const double rate = read.options_.false_positive_rate;
  if (!(rate > 0 && rate < 1)) throw FormatError("the false positive rate is not between 0 and 1", 16);
  if (read.options_.capacity == 0) throw FormatError("the capacity is 0", 24);
  if (expansion != read.options_.expansion) throw FormatError("the expansion is at least 2^32", 32);
  if (!read.options_.grows() && headers.size() > 1) {
    throw FormatError("a chain that does not grow has several filters", 32);
  }
  for (std::size_t i = 0; i < headers.size(); ++i) {
    const FileHeader& header = headers[i];
    const std::uint64_t offset = 40 + i * file_header_bytes;
    const auto is_type = filter_type<BloomFilter<>>;
    if (header.shape.kind() != is_type.kind || header.shape.scheme_id != is_type.scheme_id) {
      throw FormatError("the file is not a Bloom filter of the default scheme", offset);
    }
    if (header.seed_or_key_id != headers[0].seed_or_key_id) throw FormatError("the seeds differ", offset);
    const std::uint64_t capacity = read.capacity_of(i);
    const bool is_last = i + 1 == headers.size();
    if (header.totals.num_insertions > capacity || (!is_last && header.totals.num_insertions < capacity)) {
      throw FormatError("the number of keys in the filter does not fit its capacity", offset);
    }
  }
  options_ = read.options_;
}

void BloomChain::take(std::vector<AnyFilter> filters) {
  std::vector<BloomFilter<>> typed;
  typed.reserve(filters.size());
  for (AnyFilter& filter : filters) typed.push_back(std::move(*filter.get_if<BloomFilter<>>()));
  filters_ = std::move(typed);
}

}  // namespace tally::redis
