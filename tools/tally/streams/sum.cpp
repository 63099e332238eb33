#include "streams/sum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "streams/state.hpp"
#include "tally/filters/key_batch.hpp"
#include "text/output.hpp"

namespace tally::cli {
namespace {

constexpr std::uint32_t depth = 4;
constexpr std::uint64_t row_bytes = 8;  // of a counter
constexpr std::uint64_t set_share = 4;  // of the memory, the reported keys have a quarter
constexpr std::uint64_t least_slot_bytes = 4096;

std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) {
  return a + b < a ? ~std::uint64_t{0} : a + b;
}

std::uint64_t slots_of(const SumStream::Options& options) {
  return options.window ? std::uint64_t{options.num_slots} + 1 : 1;
}

std::uint64_t slot_bytes(const SumStream::Options& options) {
  const std::uint64_t bytes = options.memory_bytes / slots_of(options);
  if (bytes >= least_slot_bytes) return bytes;
  throw std::invalid_argument(fmt::format(
      "--memory is {}; {} slots need at least {}", human_bytes(static_cast<double>(options.memory_bytes)),
      slots_of(options), human_bytes(static_cast<double>(slots_of(options) * least_slot_bytes))));
}

}  // namespace

SumStream::SumStream(const Options& options, Report report, Notice notice)
    : options_(options),
      report_(std::move(report)),
      notice_(std::move(notice)),
      set_bytes_(slot_bytes(options) / set_share),
      clock_(options.window ? std::max<Nanoseconds>(1, *options.window / options.num_slots) : 1,
             options.window.value_or(1)) {
  const std::uint64_t width = (slot_bytes(options) - set_bytes_) / (depth * row_bytes);
  const CountMinShape shape{width, depth, 1, 8 * row_bytes, CounterUpdate::conservative};
  for (std::uint64_t i = 0; i < slots_of(options); ++i) {
    slots_.push_back({CountMinSketch<>(shape, options.hasher), HashSet(set_bytes_)});
  }
}

void SumStream::add(const Records& records) {
  if (!options_.window) return add_part(records);
  clock_.split(
      records, [&](const Records& part) { add_part(part); },
      [&](std::uint64_t num_steps) { pass(num_steps); });
}

void SumStream::pass(std::uint64_t num_steps) {
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(num_steps, slots_.size()); ++i) {
    current_ = current_ + 1 == slots_.size() ? 0 : current_ + 1;
    slots_[current_].sums.clear();
    slots_[current_].reported.clear();
  }
}

void SumStream::add_part(const Records& records) {
  num_counted_ += records.size();
  for (std::size_t first = 0; first < records.size(); first += keys_per_window) {
    add_window(records.part(first, std::min(first + keys_per_window, records.size())));
  }
}

/// At most keys_per_window of them. The older slots do not change meanwhile, so their part of the sums can be
/// read at once; the current one is read key by key, and asking for it before only brings its counters near.
void SumStream::add_window(const Records& records) {
  std::array<Count, keys_per_window> counts;
  std::array<std::uint64_t, keys_per_window> before{};
  const std::span<Count> results(counts.data(), records.size());
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    slots_[s].sums.count_batch(records.digests, results);
    if (s == current_) continue;
    for (std::size_t i = 0; i < records.size(); ++i) before[i] = saturating_sum(before[i], counts[i].value);
  }
  CountMinSketch<>& sums = slots_[current_].sums;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Hash128 digest = records.digests[i];
    const std::uint64_t weight = records.weights.empty() ? 1 : records.weights[i];
    sums.add(digest, weight);
    const std::uint64_t sum = saturating_sum(before[i], sums.count(digest).value);
    if (sum >= options_.threshold && weight > 0) report_key(records.keys[i], digest, sum);
  }
}

bool SumStream::is_reported(Hash128 digest) const noexcept {
  return std::any_of(slots_.begin(), slots_.end(),
                     [&](const Slot& slot) { return slot.reported.contains(digest); });
}

void SumStream::report_key(std::string_view key, Hash128 digest, std::uint64_t sum) {
  if (is_reported(digest)) return;
  HashSet& reported = slots_[current_].reported;
  if (reported.insert_growing(digest) == HashSet::Outcome::full && num_repeats_possible_++ == 0) {
    notice_(fmt::format(
        "the set of reported keys is full at {} keys: no key is missed, but keys may be printed again; "
        "give more --memory",
        reported.size()));
  }
  ++num_reported_;
  report_(key, sum);
}

void SumStream::save(StateWriter& state) const {
  for (const std::uint64_t number :
       {num_counted_, num_reported_, num_repeats_possible_, std::uint64_t{current_}}) {
    state.number(number);
  }
  write(state, clock_);
  for (const Slot& slot : slots_) {
    state.filter(AnyFilter(slot.sums));
    state.numbers(slot.reported.image());
  }
}

void SumStream::restore(StateReader& state, const std::optional<HashKey>& key) {
  for (std::uint64_t* const number : {&num_counted_, &num_reported_, &num_repeats_possible_}) {
    *number = state.number();
  }
  current_ = state.number_at_most(slots_.size() - 1);
  read(state, clock_);
  for (Slot& slot : slots_) {
    auto sums = state.filter_of<CountMinSketch<>>(options_.hasher, key);
    if (sums.shape() != slot.sums.shape()) state.fail("a sketch of another shape");
    slot.sums = std::move(sums);
    const std::vector<std::uint64_t> image = state.numbers();
    slot.reported = state.made([&] { return HashSet(set_bytes_, image); });
  }
}

std::uint64_t SumStream::total() const noexcept {
  std::uint64_t sum = 0;
  for (const Slot& slot : slots_) sum = saturating_sum(sum, slot.sums.total_count());
  return sum;
}

std::uint64_t SumStream::memory_bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const Slot& slot : slots_) sum += num_bytes(slot.sums.shape()) + slot.reported.num_bytes();
  return sum;
}

}  // namespace tally::cli
