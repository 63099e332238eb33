#include <map>

#include "describe.hpp"
#include "fail_each.hpp"
#include "support/file_bytes.hpp"
#include "support/random.hpp"
#include "tally/streams/state_loader.hpp"
#include "tally/streams/state_pieces.hpp"
#include "tally/streams/state_reader.hpp"
#include "tally/streams/state_writer.hpp"
#include "tally/streams/sum.hpp"
#include "tally/streams/threshold.hpp"
#include "tally/streams/top.hpp"

// Streams, where there is no memory.

namespace tally::test {
namespace {

constexpr std::uint64_t threshold = 3;
constexpr std::size_t batch_size = 64;

/// Keys of 1 to 40 bytes and their digests, some of them often.
struct Stream {
  explicit Stream(std::size_t length) {
    Random random(5);
    for (std::size_t i = 0; i < length; ++i) {
      std::string text = std::to_string(random.below(random.below(600) + 1));
      text.resize(text.size() + text.back() % 40, '-');
      texts.push_back(std::move(text));
    }
    keys.assign(texts.begin(), texts.end());
    for (const std::string_view key : keys) digests.push_back(KeyHasher(0)(key));
    for (std::size_t i = 0; i < length; ++i) weights.push_back(1 + i % 5);
  }
  /// use(records) for every batch.
  template <class Use>
  void for_each_batch(Use use) const {
    for (std::size_t begin = 0; begin < keys.size(); begin += batch_size) {
      use(StreamRecords{keys, digests, weights, {}}.part(begin, std::min(begin + batch_size, keys.size())));
    }
  }

  std::vector<std::string> texts;
  std::vector<std::string_view> keys;
  std::vector<Hash128> digests;
  std::vector<std::uint64_t> weights;
};

/// As over has them: exact counting that gives way to filters of several generations; planned; in bounded memory; and
/// with nothing to count.
std::vector<ThresholdStream::Options> threshold_options() {
  std::vector<ThresholdStream::Options> all(4);
  for (ThresholdStream::Options& options : all) options.threshold = threshold;
  all[0].exact_keys = 20;
  all[1].num_keys = 40;
  all[2].memory_bytes = 1 << 15;
  all[3].threshold = 1;
  return all;
}
SumStream::Options sum_options() {
  SumStream::Options options;
  options.threshold = 20;
  options.memory_bytes = 1 << 15;
  return options;
}
TopStream::Options top_options(bool space_saving) {
  TopStream::Options options;
  options.capacity = 8;
  options.sketch = {31, 2, 1, 64};
  options.space_saving = space_saving;
  return options;
}

template <class Object>
Bytes state_of(const Object& stream, StateKind kind) {
  StateWriter writer(kind, {});
  stream.save(writer);
  return writer.bytes();
}

// Of the streams, only `over` may go on after a batch that found no memory: what was counted of it is counted twice then.
TEST(Allocation, ABatchThatFoundNoMemoryAndIsGivenAgainCostsAThresholdStreamNoKey) {
  const Stream stream(1500);
  struct Key {
    std::uint64_t count = 0;
    bool is_reported = false;
  };
  std::map<std::string_view, Key> all;
  for (const std::string_view key : stream.keys) ++all[key].count;
  for (const ThresholdStream::Options& options : threshold_options()) {
    const std::uint64_t least = options.threshold;
    std::uint64_t num_refused = 0;
    for (std::uint64_t which = 0, is_refused = 1; is_refused != 0; which += 1 + which / 16) {
      for (auto& [text, key] : all) key.is_reported = false;
      ThresholdStream over(options);
      std::int64_t left = static_cast<std::int64_t>(which);
      is_refused = 0;
      stream.for_each_batch([&](const StreamRecords& records) {
        const auto note_reports = [&] {
          for (const ReachedKey& key : over.reached())
            all.find(records.keys[key.index])->second.is_reported = true;
        };
        const auto add = [&] {
          over.add_batch(records.digests);
          note_reports();
        };
        if (left < 0) return add();
        bool has_thrown = false;
        {
          const FailingAllocation failing(static_cast<std::uint64_t>(left));
          try {
            add();
          } catch (const std::bad_alloc&) {
            has_thrown = true;
            note_reports();
          }
          left -= static_cast<std::int64_t>(FailingAllocation::num_requests());
          is_refused |= FailingAllocation::has_failed();
        }
        if (has_thrown) add();
      });
      num_refused += is_refused;
      for (const auto& [text, key] : all) {
        ASSERT_TRUE(key.count < least || key.is_reported) << text << " is missed after refusal " << which;
      }
    }
    EXPECT_GT(num_refused, 3u);
  }
}

template <class Stream>
void add(Stream& stream, const StreamRecords& records) {
  stream.add(records);
}
void add(ThresholdStream& stream, const StreamRecords& records) { stream.add_batch(records.digests); }

/// `make()` gives the empty stream.
template <class Make>
void expect_states_are_whole(StateKind kind, const Stream& stream, Make make) {
  auto fed = make();
  stream.for_each_batch([&](const StreamRecords& records) { add(*fed, records); });
  const Bytes whole = state_of(*fed, kind);
  EXPECT_GT(fail_each(
                "saved", [] { return Bytes(); }, [&](Bytes& state) { state = state_of(*fed, kind); },
                [](const Bytes& state) { return state; }),
            1u);
  EXPECT_TRUE(state_of(*fed, kind) == whole);
  EXPECT_GT(
      fail_each(
          "restored", [] { return decltype(make())(); },
          [&](decltype(make())& restored) {
            StateReader state(whole, kind, {}, "this");
            auto made = make();
            made->restore(state, std::nullopt);
            state.finish();
            restored = std::move(made);
          },
          [&](const decltype(make())& restored) { return restored ? state_of(*restored, kind) : Bytes{}; }),
      3u);
  // Adding: nothing worse than the exception.
  for (std::uint64_t which = 0, is_refused = 1; is_refused != 0; which += 1 + which / 8) {
    is_refused = 0;
    const FailingAllocation failing(which);
    try {
      auto unlucky = make();
      stream.for_each_batch([&](const StreamRecords& records) { add(*unlucky, records); });
      EXPECT_FALSE(FailingAllocation::has_failed() && which < 2)
          << "the first requests cannot be done without";
    } catch (const std::bad_alloc&) {
      EXPECT_TRUE(FailingAllocation::has_failed());
    }
    is_refused = FailingAllocation::has_failed();
  }
}

/// The stream that wrote these pieces.
template <class Stream>
std::unique_ptr<Stream> loaded(const StatePieces& pieces, StateKind kind,
                               const typename Stream::Options& options) {
  StateLoader loader({pieces.head().begin(), pieces.head().end()});
  while (!loader.is_complete()) loader.add(pieces.body_piece(loader.loaded_bytes(), 1000));
  StateReader reader = std::move(loader).reader(kind, {}, "this");
  auto stream = std::make_unique<Stream>(options, reader, std::nullopt);
  reader.finish();
  return stream;
}

template <class Streams>
void expect_pieces_are_whole(StateKind kind, const Stream& stream, const typename Streams::Options& options) {
  Streams fed(options);
  stream.for_each_batch([&](const StreamRecords& records) { add(fed, records); });
  const StatePieces pieces(fed, kind, {});
  EXPECT_GT(fail_each(
                "saved in pieces", [] { return Bytes(); },
                [&](Bytes& head) {
                  const StatePieces again(fed, kind, {});
                  head.assign(again.head().begin(), again.head().end());
                },
                [](const Bytes& head) { return head; }),
            1u);
  EXPECT_GT(fail_each(
                "loaded in pieces", [] { return std::unique_ptr<Streams>(); },
                [&](std::unique_ptr<Streams>& made) { made = loaded<Streams>(pieces, kind, options); },
                [&](const std::unique_ptr<Streams>& made) { return made ? state_of(*made, kind) : Bytes{}; }),
            3u);
}

TEST(Allocation, AStateInPiecesIsSavedAndLoadedWholeOrNotAtAll) {
  const Stream stream(700);
  for (const ThresholdStream::Options& options : threshold_options()) {
    expect_pieces_are_whole<ThresholdStream>(StateKind::threshold, stream, options);
  }
  expect_pieces_are_whole<SumStream>(StateKind::sums, stream, sum_options());
}

TEST(Allocation, AStateIsSavedAndRestoredWholeOrNotAtAll) {
  const Stream stream(700);
  for (const ThresholdStream::Options& options : threshold_options()) {
    expect_states_are_whole(StateKind::threshold, stream,
                            [&] { return std::make_unique<ThresholdStream>(options); });
  }
  expect_states_are_whole(StateKind::sums, stream, [] { return std::make_unique<SumStream>(sum_options()); });
  for (const bool space_saving : {false, true}) {
    expect_states_are_whole(StateKind::top, stream,
                            [&] { return std::make_unique<TopStream>(top_options(space_saving)); });
  }
}

}  // namespace
}  // namespace tally::test
