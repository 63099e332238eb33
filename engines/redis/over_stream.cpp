#include "over_stream.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "tally/planner.hpp"
#include "tally/serialization/format_error.hpp"
#include "tally/streams/state_reader.hpp"
#include "tally/streams/state_writer.hpp"

namespace tally::redis {
namespace {

constexpr double default_rate = 0.01;

StateKind kind_of(const OverOptions& options) {
  return options.window ? StateKind::sums : StateKind::threshold;
}

OverStream::Stream stream_of(const OverOptions& options) {
  if (options.window) {
    return SumStream({.threshold = options.threshold,
                      .memory_bytes = options.memory_bytes.value_or(default_window_bytes),
                      .window = options.window,
                      .num_slots = options.num_slots,
                      .hasher = options.seed});
  }
  return ThresholdStream({.threshold = options.threshold,
                          .num_keys = options.num_keys,
                          .memory_bytes = options.memory_bytes,
                          .false_positive_rate = options.false_positive_rate,
                          .update = options.update,
                          .hasher = options.seed});
}

std::string text_of(double value) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end};
}

[[noreturn]] void refuse(const std::string& reason) {
  throw FormatError("the state of a stream: " + reason, 0);
}

template <class Number>
std::optional<Number> saved(std::span<const std::byte> state, const char* name) {
  const std::optional<std::string> text = StateReader::saved_option(state, name);
  if (!text) refuse("it has no option " + std::string(name));
  if (text->empty()) return std::nullopt;
  Number value{};
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc{} || end != text->data() + text->size()) {
    refuse("its option " + std::string(name) + " is not a number");
  }
  return value;
}

template <class Number>
Number saved_number(std::span<const std::byte> state, const char* name) {
  const std::optional<Number> value = saved<Number>(state, name);
  if (!value) refuse("its option " + std::string(name) + " is empty");
  return *value;
}

OverOptions options_of(std::span<const std::byte> state) {
  OverOptions options;
  options.threshold = saved_number<std::uint64_t>(state, "N");
  options.window = saved<Nanoseconds>(state, "window");
  options.num_slots = saved_number<std::uint32_t>(state, "slots");
  options.memory_bytes = saved<std::uint64_t>(state, "memory");
  options.num_keys = saved<std::uint64_t>(state, "keys");
  options.false_positive_rate = saved<double>(state, "false-positive-rate");
  options.seed = saved_number<std::uint64_t>(state, "seed");
  const std::optional<std::string> update = StateReader::saved_option(state, "update");
  options.update =
      update == name_of(CounterUpdate::conservative) ? CounterUpdate::conservative : CounterUpdate::plain;
  return options;
}

/// A stream allocates its memory when it is made. So its options must fit the state, which has all of that.
void require_options_that_fit(const OverOptions& options, std::uint64_t state_bytes) {
  constexpr double most_factor = 8;
  const double rate = options.false_positive_rate.value_or(default_rate);
  if (options.num_slots > 1000) refuse("it has more than 1000 slots");
  if (!(rate > 0 && rate < 1)) refuse("the false positive rate is out of range");
  double bytes = 0;
  if (options.window) bytes = static_cast<double>(options.memory_bytes.value_or(default_window_bytes));
  else if (options.memory_bytes) bytes = static_cast<double>(*options.memory_bytes);
  if (options.num_keys && !options.memory_bytes) {
    const double positions = static_cast<double>(*options.num_keys) * std::max(0.1, -2.1 * std::log(rate));
    bytes = positions * static_cast<double>(std::bit_width(options.threshold)) / 8;
  }
  if (bytes > most_factor * static_cast<double>(state_bytes) + 65536)
    refuse("it is too short for its options");
}

}  // namespace

StateOptions OverOptions::list() const {
  const auto text = [](const auto& value) { return value ? std::to_string(*value) : std::string(); };
  return {{"N", std::to_string(threshold)},
          {"window", text(window)},
          {"slots", std::to_string(num_slots)},
          {"memory", text(memory_bytes)},
          {"keys", text(num_keys)},
          {"false-positive-rate", false_positive_rate ? text_of(*false_positive_rate) : ""},
          {"update", std::string(name_of(update))},
          {"seed", std::to_string(seed)}};
}

OverStream::OverStream(const OverOptions& options) : options_(options), stream_(stream_of(options)) {}

OverStream::OverStream(std::vector<std::byte> state)
    : options_([&] {
        const OverOptions options = options_of(state);
        require_options_that_fit(options, state.size());
        return options;
      }()),
      stream_([&] {
        try {
          return stream_of(options_);
        } catch (const std::invalid_argument& error) {
          refuse(error.what());
        }
      }()) {
  try {
    StateReader reader(std::move(state), kind_of(options_), options_.list(), "the state of a stream");
    std::visit([&](auto& stream) { stream.restore(reader, {}); }, stream_);
    reader.finish();
  } catch (const StateMismatch& error) {
    refuse(error.what());
  }
}

std::span<const ReachedKey> OverStream::add(std::span<const Hash128> digests, Nanoseconds time) {
  num_items_before_check_ -= std::min<std::uint64_t>(num_items_before_check_, digests.size());
  if (auto* const counts = std::get_if<ThresholdStream>(&stream_)) return counts->add_batch(digests);
  const std::vector<Nanoseconds> times(digests.size(), time);
  StreamRecords records;
  records.digests = digests;
  records.times = times;
  return std::get<SumStream>(stream_).add(records);
}

// A stream without keys and memory opens filter after filter, each for twice as many keys as the last one.
bool OverStream::has_room_for(std::uint64_t num_items, std::uint64_t max_bytes) {
  const auto* const counts = std::get_if<ThresholdStream>(&stream_);
  if (counts == nullptr || options_.memory_bytes) return true;  // its memory never changes
  if (num_items <= num_items_before_check_ && max_bytes >= checked_for_bytes_) return true;
  const ThresholdStreamStatistics now = counts->statistics();
  const std::uint64_t exact_keys = ThresholdStream::Options{}.exact_keys;
  constexpr std::uint64_t first_plan_factor = 16;
  double opens_at = 0;
  double bytes_then = 0;
  if (now.counts_exactly) {
    opens_at = static_cast<double>(exact_keys);
    const ThresholdShape first =
        plan_threshold({.num_keys = first_plan_factor * exact_keys,
                        .false_positive_rate = options_.false_positive_rate.value_or(default_rate) / 3,
                        .threshold = options_.threshold});
    bytes_then = 1.1 * static_cast<double>(tally::num_bytes(first));
  } else {
    const double first = static_cast<double>(std::max<std::uint64_t>(1, counts->planned_keys()));
    opens_at = 0.9 * first * (std::ldexp(1.0, static_cast<int>(now.num_generations)) - 1);
    bytes_then = 3.5 * static_cast<double>(now.memory_bytes);
  }
  // The set of reported keys also grows: by 16 bytes per key, up to 4 times as much while it doubles.
  const auto distinct = static_cast<double>(now.num_distinct_keys);
  const double set_bytes = 64.0 * (static_cast<double>(now.num_reported) + static_cast<double>(num_items));
  const bool stays = distinct + static_cast<double>(num_items) <= opens_at;
  const double bytes = (stays ? static_cast<double>(now.memory_bytes) : bytes_then) + set_bytes;
  if (bytes > static_cast<double>(max_bytes)) return false;
  const double left = std::max(0.0, opens_at - distinct);
  const double set_left = (static_cast<double>(max_bytes) - bytes) / 64;
  num_items_before_check_ =
      num_items + static_cast<std::uint64_t>(
                      stays ? std::min({left - static_cast<double>(num_items), set_left, 1e15}) : 0);
  checked_for_bytes_ = max_bytes;
  return true;
}

std::vector<std::byte> OverStream::state() const {
  StateWriter writer(kind_of(options_), options_.list());
  std::visit([&](const auto& stream) { stream.save(writer); }, stream_);
  return writer.bytes();
}

std::uint64_t OverStream::memory_bytes() const {
  if (const auto* const sums = std::get_if<SumStream>(&stream_)) return sums->memory_bytes();
  return std::get<ThresholdStream>(stream_).statistics().memory_bytes;
}

}  // namespace tally::redis
