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

namespace tally::redis {
namespace {

constexpr double default_rate = 0.01;

StateKind kind_of(const OverOptions& options) {
  return options.window ? StateKind::sums : StateKind::threshold;
}

SumStream::Options sum_options(const OverOptions& options) {
  return {.threshold = options.threshold,
          .memory_bytes = options.memory_bytes.value_or(default_window_bytes),
          .window = options.window,
          .num_slots = options.num_slots,
          .hasher = options.seed};
}

ThresholdStream::Options threshold_options(const OverOptions& options) {
  return {.threshold = options.threshold,
          .num_keys = options.num_keys,
          .memory_bytes = options.memory_bytes,
          .false_positive_rate = options.false_positive_rate,
          .update = options.update,
          .hasher = options.seed};
}

OverStream::Stream stream_of(const OverOptions& options) {
  if (options.window) return SumStream(sum_options(options));
  return ThresholdStream(threshold_options(options));
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

}  // namespace

void require_options_that_fit(const StateLoader& state) {
  const OverOptions options = options_of(state.head());
  const std::uint64_t state_bytes = state.body_bytes();
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

OverStream OverStream::empty(const StateLoader& state) {
  try {
    return OverStream(options_of(state.head()));
  } catch (const std::invalid_argument& error) {
    refuse(error.what());
  }
}

OverStream::OverStream(StateLoader&& state)
    : options_(options_of(state.head())), stream_([&]() -> Stream {
        try {
          StateReader reader =
              std::move(state).reader(kind_of(options_), options_.list(), "the state of a stream");
          Stream stream = options_.window ? Stream(SumStream(sum_options(options_), reader, {}))
                                          : Stream(ThresholdStream(threshold_options(options_), reader, {}));
          reader.finish();
          return stream;
        } catch (const std::invalid_argument& error) {
          refuse(error.what());
        }
      }()) {}

std::span<const ReachedKey> OverStream::add(std::span<const Hash128> digests, Nanoseconds time) {
  if (auto* const counts = std::get_if<ThresholdStream>(&stream_)) return counts->add_batch(digests);
  const std::vector<Nanoseconds> times(digests.size(), time);
  StreamRecords records;
  records.digests = digests;
  records.times = times;
  return std::get<SumStream>(stream_).add(records);
}

// A stream without keys and memory opens filter after filter, each for twice as many keys as the last one.
std::uint64_t OverStream::memory_bytes_with(std::uint64_t num_items) const {
  if (const auto* const sums = std::get_if<SumStream>(&stream_)) return sums->memory_bytes();
  return std::get<ThresholdStream>(stream_).memory_bytes_with(num_items);
}

std::uint64_t OverStream::bytes_of_new_filters(std::uint64_t num_items) const {
  const auto* const counts = std::get_if<ThresholdStream>(&stream_);
  return counts != nullptr ? counts->bytes_of_new_filters(num_items) : 0;
}

std::uint64_t OverStream::most_bytes_to_add(std::uint64_t num_items) const {
  const std::uint64_t of_times = num_items * sizeof(Nanoseconds);
  return of_times +
         std::visit([&](const auto& stream) { return stream.most_bytes_to_add(num_items); }, stream_);
}

StatePieces OverStream::pieces() const {
  return std::visit(
      [&](const auto& stream) { return StatePieces(stream, kind_of(options_), options_.list()); }, stream_);
}

}  // namespace tally::redis
