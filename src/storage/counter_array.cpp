#include "tally/storage/counter_array.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <utility>

#include "storage/counter_words.hpp"
#include "tally/detail/parameter_error.hpp"

namespace tally {
namespace {

constexpr std::uint64_t first_wide_value = 256;

std::uint32_t checked_width(std::uint32_t counter_bits) {
  if (!CounterArray::is_width(counter_bits)) {
    detail::throw_parameter_error("CounterArray", "counter_bits", counter_bits, "1 to 8, 16, 32 or 64");
  }
  return counter_bits;
}

}  // namespace

std::uint32_t CounterArray::width_for(std::uint64_t value) noexcept {
  const auto bits = static_cast<std::uint32_t>(std::bit_width(value));
  return bits <= 8 ? std::max(bits, 1u) : std::bit_ceil(bits);
}

CounterArray::CounterArray(std::uint64_t num_counters, std::uint32_t counter_bits)
    : CounterArray(num_counters, counter_bits,
                   detail::AlignedWords(num_words(num_counters, checked_width(counter_bits)))) {}

CounterArray::CounterArray(std::uint64_t num_counters, std::uint32_t counter_bits, detail::AlignedWords words)
    : words_(std::move(words)),
      num_counters_(num_counters),
      max_(~std::uint64_t{0} >> (64 - checked_width(counter_bits))),
      per_word_(64 / counter_bits),
      counter_bits_(counter_bits) {
  reciprocal_ = ((std::uint64_t{1} << 63) - 1) / per_word_ + 1;  // 2^63 / per_word, rounded up
}

std::uint64_t CounterArray::num_at_least(std::uint64_t value, std::uint64_t begin,
                                         std::uint64_t end) const noexcept {
  if (value > max_) return 0;
  std::uint64_t count = 0;
  std::uint64_t i = begin;
  for (; i < end && i % per_word_ != 0; ++i) count += get(i) >= value;
  // All counters of a word at once: without their top bits no subtraction borrows from the next counter.
  const std::uint64_t low = detail::lowest_bits(counter_bits_);
  const std::uint64_t high = low << (counter_bits_ - 1);
  const std::uint64_t subtracted = (value & max_ >> 1) * low;
  const bool needs_top = value > max_ >> 1;
  for (; i + per_word_ <= end; i += per_word_) {
    const std::uint64_t word = words_.data()[i / per_word_];
    const std::uint64_t rest_is_enough = (word | high) - subtracted;
    count += static_cast<std::uint64_t>(
        std::popcount((needs_top ? word & rest_is_enough : word | rest_is_enough) & high));
  }
  for (; i < end; ++i) count += get(i) >= value;
  return count;
}

std::vector<HistogramBin> CounterArray::histogram() const {
  std::array<std::uint64_t, first_wide_value> narrow{};
  std::array<std::uint64_t, 65> wide{};  // by bit width
  std::uint64_t num_at_max = 0;
  constexpr std::uint32_t few_bits = 4;
  if (counter_bits_ <= few_bits) {  // a pass for each value, each over whole words
    std::uint64_t num_left = num_counters_;
    for (std::uint64_t value = 0; value <= max_ && num_left != 0; ++value) {
      const std::uint64_t num_above = num_at_least(value + 1, 0, num_counters_);
      narrow[value] = num_left - num_above;
      num_left = num_above;
    }
  }
  for (std::uint64_t i = counter_bits_ <= few_bits ? num_counters_ : 0; i < num_counters_; ++i) {
    const std::uint64_t value = get(i);
    if (value < first_wide_value) {
      ++narrow[value];
    } else if (value == max_) {
      ++num_at_max;
    } else {
      ++wide[static_cast<std::size_t>(std::bit_width(value))];
    }
  }
  std::vector<HistogramBin> bins;
  for (std::uint64_t value = 0; value <= std::min(max_, first_wide_value - 1); ++value) {
    bins.push_back({value, value, narrow[value]});
  }
  for (std::uint32_t width = 9; width <= counter_bits_; ++width) {
    const std::uint64_t least = std::uint64_t{1} << (width - 1);
    const std::uint64_t greatest = width == counter_bits_ ? max_ - 1 : 2 * least - 1;
    bins.push_back({least, greatest, wide[width]});
  }
  if (max_ >= first_wide_value) bins.push_back({max_, max_, num_at_max});
  while (bins.size() > 1 && bins.back().num_counters == 0) bins.pop_back();
  return bins;
}

void CounterArray::merge(const CounterArray& other) noexcept {
  // All counters of a word at once. The sum without the top bit of each cannot carry into the next counter.
  // The top bits are then added without carry; where they would have carried, the counter becomes its
  // maximum.
  const std::uint64_t low = detail::lowest_bits(counter_bits_);
  const std::uint64_t high = low << (counter_bits_ - 1);
  for (std::uint64_t i = 0; i < words_.size(); ++i) {
    const std::uint64_t a = words_.data()[i];
    const std::uint64_t b = other.words_.data()[i];
    const std::uint64_t without_top = (a & ~high) + (b & ~high);
    const std::uint64_t sum = without_top ^ ((a ^ b) & high);
    const std::uint64_t overflow = ((a & b) | ((a | b) & without_top)) & high;
    words_.data()[i] = sum | (overflow >> (counter_bits_ - 1)) * max_;
  }
}

void CounterArray::halve() noexcept {
  for (std::uint64_t& word : words_.words()) {
    std::uint64_t halved = 0;
    for (std::uint32_t i = 0; i < per_word_; ++i) {
      const std::uint64_t value = word >> (i * counter_bits_) & max_;
      halved |= (value == max_ ? max_ : value / 2 + value % 2) << (i * counter_bits_);
    }
    word = halved;
  }
}

}  // namespace tally
