#pragma once

#include <cstdint>

#include "tally/detail/batches/counter_reads.hpp"
#include "tally/detail/batches/counter_writes.hpp"
#include "tally/detail/batches/line_copy.hpp"
#include "tally/storage/counter_view.hpp"

namespace tally::detail {

/// What a CountingBloomFilter does with the counters of a key, in a line that several threads use and one of them may change.
/// Works on a copy: while remove_at finds out that a key is absent, counters of other keys are too low.
template <HashScheme Scheme>
class LineCounters {
 public:
  explicit LineCounters(PositionSpace space) noexcept : scheme_(one_line(space)) {}

  /// `array` is the one with the line.
  InsertResult insert(const CounterArray& array, std::uint64_t* line, Hash128 hash) const noexcept {
    LineCopy copy(line);
    const View<std::uint64_t> counters(array, copy.words);
    const InsertResult result = insert_at(counters, KeyPlaces(scheme_, counters, hash));
    copy.write_to(line);
    return result;
  }

  RemoveResult remove(const CounterArray& array, std::uint64_t* line, Hash128 hash) const noexcept {
    LineCopy copy(line);
    const View<std::uint64_t> counters(array, copy.words);
    const RemoveResult result = remove_at(counters, KeyPlaces(scheme_, counters, hash));
    if (result != RemoveResult::refused) copy.write_to(line);
    return result;
  }

  Count count(const CounterArray& array, std::uint64_t* line, Hash128 hash) const noexcept {
    const LineCopy copy(line);
    const View<const std::uint64_t> counters(array, copy.words);
    const std::uint64_t least = least_at(counters, KeyPlaces(scheme_, counters, hash));
    return {least, least == array.max()};
  }

 private:
  template <class Word>
  using View = CounterView<false, Word>;

  static PositionSpace one_line(PositionSpace space) noexcept {
    space.num_positions = space.positions_per_line;
    return space;
  }

  Scheme scheme_;  // of an array that is one line
};

}  // namespace tally::detail
