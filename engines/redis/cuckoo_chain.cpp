#include "cuckoo_chain.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <new>
#include <stdexcept>
#include <utility>
#include <variant>

#include "parameter_bytes.hpp"
#include "refusal.hpp"
#include "tally/planner.hpp"

namespace tally::redis {
namespace {

constexpr std::uint32_t least_reserved_doublings = 6;
constexpr std::uint32_t most_expansion = 1u << 15;

std::uint32_t doublings_per_filter(const CuckooChainOptions& options) {
  return options.grows() ? static_cast<std::uint32_t>(std::countr_zero(options.expansion)) : 0;
}

DLeftShape plan_first(const CuckooChainOptions& options) {
  std::uint32_t num_doublings = doublings_per_filter(options);
  if (num_doublings != 0) num_doublings = std::max(num_doublings, least_reserved_doublings);
  const double growth = num_doublings != 0 ? std::ldexp(1, static_cast<int>(num_doublings))
                        : options.grows()  ? 8
                                           : 1;
  DLeftShape shape = plan_dleft({.num_keys = options.capacity,
                                 .false_positive_rate = options.false_positive_rate / growth,
                                 .max_doublings = num_doublings});
  shape.grows = false;  // the chain does
  return shape;
}

/// The first shape for these options. The last plan is kept: a plan takes milliseconds, and the chains of a server are often
/// alike.
DLeftShape first_shape(const CuckooChainOptions& options) {
  static CuckooChainOptions planned_for;
  static DLeftShape planned;  // without buckets until there is one
  const bool is_the_same = options.capacity == planned_for.capacity &&
                           options.false_positive_rate == planned_for.false_positive_rate &&
                           options.expansion == planned_for.expansion;
  if (planned.buckets_per_subtable == 0 || !is_the_same) {
    planned = plan_first(options);
    planned_for = options;
  }
  return planned;
}

DLeftShape shape_of(const CuckooChainOptions& options, DLeftShape first, std::uint64_t filter) {
  const std::uint64_t most = first.remainder_bits - first.least_remainder_bits;
  first.num_doublings = static_cast<std::uint32_t>(std::min(filter * doublings_per_filter(options), most));
  return first;
}

}  // namespace

CuckooChain::CuckooChain(const CuckooChainOptions& options, std::uint64_t seed, const Call& call)
    : options_(options) {
  const DLeftShape shape = first_shape(options);
  const std::uint64_t max_bytes = call.max_key_bytes();
  if (num_bytes(shape) > max_bytes) {
    throw Refusal("ERR Could not create filter: it takes " + std::to_string(num_bytes(shape)) +
                  " bytes; must be at most " + std::to_string(max_bytes) +
                  ", the module's option MAX-KEY-BYTES");
  }
  call.require_memory_for(num_bytes(shape));
  filters_.emplace_back(shape, seed);
}

bool CuckooChain::insert_within_capacity(Hash128 digest) {
  return std::any_of(filters_.rbegin(), filters_.rend(), [&](Filter& filter) {
    const std::uint64_t num_used = filter.table().num_fingerprints() >> filter.shape().num_doublings;
    return num_used < options_.capacity && filter.insert(digest) == InsertResult::counted;
  });
}

CuckooInsert CuckooChain::insert(std::string_view key, const Call& call) {
  const Hash128 digest = digest_of(key);
  if (insert_within_capacity(digest)) return CuckooInsert::inserted;
  const bool is_longest = filters_.size() == max_filters;
  if (!options_.grows() || is_longest) {
    // Not into the others: a search for room in all of them would take too long.
    if (filters_.back().insert(digest) == InsertResult::counted) return CuckooInsert::inserted;
    return is_longest ? CuckooInsert::is_longest : CuckooInsert::full;
  }
  // Without memory for another filter, the cells beyond the capacity stay empty: a replica, which has no limit, must not
  // have them used by the master and then grow itself.
  try {
    const DLeftShape shape = shape_of(options_, filters_.front().shape(), filters_.size());
    std::uint64_t bytes = num_bytes(shape);
    for (const Filter& filter : filters_) bytes += num_bytes(filter.shape());
    if (bytes > call.max_key_bytes()) return CuckooInsert::no_room;
    if (!call.has_memory_for(num_bytes(shape))) return CuckooInsert::no_memory;
    filters_.emplace_back(shape, filters_.front().hasher());
  } catch (const std::bad_alloc&) {
    return CuckooInsert::no_memory;
  } catch (const std::invalid_argument&) {  // more than the largest filter
    return CuckooInsert::no_room;
  }
  (void)filters_.back().insert(digest);  // an empty filter has room
  return CuckooInsert::inserted;
}

bool CuckooChain::remove(std::string_view key) {
  const Hash128 digest = digest_of(key);
  return std::any_of(filters_.rbegin(), filters_.rend(), [&](Filter& filter) {
    return filter.may_contain(digest) && filter.remove(digest) == RemoveResult::removed;
  });
}

bool CuckooChain::may_contain(std::string_view key) const noexcept {
  const Hash128 digest = digest_of(key);
  return std::ranges::any_of(filters_, [&](const Filter& filter) { return filter.may_contain(digest); });
}

std::uint64_t CuckooChain::count(std::string_view key) const noexcept {
  const Hash128 digest = digest_of(key);
  std::uint64_t sum = 0;
  for (const Filter& filter : filters_) sum += filter.count(digest).value;
  return sum;
}

std::uint64_t CuckooChain::num_buckets() const noexcept {
  const DLeftShape& shape = filters_.front().shape();
  return shape.buckets_per_subtable * shape.num_subtables;
}

std::uint64_t CuckooChain::num_keys() const noexcept {
  std::uint64_t sum = 0;
  for (const Filter& filter : filters_) {
    // A file that someone forged may have cells that its totals do not count.
    const auto& totals = filter.totals();
    sum += totals.num_insertions - std::min(totals.num_insertions, totals.num_removes);
  }
  return sum;
}

std::uint64_t CuckooChain::num_removes() const noexcept {
  std::uint64_t sum = 0;
  for (const Filter& filter : filters_) sum += filter.totals().num_removes;
  return sum;
}

std::uint64_t CuckooChain::num_spilled() const noexcept {
  std::uint64_t sum = 0;
  for (const Filter& filter : filters_) sum += filter.table().spills().size();
  return sum;
}

std::uint64_t CuckooChain::spill_capacity() const noexcept {
  return filters_.size() * filters_.front().shape().spill_capacity;
}

std::string CuckooChain::parameters() const {
  std::string bytes;
  append_parameter(bytes, std::bit_cast<std::uint64_t>(options_.false_positive_rate));
  append_parameter(bytes, options_.capacity);
  append_parameter(bytes, options_.expansion);
  append_parameter(bytes, options_.bucket_size);
  append_parameter(bytes, options_.max_iterations);
  return bytes;
}

std::vector<FilterView> CuckooChain::filters() const {
  std::vector<FilterView> views(filters_.begin(), filters_.end());
  // Replicas do not receive the insertions that were refused, and so do not count them.
  for (FilterView& view : views) view.totals.num_full = 0;
  return views;
}

void CuckooChain::set_parameters(std::string_view bytes, const std::vector<FileHeader>& headers) {
  const double rate = std::bit_cast<double>(take_parameter(bytes));
  const std::uint64_t capacity = take_parameter(bytes);
  const std::uint64_t expansion = take_parameter(bytes);
  const std::uint64_t bucket_size = take_parameter(bytes);
  const std::uint64_t max_iterations = take_parameter(bytes);
  if (!(rate > 0 && rate < 1)) throw FormatError("the false positive rate is not between 0 and 1", 16);
  if (capacity == 0) throw FormatError("the capacity is 0", 24);
  if (expansion > most_expansion || (expansion & (expansion - 1)) != 0) {
    throw FormatError("the expansion is neither 0 nor a power of two up to 32768", 32);
  }
  if (bucket_size < 1 || bucket_size > 255) throw FormatError("the bucket size is not 1 to 255", 40);
  if (max_iterations < 1 || max_iterations > 65535) {
    throw FormatError("the number of iterations is not 1 to 65535", 48);
  }
  const CuckooChainOptions options{rate, capacity, static_cast<std::uint32_t>(expansion),
                                   static_cast<std::uint32_t>(bucket_size),
                                   static_cast<std::uint32_t>(max_iterations)};
  if (headers.size() > (options.grows() ? max_filters : 1)) throw FormatError("too many filters", 8);
  const auto* first = std::get_if<DLeftShape>(&headers[0].shape.shape);
  for (std::size_t i = 0; i < headers.size(); ++i) {
    const FileHeader& header = headers[i];
    const std::uint64_t offset = 56 + i * file_header_bytes;
    const auto* shape = std::get_if<DLeftShape>(&header.shape.shape);
    if (first == nullptr || shape == nullptr || header.shape.scheme_id != filter_type<Filter>.scheme_id) {
      throw FormatError("the file is not a d-left filter of the default scheme", offset);
    }
    if (header.seed_or_key_id != headers[0].seed_or_key_id) throw FormatError("the seeds differ", offset);
    if (shape->grows || *shape != shape_of(options, *first, i)) {
      throw FormatError("the filter has another size or other fingerprints than the first one", offset);
    }
  }
  options_ = options;
}

void CuckooChain::take(std::vector<AnyFilter> filters) {
  std::vector<Filter> typed;
  typed.reserve(filters.size());
  for (AnyFilter& filter : filters) typed.push_back(std::move(*filter.get_if<Filter>()));
  filters_ = std::move(typed);
}

}  // namespace tally::redis
