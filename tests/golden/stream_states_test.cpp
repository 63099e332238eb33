// The bytes of states of streams must never change within a version: a run that stopped yesterday has to go on today.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "file_bytes.hpp"
#include "sample_filters.hpp"
#include "sample_streams.hpp"
#include "tally/detail/format_error.hpp"

namespace tally {
namespace {

namespace fs = std::filesystem;
using test::Bytes;

/// What a state is made by, and what becomes of it when the stream goes on.
struct Golden {
  std::string name;
  std::function<Bytes(const StreamRecords& first)> save;
  std::function<Bytes(const Bytes& state, const StreamRecords& rest)> resume;
};

template <class Stream>
Golden golden(std::string name, const typename Stream::Options& options) {
  const auto make = [options] {
    Stream stream(options);
    return stream;
  };
  return {std::move(name),
          [make](const StreamRecords& first) {
            auto stream = make();
            test::add_to(stream, first);
            return test::state_of(stream);
          },
          [make](const Bytes& state, const StreamRecords& rest) {
            auto stream = make();
            test::restore(stream, state, test::sample_hash_key());
            test::add_to(stream, rest);
            return test::state_of(stream);
          }};
}

std::vector<Golden> golden_states() {
  const KeyHasher keyed = KeyHasher::keyed(test::sample_hash_key());
  const CountMinShape sketch{13, 2, 1, 64, CounterUpdate::conservative};
  return {
      golden<ThresholdStream>("threshold-exact", {.threshold = 3, .hasher = 42}),
      golden<ThresholdStream>("threshold-generations", {.threshold = 3, .hasher = 42, .exact_keys = 4}),
      golden<ThresholdStream>("threshold-planned",
                              {.threshold = 3, .num_keys = 60, .memory_bytes = 4'096, .hasher = 42}),
      golden<ThresholdStream>("threshold-memory", {.threshold = 2, .memory_bytes = 4'096, .hasher = 42}),
      golden<ThresholdStream>("threshold-first-sight", {.threshold = 1, .memory_bytes = 4'096, .hasher = 42}),
      golden<ThresholdStream>("threshold-keyed", {.threshold = 3, .memory_bytes = 4'096, .hasher = keyed}),
      golden<SumStream>("sums", {.threshold = 9, .memory_bytes = 4'096, .hasher = 42}),
      golden<SumStream>(
          "sums-window",
          {.threshold = 9, .memory_bytes = 12'288, .window = 1'000, .num_slots = 2, .hasher = 42}),
      golden<TopStream>("top", {.capacity = 7, .sketch = sketch, .hasher = 42}),
      golden<TopStream>("top-space-saving", {.capacity = 7, .space_saving = true, .hasher = 42}),
      golden<TopStream>("top-window",
                        {.capacity = 7, .sketch = sketch, .window = 1'000, .num_slots = 2, .hasher = 42}),
  };
}

/// The same state as the first programs of version 2 saved it: without what the generations counted.
Bytes without_visits(const Bytes& state) {
  StateReader from(state, StateKind::threshold, test::sample_state_options, "bytes");
  StateWriter to(StateKind::threshold, test::sample_state_options);
  for (int i = 0; i < 6; ++i) to.number(from.number());
  EXPECT_FALSE(from.numbers().empty());
  to.numbers({});
  const std::uint64_t num_generations = from.number();
  to.number(num_generations);
  for (std::uint64_t i = 0; i < num_generations; ++i) {
    for (int j = 0; j < 3; ++j) to.number(from.number());
    to.filter(from.filter(std::nullopt));
  }
  to.numbers(from.numbers());
  from.finish();
  return to.bytes();
}

/// Sets of reported keys are mostly empty: a golden file has the state's size, and position and value of each word of 8 bytes
/// that is not 0.
Bytes without_zeros(const Bytes& state) {
  constexpr std::size_t word_bytes = 8;
  Bytes padded = state;
  padded.resize((state.size() + word_bytes - 1) / word_bytes * word_bytes);
  std::vector<std::uint64_t> words{state.size()};
  for (std::size_t at = 0; at < padded.size(); at += word_bytes) {
    const auto word = test::get_field<std::uint64_t>(padded, at);
    if (word != 0) words.insert(words.end(), {at, word});
  }
  const auto bytes = std::as_bytes(std::span(words));
  return {bytes.begin(), bytes.end()};
}

Bytes with_zeros(const Bytes& golden) {
  Bytes state(test::get_field<std::uint64_t>(golden, 0) + 8);
  for (std::size_t at = 8; at < golden.size(); at += 16)
    test::set_field(state, test::get_field<std::uint64_t>(golden, at),
                    test::get_field<std::uint64_t>(golden, at + 8));
  state.resize(state.size() - 8);
  return state;
}

fs::path golden_directory() { return fs::path(TALLY_TEST_DATA_DIR) / "golden"; }
fs::path directory() { return golden_directory() / "states"; }
fs::path path_of(const std::string& name) { return directory() / (name + ".words"); }
Bytes read_state(const std::string& name) { return with_zeros(test::read_bytes(path_of(name))); }

class GoldenStates : public testing::Test {
 protected:
  test::SampleRecords sample_{400, 150, 21};
  const ThresholdStream::Options generations_{.threshold = 3, .hasher = 42, .exact_keys = 4};
  test::SampleRecords keyed_sample_{400, 150, 21, KeyHasher::keyed(test::sample_hash_key())};

  StreamRecords records(const Golden& golden) const {
    return golden.name.ends_with("keyed") ? keyed_sample_.all() : sample_.all();
  }
};

TEST_F(GoldenStates, HoldTheVeryBytesThatTheStreamSavesToday) {
  for (const Golden& golden : golden_states()) {
    SCOPED_TRACE(golden.name);
    const Bytes state = golden.save(records(golden).part(0, 200));
    if (std::getenv("TALLY_WRITE_GOLDEN") != nullptr && !fs::exists(path_of(golden.name)))
      test::write_bytes(path_of(golden.name), without_zeros(state));
    EXPECT_TRUE(read_state(golden.name) == state);
  }
}

TEST_F(GoldenStates, AreAllOfThoseInTheDirectory) {
  EXPECT_EQ(static_cast<std::size_t>(std::distance(fs::directory_iterator(directory()), {})),
            golden_states().size());
}

TEST_F(GoldenStates, AreReadAndGoOnAsTheOriginal) {
  for (const Golden& golden : golden_states()) {
    SCOPED_TRACE(golden.name);
    EXPECT_TRUE(golden.resume(read_state(golden.name), records(golden).part(200, 400)) ==
                golden.save(records(golden)));
  }
}

TEST_F(GoldenStates, OfTheFirstProgramsGoOnWithoutTheNumberOfFalseReports) {
  ThresholdStream whole(generations_);
  test::add_to(whole, sample_.all());
  ThresholdStream resumed(generations_);
  test::restore(resumed, without_visits(read_state("threshold-generations")));
  test::add_to(resumed, sample_.all().part(200, 400));
  EXPECT_TRUE(whole.statistics().num_expected_false_reports.has_value());
  EXPECT_FALSE(resumed.statistics().num_expected_false_reports.has_value());
  EXPECT_EQ(resumed.statistics().num_reported, whole.statistics().num_reported);
  EXPECT_EQ(resumed.statistics().num_distinct_keys, whole.statistics().num_distinct_keys);
}

// Before the planner knew the exact law of small filters, it gave the first one a hash more; before it knew that a key's own
// positions may coincide, it gave the others fewer counters.
TEST_F(GoldenStates, OfAnEarlierPlanGoOnWithTheFiltersThatTheyHave) {
  const std::vector<std::pair<std::string, ThresholdStream::Options>> earlier{
      {"threshold-planned", {.threshold = 3, .num_keys = 60, .memory_bytes = 4'096, .hasher = 42}},
      {"threshold-generations", generations_},
      {"threshold-memory", {.threshold = 2, .memory_bytes = 4'096, .hasher = 42}},
      {"threshold-keyed",
       {.threshold = 3, .memory_bytes = 4'096, .hasher = KeyHasher::keyed(test::sample_hash_key())}},
  };
  for (const auto& [name, options] : earlier) {
    SCOPED_TRACE(name);
    const test::SampleRecords& sample = name.ends_with("keyed") ? keyed_sample_ : sample_;
    ThresholdStream whole(options);
    test::add_to(whole, sample.all());
    ThresholdStream resumed(options);
    const Bytes state =
        with_zeros(test::read_bytes(golden_directory() / "states_of_earlier_plans" / (name + ".words")));
    test::restore(resumed, state, test::sample_hash_key());
    test::add_to(resumed, sample.all().part(200, 400));
    EXPECT_EQ(resumed.statistics().num_keys, whole.statistics().num_keys);
    EXPECT_EQ(resumed.statistics().num_reported, whole.statistics().num_reported);
    EXPECT_NEAR(static_cast<double>(resumed.statistics().num_distinct_keys),
                static_cast<double>(whole.statistics().num_distinct_keys), 2);
    EXPECT_FALSE(test::state_of(resumed) == test::state_of(whole));
  }
}

TEST_F(GoldenStates, OfAnotherVersionAreRefusedByItsNumber) {
  Bytes state = read_state("sums");
  test::set_field<std::uint16_t>(state, 8, 3);
  SumStream stream({.threshold = 9, .memory_bytes = 4'096, .hasher = 42});
  try {
    test::restore(stream, state);
    ADD_FAILURE();
  } catch (const FormatError& error) {
    EXPECT_EQ(error.reason(), "version is 3; must be 2");
  }
}

}  // namespace
}  // namespace tally
