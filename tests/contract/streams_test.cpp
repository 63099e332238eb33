// The laws of streams, against exact counts.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sample_streams.hpp"
#include "tally/detail/format_error.hpp"
#include "tally/streams/exact_check.hpp"
#include "tally/streams/state_loader.hpp"
#include "tally/streams/state_pieces.hpp"

namespace tally {
namespace {

using test::add_to;
using test::Random;
using test::SampleRecords;

/// A report, by its record in the whole stream.
struct Report {
  std::size_t at = 0;
  std::uint64_t count = 0;
  friend bool operator==(const Report&, const Report&) = default;
};

/// Adds the records from `begin` on, in batches of next_size().
template <class Stream, class NextSize>
std::vector<Report> feed(Stream& stream, const StreamRecords& records, NextSize next_size,
                         std::size_t begin = 0) {
  std::vector<Report> reports;
  while (begin < records.size()) {
    const std::size_t end = std::min(begin + static_cast<std::size_t>(next_size()), records.size());
    for (const ReachedKey& key : add_to(stream, records.part(begin, end))) {
      EXPECT_LT(key.index, end - begin);
      reports.push_back({begin + key.index, key.count});
    }
    begin = end;
  }
  return reports;
}
template <class Stream>
std::vector<Report> feed(Stream& stream, const StreamRecords& records) {
  return feed(stream, records, [&] { return records.size(); });
}

struct ThresholdCase {
  std::string name;
  ThresholdStream::Options options;
};

/// Exact counting that gives way to several generations; planned for all keys, or for far too few; in memory enough; with
/// conservative update; and a threshold of 1, where there is nothing to count.
std::vector<ThresholdCase> threshold_cases() {
  ThresholdStream::Options options{.threshold = 3, .hasher = 42};
  std::vector<ThresholdCase> cases{{"exactly", options}};
  options.exact_keys = 100;
  cases.push_back({"in generations", options});
  options.update = CounterUpdate::conservative;
  cases.push_back({"conservatively", options});
  options.update = CounterUpdate::plain;
  options.num_keys = 5'000;
  cases.push_back({"planned", options});
  options.num_keys = 50;
  options.false_positive_rate = 0.001;
  cases.push_back({"planned for few", options});
  options.num_keys.reset();
  options.memory_bytes = 1 << 20;
  cases.push_back({"in memory", options});
  options.num_keys = 5'000;
  cases.push_back({"planned in memory", options});
  cases.push_back({"the first sight", {.threshold = 1, .hasher = 42}});
  cases.push_back({"the first sight in memory", {.threshold = 1, .memory_bytes = 1 << 20, .hasher = 42}});
  return cases;
}

/// No key is missed, and none comes twice.
void expect_reports_keep_the_law(const StreamRecords& records, std::uint64_t threshold,
                                 const std::vector<Report>& reports) {
  std::map<std::string_view, std::uint64_t> counts;
  std::set<std::string_view> reported;
  auto report = reports.begin();
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::string_view key = records.keys[i];
    const std::uint64_t count = ++counts[key];
    if (report != reports.end() && report->at == i) {
      EXPECT_TRUE(reported.insert(key).second) << key << " is reported twice";
      EXPECT_GE(report->count, std::max(threshold, count));
      ++report;
    }
    if (count == threshold) {
      EXPECT_TRUE(reported.contains(key)) << key << " is missed";
    }
  }
  EXPECT_TRUE(report == reports.end()) << "reports are not in the order of the records";
}

TEST(ThresholdStreamLaws, EveryKeyIsReportedOnceAndNotLaterThanItReachesTheThreshold) {
  const SampleRecords sample(40'000, 20'000, 1);
  for (const ThresholdCase& one : threshold_cases()) {
    SCOPED_TRACE(one.name);
    ThresholdStream stream(one.options);
    const std::vector<Report> reports = feed(stream, sample.all());
    expect_reports_keep_the_law(sample.all(), one.options.threshold, reports);
    const ThresholdStreamStatistics now = stream.statistics();
    EXPECT_EQ(now.num_keys, sample.size());
    EXPECT_EQ(now.num_reported, reports.size());
    EXPECT_EQ(now.num_possible_repeats, 0u);
    EXPECT_LE(now.memory_bytes, one.options.memory_bytes.value_or(~std::uint64_t{0}));
  }
}

TEST(ThresholdStreamLaws, WhatIsReportedDoesNotDependOnBatchesOrStopsOrSingleKeys) {
  const SampleRecords sample(20'000, 8'000, 2);
  for (const ThresholdCase& one : threshold_cases()) {
    SCOPED_TRACE(one.name);
    ThresholdStream whole(one.options);
    const std::vector<Report> expected = feed(whole, sample.all());
    ASSERT_GT(expected.size(), 100u);

    Random random(3);
    ThresholdStream in_pieces(one.options);
    EXPECT_EQ(feed(in_pieces, sample.all(), [&] { return 1 + random.below(random.below(5'000) + 1); }),
              expected);

    ThresholdStream by_keys(one.options);
    std::vector<Report> reports;
    for (std::size_t i = 0; i < sample.size(); ++i) {
      if (const auto count = by_keys.add(sample.all().keys[i])) reports.push_back({i, *count});
    }
    EXPECT_EQ(reports, expected);

    reports.clear();
    ThresholdStream of_texts(one.options);
    for (const ReachedKey& key : of_texts.add_batch(sample.all().keys))
      reports.push_back({key.index, key.count});
    EXPECT_EQ(reports, expected);

    auto stopped = std::make_unique<ThresholdStream>(one.options);
    reports.clear();
    for (std::size_t begin = 0; begin < sample.size();) {
      const std::size_t end = std::min<std::size_t>(sample.size(), begin + 1 + random.below(6'000));
      for (const ReachedKey& key : add_to(*stopped, sample.all().part(begin, end)))
        reports.push_back({begin + key.index, key.count});
      auto resumed = std::make_unique<ThresholdStream>(one.options);
      test::restore(*resumed, test::state_of(*stopped));
      stopped = std::move(resumed);
      begin = end;
    }
    EXPECT_EQ(reports, expected);
    for (const ThresholdStream* const other : {&in_pieces, &by_keys, &of_texts, &*stopped})
      EXPECT_TRUE(test::state_of(*other) == test::state_of(whole));
  }
}

TEST(ThresholdStreamLaws, ABatchMayBeLongerThanTheNumbersOfRuns) {
  const SampleRecords sample(200'000, 300, 4);
  ThresholdStream whole({.threshold = 400, .num_keys = 1'000, .hasher = 42});
  ThresholdStream shared({.threshold = 400, .num_keys = 1'000, .hasher = 42});
  const std::vector<Report> expected = feed(whole, sample.all());
  const std::span<const Hash128> to_remember = shared.add_unreported(sample.all().digests, 0, 0);
  std::vector<Report> reports;
  for (const ReachedKey& key : shared.reached()) reports.push_back({key.index, key.count});
  EXPECT_EQ(reports, expected);
  EXPECT_EQ(to_remember.size(), expected.size());
}

// As two threads do it: batches are looked up well before they are counted, and reports are remembered late.
TEST(ThresholdStreamLaws, SharedWorkReportsTheSame) {
  const SampleRecords sample(30'000, 10'000, 5);
  for (const ThresholdCase& one : threshold_cases()) {
    if (one.options.memory_bytes) continue;
    SCOPED_TRACE(one.name);
    ThresholdStream whole(one.options);
    const std::vector<Report> expected = feed(whole, sample.all());

    ThresholdStream shared(one.options);
    ASSERT_TRUE(shared.can_be_shared());
    struct Piece {
      std::vector<std::size_t> at;
      std::vector<Hash128> digests;
      std::uint64_t num_others = 0;
      std::uint64_t num_remembered = 0;
    };
    std::deque<Piece> ahead;
    std::deque<std::vector<Hash128>> to_remember;
    std::uint64_t num_remembered = 0;
    std::vector<Report> reports;
    Random random(6);
    const auto use_one = [&] {
      const Piece piece = std::move(ahead.front());
      ahead.pop_front();
      const auto found = shared.add_unreported(piece.digests, piece.num_others, piece.num_remembered);
      to_remember.emplace_back(found.begin(), found.end());
      for (const ReachedKey& key : shared.reached()) reports.push_back({piece.at[key.index], key.count});
    };
    for (std::size_t begin = 0; begin < sample.size();) {
      const std::size_t end = std::min<std::size_t>(sample.size(), begin + 1 + random.below(900));
      const auto digests = sample.all().digests.subspan(begin, end - begin);
      std::vector<std::uint32_t> absent(digests.size());
      absent.resize(shared.find_unreported(digests, absent));
      Piece piece{{}, {}, digests.size() - absent.size(), num_remembered};
      for (const std::uint32_t i : absent) {
        piece.at.push_back(begin + i);
        piece.digests.push_back(digests[i]);
      }
      ahead.push_back(std::move(piece));
      while (ahead.size() > random.below(6)) use_one();
      while (to_remember.size() > random.below(4)) {
        shared.remember_reported(to_remember.front());
        num_remembered += to_remember.front().size();
        to_remember.pop_front();
      }
      begin = end;
    }
    while (!ahead.empty()) use_one();
    EXPECT_EQ(reports, expected);
    EXPECT_EQ(shared.statistics().num_keys, sample.size());
    EXPECT_EQ(shared.statistics().num_reported, whole.statistics().num_reported);
  }
}

TEST(ThresholdStreamLaws, NeverTakesMoreThanItsMemoryAndMissesNoKeyInIt) {
  const SampleRecords sample(30'000, 20'000, 7);
  for (const std::uint64_t memory_bytes : {4'096u, 5'000u, 16'384u, 100'000u}) {
    for (const std::uint64_t threshold : {1u, 2u, 5u}) {
      for (const bool with_keys : {false, true}) {
        SCOPED_TRACE(memory_bytes);
        ThresholdStream::Options options{.threshold = threshold, .memory_bytes = memory_bytes, .hasher = 42};
        if (with_keys) options.num_keys = 15'000;
        ThresholdStream stream(options);
        std::set<std::string_view> reported;
        std::map<std::string_view, std::uint64_t> counts;
        std::size_t begin = 0;
        feed(stream, sample.all(), [&] {
          EXPECT_LE(stream.statistics().memory_bytes, memory_bytes);
          return 1'000;
        });
        ThresholdStream again(options);
        for (const Report& report : feed(again, sample.all())) reported.insert(sample.all().keys[report.at]);
        for (; begin < sample.size(); ++begin) ++counts[sample.all().keys[begin]];
        for (const auto& [key, count] : counts) {
          EXPECT_TRUE(count < threshold || reported.contains(key));
        }
        EXPECT_LE(again.statistics().memory_bytes, memory_bytes);
      }
    }
  }
}

class Events : public StreamObserver {
 public:
  void ended_exact_counting(std::uint64_t num_keys) override {
    all.push_back("exact " + std::to_string(num_keys));
  }
  void opened_generation(const OpenedGeneration& opened) override {
    all.push_back("generation " + std::to_string(opened.number) + " of " + std::to_string(opened.num_keys));
    rates.push_back(opened.false_positive_rate);
  }
  void exceeded_plan(const ExceededPlan& excess) override {
    all.push_back("exceeded " + std::to_string(excess.planned_keys));
    rates.push_back(excess.false_positive_rate);
  }
  void filled_reported_keys(std::uint64_t) override { all.emplace_back("filled"); }

  std::vector<std::string> all;
  std::vector<double> rates;
};

TEST(ThresholdStreamLaws, AllGenerationsTogetherKeepTheRate) {
  const SampleRecords sample(60'000, 60'000, 8);
  Events events;
  ThresholdStream stream({.threshold = 2, .false_positive_rate = 0.02, .hasher = 42, .exact_keys = 64},
                         &events);
  feed(stream, sample.all());
  ASSERT_GT(events.all.size(), 4u);
  EXPECT_EQ(events.all[0], "exact 64");
  EXPECT_EQ(events.all[1], "generation 1 of 1024");
  EXPECT_EQ(events.all[2], "generation 2 of 2048");
  EXPECT_TRUE(std::is_sorted(events.rates.begin(), events.rates.end()));
  EXPECT_LE(events.rates.back(), 0.02);
  EXPECT_LE(stream.statistics().false_positive_rate, 0.02);
  EXPECT_EQ(stream.statistics().planned_false_positive_rate, 0.02);
  EXPECT_EQ(stream.statistics().num_generations, events.rates.size());
}

TEST(ThresholdStreamLaws, AFullSetOfReportsAndTooManyKeysAreSaidAndCounted) {
  const SampleRecords sample(60'000, 60'000, 9);
  Events events;
  ThresholdStream stream({.threshold = 2, .memory_bytes = 8'192, .hasher = 42}, &events);
  EXPECT_GT(stream.planned_keys(), stream.reported_keys_capacity());
  EXPECT_GT(stream.memory_bytes_to_report_all(), 8'192);
  feed(stream, sample.all());
  EXPECT_EQ(std::count(events.all.begin(), events.all.end(), "filled"), 1);
  EXPECT_GT(
      std::count(events.all.begin(), events.all.end(), "exceeded " + std::to_string(stream.planned_keys())),
      1);
  EXPECT_GT(stream.statistics().num_possible_repeats, 0u);
  EXPECT_GT(stream.statistics().false_positive_rate, stream.statistics().planned_false_positive_rate);
}

TEST(ThresholdStreamLaws, AnExactCountThatFollowsTheStreamFindsNoKeyMissed) {
  const SampleRecords sample(40'000, 30'000, 10);
  for (const ThresholdCase& one : threshold_cases()) {
    SCOPED_TRACE(one.name);
    ExactCheck check(one.options.threshold);
    ThresholdStream stream(one.options, &check);
    EXPECT_FALSE(stream.can_be_shared());
    std::uint64_t num_reported = 0;
    for (std::size_t begin = 0; begin < sample.size(); begin += 1'000) {
      const StreamRecords batch = sample.all().part(begin, std::min(begin + 1'000, sample.size()));
      check.begin_batch(batch.keys);
      num_reported += stream.add_batch(batch.digests).size();
    }
    const ExactCheck::Result result = check.result();
    EXPECT_EQ(result.num_missed, 0u);
    EXPECT_EQ(result.num_over + result.num_false, num_reported);
    EXPECT_LE(result.num_early, result.num_over);
    EXPECT_LE(result.num_distinct, 30'000u);
    // Six standard deviations either way; with conservative update the prediction is an upper bound.
    const double wrong = static_cast<double>(result.num_early + result.num_false);
    const double predicted = result.predicted_early + result.predicted_false;
    EXPECT_LE(wrong, predicted + 6 * result.standard_deviation + 1);
    if (one.options.update == CounterUpdate::plain) {
      EXPECT_GE(wrong, predicted - 6 * result.standard_deviation - 1);
    }
  }
}

TEST(ThresholdStreamLaws, OptionsOutOfRangeAreRefusedByName) {
  const auto refuses = [](ThresholdStream::Options options, const char* what) {
    try {
      const ThresholdStream stream(options);
      ADD_FAILURE() << what;
    } catch (const std::invalid_argument& error) {
      EXPECT_THAT(error.what(), testing::StartsWith(what));
    }
  };
  refuses({.threshold = 0}, "ThresholdStream: threshold is 0; must be 1 to 4294967295");
  refuses({.num_keys = 0}, "ThresholdStream: num_keys is 0; must be 1 to ");
  refuses({.memory_bytes = 4'095}, "ThresholdStream: memory_bytes is 4095; must be 4096 to ");
  refuses({.false_positive_rate = 1.0},
          "ThresholdStream: false_positive_rate is 1; must be above 0 and below 1");
  ThresholdStream::Options options{
      .threshold = 3, .num_keys = 100'000, .memory_bytes = 50'000, .false_positive_rate = 0.01};
  const std::uint64_t least = ThresholdStream::least_memory_bytes(options).value();
  refuses(options,
          ("ThresholdStream: memory_bytes is 50000; must be at least " + std::to_string(least)).c_str());
  options.memory_bytes = least - 1;
  refuses(options, "ThresholdStream: memory_bytes is ");
  options.memory_bytes = least;
  const ThresholdStream stream(options);
  EXPECT_LE(stream.statistics().memory_bytes, least);
}

std::vector<SumStream::Options> sum_cases() {
  SumStream::Options options{.threshold = 60, .memory_bytes = 1 << 18, .hasher = 42};
  std::vector<SumStream::Options> cases{options};
  for (const std::uint32_t num_slots : {1u, 4u, 50u}) {
    options.window = 20'000;
    options.num_slots = num_slots;
    options.threshold = 12;
    options.memory_bytes = 1 << 20;
    cases.push_back(options);
  }
  return cases;
}

/// The step of each record that is counted, and whether it is; as TimeSteps has them, written apart.
struct Steps {
  Steps(const StreamRecords& records, std::optional<Nanoseconds> window, std::uint32_t num_slots) {
    if (!window) {
      of.assign(records.size(), 0);
      return;
    }
    const Nanoseconds step = std::max<Nanoseconds>(1, *window / num_slots);
    Nanoseconds latest = records.times[0];
    for (const Nanoseconds time : records.times) {
      const bool is_too_late = latest - time >= *window;
      latest = std::max(latest, time);
      num_late += time < latest;
      num_left_out += is_too_late;
      of.push_back(is_too_late ? left_out : latest / step);
    }
  }
  static constexpr std::int64_t left_out = -1;
  std::vector<std::int64_t> of;
  std::uint64_t num_late = 0;
  std::uint64_t num_left_out = 0;
};

TEST(SumStreamLaws, EveryKeyIsReportedWhenItsSumReachesTheThresholdAndOnceInAWindow) {
  const SampleRecords sample(30'000, 8'000, 11);
  const StreamRecords records = sample.all();
  for (const SumStream::Options& options : sum_cases()) {
    SCOPED_TRACE(options.num_slots);
    SumStream stream(options);
    const std::vector<Report> reports = feed(stream, records, [] { return 777; });
    ASSERT_GT(reports.size(), 100u);
    const Steps steps(records, options.window, options.num_slots);
    EXPECT_EQ(stream.clock().num_late(), steps.num_late);
    EXPECT_EQ(stream.clock().num_left_out(), steps.num_left_out);
    EXPECT_EQ(stream.num_records(), sample.size() - steps.num_left_out);
    EXPECT_LE(stream.memory_bytes(), options.memory_bytes);
    EXPECT_EQ(stream.num_possible_repeats(), 0u);

    // Of each key the sums by step, and the step of its last report.
    std::map<std::string_view, std::map<std::int64_t, std::uint64_t>> sums;
    std::map<std::string_view, std::int64_t> last_report;
    auto report = reports.begin();
    for (std::size_t i = 0; i < records.size(); ++i) {
      const std::int64_t step = steps.of[i];
      if (step == Steps::left_out) continue;
      auto& own = sums[records.keys[i]];
      own[step] += records.weights[i];
      std::uint64_t sum = 0;
      for (auto at = own.lower_bound(step - options.num_slots); at != own.end(); ++at) sum += at->second;
      const auto last = last_report.find(records.keys[i]);
      const bool is_remembered =
          last != last_report.end() && last->second >= step - std::int64_t{options.num_slots};
      if (report != reports.end() && report->at == i) {
        EXPECT_FALSE(is_remembered) << "reported twice";
        EXPECT_GE(report->count, std::max(options.threshold, sum));
        last_report[records.keys[i]] = step;
        ++report;
      } else if (sum >= options.threshold && records.weights[i] > 0) {
        EXPECT_TRUE(is_remembered) << records.keys[i] << " is missed at record " << i;
      }
    }
    EXPECT_TRUE(report == reports.end());
  }
}

TEST(SumStreamLaws, WhatIsReportedDoesNotDependOnBatchesOrStops) {
  const SampleRecords sample(20'000, 5'000, 12);
  for (const SumStream::Options& options : sum_cases()) {
    SCOPED_TRACE(options.num_slots);
    SumStream whole(options);
    const std::vector<Report> expected = feed(whole, sample.all());
    Random random(13);
    SumStream in_pieces(options);
    EXPECT_EQ(feed(in_pieces, sample.all(), [&] { return 1 + random.below(random.below(3'000) + 1); }),
              expected);
    EXPECT_TRUE(test::state_of(in_pieces) == test::state_of(whole));
    for (const std::size_t stop : {0u, 1u, 9'999u}) {
      SumStream first(options);
      std::vector<Report> reports = feed(first, sample.all().part(0, stop));
      SumStream second(options);
      test::restore(second, test::state_of(first));
      for (const Report& report : feed(
               second, sample.all(), [] { return 500; }, stop))
        reports.push_back(report);
      EXPECT_EQ(reports, expected);
      EXPECT_TRUE(test::state_of(second) == test::state_of(whole));
    }
  }
}

TEST(SumStreamLaws, AFullSetOfReportsIsSaidAndCounted) {
  const SampleRecords sample(60'000, 60'000, 14);
  Events events;
  SumStream stream({.threshold = 2, .memory_bytes = 4'096, .hasher = 42}, &events);
  feed(stream, sample.all());
  EXPECT_EQ(events.all, std::vector<std::string>{"filled"});
  EXPECT_GT(stream.num_possible_repeats(), 0u);
  EXPECT_LE(stream.memory_bytes(), 4'096u);
}

TEST(SumStreamLaws, WhatDoesNotGoTogetherIsRefusedByName) {
  EXPECT_THROW(SumStream({.memory_bytes = 4'095}), std::invalid_argument);
  EXPECT_THROW(SumStream({.window = 0}), std::invalid_argument);
  EXPECT_THROW(SumStream({.window = 10, .num_slots = 0}), std::invalid_argument);
  EXPECT_THROW(SumStream({.memory_bytes = 40'959, .window = 10, .num_slots = 9}), std::invalid_argument);
  const SampleRecords sample(10, 10, 15);
  StreamRecords records = sample.all();
  SumStream stream({.window = 10});
  const auto refuses = [&](const StreamRecords& bad, const std::string& field) {
    try {
      stream.add(bad);
      ADD_FAILURE() << field;
    } catch (const std::invalid_argument& error) {
      EXPECT_THAT(error.what(), testing::StartsWith("SumStream: length of " + field));
    }
  };
  records.times = records.times.first(9);
  refuses(records, "times is 9; must be 10 as that of digests");
  records.times = {};
  refuses(records, "times is 0; must be 10 as that of digests");
  records = sample.all();
  records.weights = records.weights.first(3);
  refuses(records, "weights is 3; must be 10 as that of digests, or 0");
  EXPECT_EQ(stream.num_records(), 0u);
}

TEST(SumStreamLaws, TimesAtTheEndsOfTheirRangeDoNoHarm) {
  SumStream stream({.threshold = 2, .window = max_time, .num_slots = 3});
  const std::vector<Hash128> digests(4, Hash128{1, 2});
  const std::vector<Nanoseconds> times{std::numeric_limits<Nanoseconds>::min(), 0,
                                       std::numeric_limits<Nanoseconds>::max(),
                                       std::numeric_limits<Nanoseconds>::min()};
  EXPECT_EQ(stream.add({{}, digests, {}, times}).size(), 1u);
  EXPECT_EQ(stream.clock().num_left_out(), 1u);
}

std::vector<TopStream::Options> top_cases() {
  std::vector<TopStream::Options> cases;
  for (const bool space_saving : {false, true}) {
    TopStream::Options options{.capacity = 50, .space_saving = space_saving, .hasher = 42};
    options.sketch = {997, 4, 1, 64, CounterUpdate::conservative};
    cases.push_back(options);
    options.window = 20'000;
    options.num_slots = 5;
    cases.push_back(options);
  }
  return cases;
}

TEST(TopStreamLaws, TheBoundsHoldTheTrueCountsOfTheWindow) {
  const SampleRecords sample(30'000, 3'000, 16);
  const StreamRecords records = sample.all();
  for (const TopStream::Options& options : top_cases()) {
    TopStream stream(options);
    feed(stream, records, [] { return 997; });
    const Steps steps(records, options.window, options.num_slots);
    EXPECT_EQ(stream.num_records(), sample.size() - steps.num_left_out);
    const std::int64_t now = *std::max_element(steps.of.begin(), steps.of.end());
    std::map<std::string_view, std::uint64_t> truth;
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < records.size(); ++i) {
      if (steps.of[i] == Steps::left_out || steps.of[i] < now - std::int64_t{options.num_slots}) continue;
      truth[records.keys[i]] += records.weights[i];
      total += records.weights[i];
    }
    const Ranking ranking = stream.candidates();
    EXPECT_EQ(ranking.total, total);
    EXPECT_GE(ranking.keys.size(), 50u);
    std::set<std::string_view> seen;
    for (const KeyCount& key : ranking.keys) {
      EXPECT_TRUE(seen.insert(key.key).second);
      const auto found = truth.find(key.key);
      const std::uint64_t count = found == truth.end() ? 0 : found->second;
      EXPECT_LE(count, key.count) << key.key;
      EXPECT_GE(count, key.least()) << key.key;
    }
    for (const auto& [key, count] : truth) {
      EXPECT_TRUE(seen.contains(key) || count <= ranking.floor) << key;
    }
    const Ranking top = top_of(ranking, 10);
    EXPECT_EQ(top.keys.size(), 10u);
    EXPECT_GE(top.keys.back().count, top.bound_of_others == ranking.floor ? 0 : top.bound_of_others);
    const Ranking above = above_share_of(ranking, 0.02);
    for (const KeyCount& key : above.keys) EXPECT_TRUE(is_above_share(key.count, 0.02, total));
  }
}

TEST(TopStreamLaws, TheStateDoesNotDependOnBatchesOrStops) {
  const SampleRecords sample(10'000, 2'000, 17);
  for (const TopStream::Options& options : top_cases()) {
    TopStream whole(options);
    feed(whole, sample.all());
    Random random(18);
    auto stopped = std::make_unique<TopStream>(options);
    for (std::size_t begin = 0; begin < sample.size();) {
      const std::size_t end = std::min<std::size_t>(sample.size(), begin + 1 + random.below(3'000));
      stopped->add(sample.all().part(begin, end));
      auto resumed = std::make_unique<TopStream>(options);
      test::restore(*resumed, test::state_of(*stopped));
      stopped = std::move(resumed);
      begin = end;
    }
    EXPECT_TRUE(test::state_of(*stopped) == test::state_of(whole));
    if (options.window) {
      EXPECT_THROW((void)whole.file(), std::logic_error);
    } else {
      EXPECT_EQ(stopped->file(), whole.file());
    }
  }
}

TEST(TopStreamLaws, AStreamMadeFromAStateContinuesAndTakesNoMoreMemoryThanIt) {
  const SampleRecords sample(4'000, 800, 19);
  for (const TopStream::Options& options : top_cases()) {
    TopStream whole(options);
    whole.add(sample.all().part(0, 2'000));
    const std::vector<std::byte> bytes = test::state_of(whole);
    StateReader state(bytes, StateKind::top, test::sample_state_options, "bytes");
    TopStream resumed(options, state, {});
    state.finish();
    for (TopStream* const stream : {&whole, &resumed}) stream->add(sample.all().part(2'000, 4'000));
    EXPECT_TRUE(test::state_of(resumed) == test::state_of(whole));

    TopStream::Options large = options;
    large.capacity = CountedKeys::max_capacity;
    StateReader again(bytes, StateKind::top, test::sample_state_options, "bytes");
    EXPECT_LT(TopStream(large, again, {}).memory_bytes(), 4 * bytes.size());
  }
}

TEST(StreamStates, AnotherStreamIsRefusedByTheFirstOptionThatDiffers) {
  const ThresholdStream stream({.threshold = 3, .hasher = 42});
  const std::vector<std::byte> bytes = test::state_of(stream);
  const auto mismatch = [&](StateKind kind, const StateOptions& options) {
    try {
      const StateReader reader(bytes, kind, options, "bytes");
    } catch (const StateMismatch& error) {
      return std::vector<std::string>{error.option, error.saved, error.wanted};
    }
    return std::vector<std::string>{};
  };
  EXPECT_EQ(mismatch(StateKind::threshold, test::sample_state_options), std::vector<std::string>{});
  EXPECT_EQ(mismatch(StateKind::top, test::sample_state_options),
            (std::vector<std::string>{"kind", "1", "3"}));
  EXPECT_EQ(mismatch(StateKind::threshold, {{"N", "3"}, {"of", "1"}}),
            (std::vector<std::string>{"of", "", "1"}));
  EXPECT_THROW(mismatch(StateKind::threshold, {{"N", "3"}}), FormatError);
  EXPECT_THROW(mismatch(StateKind::threshold, {{"N", "3"}, {"of", ""}, {"--new", ""}}), FormatError);
  EXPECT_EQ(mismatch(StateKind::threshold, {{"N", "3"}, {"of", ""}, {"--new", "x"}}),
            (std::vector<std::string>{"--new", "", "x"}));
  EXPECT_EQ(mismatch(StateKind::threshold, {}), (std::vector<std::string>{"N", "3", ""}));
  EXPECT_EQ(StateReader::saved_option(bytes, "N"), "3");
  EXPECT_EQ(StateReader::saved_option(bytes, "P"), std::nullopt);
  EXPECT_EQ(StateReader::saved_option(std::span(bytes).first(30), "N"), std::nullopt);
  ThresholdStream other({.threshold = 3, .hasher = 43});
  EXPECT_NO_THROW(test::restore(other, bytes));  // counts are exact yet: no filter says which hash made them
}

TEST(StreamStates, EveryFlippedBitIsFound) {
  const ThresholdStream::Options options{.threshold = 3, .memory_bytes = 4'096, .hasher = 42};
  const ThresholdStream stream(options);
  const std::vector<std::byte> whole = test::state_of(stream);
  for (std::size_t bit = 0; bit < 8 * whole.size(); bit += 1 + bit / 512) {
    std::vector<std::byte> bytes = whole;
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    ThresholdStream other(options);
    EXPECT_THROW(test::restore(other, bytes), FormatError) << bit;
  }
  for (std::size_t size = 0; size < whole.size(); size += 1 + size / 64) {
    ThresholdStream other(options);
    EXPECT_THROW(test::restore(other, {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}),
                 FormatError);
  }
}

/// What a load of a state in pieces of `piece_bytes` gives. Before each piece it tries the piece with a flipped bit, and one
/// that is too long.
template <class Stream>
Stream loaded_in_pieces(const Stream& stream, const typename Stream::Options& options,
                        std::uint64_t piece_bytes) {
  const StatePieces pieces(stream, test::kind_of(stream), test::sample_state_options);
  StateLoader loader({pieces.head().begin(), pieces.head().end()});
  EXPECT_EQ(loader.body_bytes(), pieces.body_bytes());
  EXPECT_THROW((void)std::move(loader).reader(test::kind_of(stream), test::sample_state_options, "it"),
               FormatError);
  loader = StateLoader({pieces.head().begin(), pieces.head().end()});
  while (!loader.is_complete()) {
    const auto piece = pieces.body_piece(loader.loaded_bytes(), piece_bytes);
    const std::uint64_t before = loader.loaded_bytes();
    if (loader.bytes_to_end_of_part() == piece.size()) {
      std::vector<std::byte> damaged(piece.begin(), piece.end());
      damaged.back() ^= std::byte{1};
      EXPECT_THROW(loader.add(damaged), FormatError);
      damaged.push_back(std::byte{0});
      EXPECT_THROW(loader.add(damaged), FormatError);
      EXPECT_EQ(loader.loaded_bytes(), before);
    }
    loader.add(piece);
    const auto again = loader.body_piece(before, piece_bytes);
    EXPECT_TRUE(std::ranges::equal(again, piece.first(again.size())));
  }
  EXPECT_TRUE(pieces.body_piece(loader.loaded_bytes(), 1).empty());
  StateReader reader =
      std::move(loader).reader(test::kind_of(stream), test::sample_state_options, "the pieces");
  Stream loaded(options, reader, {});
  reader.finish();
  return loaded;
}

TEST(StreamStates, AStateInPiecesGivesTheSameStream) {
  const SampleRecords sample(20'000, 8'000, 2);
  const StreamRecords first = sample.all().part(0, 15'000);
  const StreamRecords rest = sample.all().part(15'000, sample.size());
  const auto expect_the_same = [&]<class Stream>(Stream stream, const typename Stream::Options& options) {
    for (const bool is_empty : {true, false}) {
      if (!is_empty) test::add_to(stream, first);
      for (const std::uint64_t piece_bytes : {1'000u, 1u << 20}) {
        const Stream loaded = loaded_in_pieces(stream, options, piece_bytes);
        EXPECT_TRUE(test::state_of(loaded) == test::state_of(stream));
      }
    }
    Stream loaded = loaded_in_pieces(stream, options, 4'096);
    test::add_to(stream, rest);
    test::add_to(loaded, rest);
    EXPECT_TRUE(test::state_of(loaded) == test::state_of(stream));
  };
  for (const ThresholdCase& one : threshold_cases()) {
    SCOPED_TRACE(one.name);
    expect_the_same(ThresholdStream(one.options), one.options);
  }
  const SumStream::Options sums{
      .threshold = 20, .memory_bytes = 1 << 20, .window = 3'000, .num_slots = 4, .hasher = 42};
  expect_the_same(SumStream(sums), sums);
}

TEST(StreamStates, EveryFlippedBitOfAHeadIsFound) {
  const ThresholdStream stream({.threshold = 3, .memory_bytes = 4'096, .hasher = 42});
  const StatePieces pieces(stream, StateKind::threshold, test::sample_state_options);
  const std::vector<std::byte> head(pieces.head().begin(), pieces.head().end());
  for (std::size_t bit = 0; bit < 8 * head.size(); ++bit) {
    std::vector<std::byte> bytes = head;
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_THROW(StateLoader{bytes}, FormatError) << bit;
  }
  for (std::size_t size = 0; size < head.size(); ++size) {
    EXPECT_THROW(StateLoader({head.begin(), head.begin() + static_cast<std::ptrdiff_t>(size)}), FormatError);
  }
  EXPECT_THROW(StateReader(head, StateKind::threshold, test::sample_state_options, "it"), FormatError);
}

TEST(ThresholdStreamLaws, TheMemoryAfterABatchIsAtMostWhatWasSaidBefore) {
  const SampleRecords sample(60'000, 50'000, 5);
  for (const ThresholdCase& one : threshold_cases()) {
    SCOPED_TRACE(one.name);
    ThresholdStream stream(one.options);
    Random random(6);
    std::uint64_t filter_bytes = 0;
    for (std::size_t begin = 0; begin < sample.size();) {
      const std::size_t end =
          std::min<std::size_t>(sample.size(), begin + 1 + random.below(random.below(5'000) + 1));
      const ThresholdStreamStatistics before = stream.statistics();
      EXPECT_EQ(stream.memory_bytes_with(0), before.memory_bytes);
      const std::uint64_t most = stream.memory_bytes_with(end - begin);
      const std::uint64_t most_new = stream.bytes_of_new_filters(end - begin);
      test::add_to(stream, sample.all().part(begin, end));
      const ThresholdStreamStatistics after = stream.statistics();
      EXPECT_LE(after.memory_bytes, most);
      if (most_new == 0) {
        EXPECT_EQ(after.num_generations, before.num_generations);
      }
      filter_bytes += most_new;
      begin = end;
    }
    EXPECT_EQ(filter_bytes > 0,
              one.name == std::string("in generations") || one.name == std::string("conservatively") ||
                  one.name == std::string("planned") || one.name == std::string("planned for few"));
  }
}

TEST(ThresholdStreamLaws, TheBytesOfTheNextFilterAreKnownBeforeItOpens) {
  ThresholdStream stream({.threshold = 3, .hasher = 42, .exact_keys = 100});
  std::uint64_t num_opened = 0;
  for (std::uint64_t key = 0; key < 20'000; ++key) {
    const ThresholdStreamStatistics before = stream.statistics();
    const std::uint64_t bytes = stream.bytes_of_new_filters(1);
    stream.add(std::to_string(key));
    const ThresholdStreamStatistics after = stream.statistics();
    if (after.num_generations == before.num_generations) continue;
    ++num_opened;
    // When exact counting ends, the memory of the counts goes.
    if (!before.counts_exactly) {
      EXPECT_EQ(after.memory_bytes - before.memory_bytes, bytes);
    }
  }
  EXPECT_GE(num_opened, 3u);
}

}  // namespace
}  // namespace tally
