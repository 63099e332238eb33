#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "random.hpp"
#include "tally/streams/records.hpp"
#include "tally/streams/state_reader.hpp"
#include "tally/streams/state_writer.hpp"
#include "tally/streams/sum.hpp"
#include "tally/streams/threshold.hpp"
#include "tally/streams/top.hpp"

namespace tally::test {

/// Records whose keys come with frequencies that fall with their rank, weights of 0 to 4, and times that mostly rise.
class SampleRecords {
 public:
  SampleRecords(std::size_t num_records, std::uint64_t num_keys, std::uint64_t seed,
                const KeyHasher& hasher = 42) {
    Random random(seed);
    Nanoseconds time = 1'000;
    for (std::size_t i = 0; i < num_records; ++i) {
      const std::uint64_t rank = random.below(random.below(random.below(num_keys) + 1) + 1);
      texts_.push_back("key " + std::to_string(rank) + std::string(rank % 30, '.'));
      weights_.push_back(random.below(5));
      time += static_cast<Nanoseconds>(random.below(20));
      times_.push_back(random.below(50) == 0 ? time - static_cast<Nanoseconds>(random.below(3'000)) : time);
    }
    keys_.assign(texts_.begin(), texts_.end());
    for (const std::string_view key : keys_) digests_.push_back(hasher(key));
  }
  SampleRecords(const SampleRecords&) = delete;
  SampleRecords& operator=(const SampleRecords&) = delete;

  StreamRecords all() const { return {keys_, digests_, weights_, times_}; }
  std::size_t size() const { return keys_.size(); }

 private:
  std::vector<std::string> texts_;
  std::vector<std::string_view> keys_;
  std::vector<Hash128> digests_;
  std::vector<std::uint64_t> weights_;
  std::vector<Nanoseconds> times_;
};

// One way to add to each stream, and to save it.

inline std::span<const ReachedKey> add_to(ThresholdStream& stream, const StreamRecords& records) {
  return stream.add_batch(records.digests);
}
inline std::span<const ReachedKey> add_to(SumStream& stream, const StreamRecords& records) {
  return stream.add(records);
}
inline std::span<const ReachedKey> add_to(TopStream& stream, const StreamRecords& records) {
  stream.add(records);
  return {};
}

inline StateKind kind_of(const ThresholdStream&) { return StateKind::threshold; }
inline StateKind kind_of(const SumStream&) { return StateKind::sums; }
inline StateKind kind_of(const TopStream&) { return StateKind::top; }

inline const StateOptions sample_state_options{{"N", "3"}, {"of", ""}};

template <class Stream>
std::vector<std::byte> state_of(const Stream& stream) {
  StateWriter state(kind_of(stream), sample_state_options);
  stream.save(state);
  return state.bytes();
}

/// Restores an empty stream. Throws what StateReader throws.
template <class Stream>
void restore(Stream& stream, const std::vector<std::byte>& bytes, const std::optional<HashKey>& key = {}) {
  StateReader state(bytes, kind_of(stream), sample_state_options, "bytes");
  stream.restore(state, key);
  state.finish();
}

}  // namespace tally::test
