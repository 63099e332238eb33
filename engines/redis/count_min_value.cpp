#include "count_min_value.hpp"

#include <limits>
#include <utility>
#include <variant>

namespace tally::redis {
namespace {

__extension__ using Wide = __int128;

constexpr std::uint32_t counter_bits = 32;

/// The sum of the weighted values, or nothing if it is not in [0, greatest] or if a part of it is too large.
template <class ValueOf>
std::optional<std::uint64_t> weighted_sum(std::span<const CountMinValue::Weighted> sources,
                                          std::uint64_t greatest, ValueOf value_of) {
  Wide sum = 0;
  for (const CountMinValue::Weighted& source : sources) {
    const Wide part = Wide{source.weight} * Wide{value_of(source.value->sketch())};
    if (__builtin_add_overflow(sum, part, &sum)) return std::nullopt;
  }
  if (sum < 0 || sum > Wide{greatest}) return std::nullopt;
  return static_cast<std::uint64_t>(sum);
}

}  // namespace

CountMinValue::CountMinValue(std::uint64_t width, std::uint32_t depth) {
  sketch_.emplace(CountMinShape{.width = width, .depth = depth, .counter_bits = counter_bits}, seed);
}

bool CountMinValue::replace_by_sum(std::span<const Weighted> sources) {
  const CountMinShape& shape = sketch_->shape();
  const auto total = weighted_sum(sources, static_cast<std::uint64_t>(std::numeric_limits<long long>::max()),
                                  [](const CountMinSketch<>& source) { return source.total_count(); });
  if (!total) return false;
  CounterArray counters(shape.num_counters(), shape.counter_bits);
  for (std::uint64_t i = 0; i < counters.size(); ++i) {
    const auto sum = weighted_sum(sources, counters.max(),
                                  [i](const CountMinSketch<>& source) { return source.storage().get(i); });
    if (!sum) return false;
    counters.set(i, *sum);
  }
  sketch_.emplace(CountMinShape(shape), seed, *total, 0, std::move(counters));
  return true;
}

void CountMinValue::set_parameters(std::string_view, const std::vector<FileHeader>& headers) {
  if (headers.size() != 1) throw FormatError("the dump has several files; must be one", 8);
  const FileHeader& header = headers[0];
  const auto is_type = filter_type<CountMinSketch<>>;
  if (header.shape.kind() != is_type.kind || header.shape.scheme_id != is_type.scheme_id) {
    throw FormatError("the file is not a Count-Min sketch with the default rows", 16);
  }
  if (header.seed_or_key_id != seed) throw FormatError("the sketch has another seed", 16);
  const auto* shape = std::get_if<CountMinShape>(&header.shape.shape);
  if (shape == nullptr || shape->counter_bits != counter_bits || shape->update != CounterUpdate::plain) {
    throw FormatError("the sketch does not have plain update and counters of 32 bits", 16);
  }
}

void CountMinValue::take(std::vector<AnyFilter> filters) {
  sketch_ = std::move(*filters.front().get_if<CountMinSketch<>>());
}

}  // namespace tally::redis
