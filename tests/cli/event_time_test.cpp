#include "../../tools/tally/input/event_time.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "../../tools/tally/text/duration.hpp"

// Times as they stand in logs, and durations as people write them.

namespace tally::cli {
namespace {

constexpr Nanoseconds second = 1'000'000'000;
constexpr Nanoseconds in_2023 = 1'700'000'000 * second;  // 2023-11-14T22:13:20Z

std::string read_as(const std::string& text, Nanoseconds now = in_2023) {
  const auto time = parse_time(text, now);
  return time ? time_text(*time) : "none";
}

TEST(EventTime, IsReadInTheFormatsOfLogs) {
  const std::vector<std::pair<std::string, std::string>> texts{
      {"1700000000", "2023-11-14T22:13:20Z"},
      {"1700000000.25", "2023-11-14T22:13:20.25Z"},
      {"1700000000250", "2023-11-14T22:13:20.25Z"},
      {"1700000000250.5", "2023-11-14T22:13:20.2505Z"},
      {"1700000000250001", "2023-11-14T22:13:20.250001Z"},
      {"1700000000250001002", "2023-11-14T22:13:20.250001002Z"},
      {"-1", "1969-12-31T23:59:59Z"},
      {"999999999999", "none"},  // no seconds of these years
      {"99999999999999999999", "none"},
      {"9999999999999999999", "none"},
      {"2023-11-14", "2023-11-14T00:00:00Z"},
      {"2023-11-14T22:13:20.5+01:00", "2023-11-14T21:13:20.5Z"},
      {"2023-11-14 22:13:20,125 -0130", "2023-11-14T23:43:20.125Z"},
      {"2023-11-14t22:13:20z", "2023-11-14T22:13:20Z"},
      {"[14/Nov/2023:22:13:20 +0100]", "2023-11-14T21:13:20Z"},
      {"Nov 14 22:13:20", "2023-11-14T22:13:20Z"},
      {"Nov  4 22:13:20.5", "2023-11-04T22:13:20.5Z"},
      {"Tue Nov 14 22:13:20 2023", "2023-11-14T22:13:20Z"},
      {"Tue Nov 14 22:13:20.123456 2023", "2023-11-14T22:13:20.123456Z"},
      {"Nov 31 22:13:20", "none"},
      {"Nov 14 22:13", "none"},
      {"Nov 114 22:13:20", "none"},
      {"Tue 14 22:13:20", "none"},
      {"", "none"},
      {"1700000000x", "none"}};
  for (const auto& [text, time] : texts) EXPECT_EQ(read_as(text), time) << text;
}

TEST(EventTime, WithoutAYearIsInTheLatestOneThatIsPossible) {
  const Nanoseconds at_new_year = *parse_time("2024-01-01T00:00:30Z", 0);
  EXPECT_EQ(read_as("Dec 31 23:59:59", at_new_year), "2023-12-31T23:59:59Z");
  EXPECT_EQ(read_as("Jan  1 00:00:00", at_new_year), "2024-01-01T00:00:00Z");
  EXPECT_EQ(read_as("Jan  2 01:00:00", at_new_year), "2024-01-02T01:00:00Z");  // a zone further east
  EXPECT_EQ(read_as("Jan  3 01:00:00", at_new_year), "2023-01-03T01:00:00Z");
  const Nanoseconds before_new_year = *parse_time("2023-12-31T23:30:00Z", 0);
  EXPECT_EQ(read_as("Jan  1 00:10:00", before_new_year), "2024-01-01T00:10:00Z");
  EXPECT_EQ(read_as("Feb 29 12:00:00", *parse_time("2027-03-01", 0)), "2024-02-29T12:00:00Z");
}

TEST(Duration, MayHaveSeveralUnits) {
  const std::vector<std::pair<std::string, Nanoseconds>> texts{{"90", 90 * second},
                                                               {"1h30m", 5400 * second},
                                                               {"1d12h", 129'600 * second},
                                                               {"1.5h", 5400 * second},
                                                               {"1m500ms", 60'500 * (second / 1000)},
                                                               {"1h0.5m", 3630 * second}};
  for (const auto& [text, duration] : texts) EXPECT_EQ(parse_duration(text), duration) << text;
  for (const std::string text :
       {"30m1h", "1h30", "1h1h", "1h-30m", "h", "1x", "1h30x", "", "0s", "1 h", "200000d"})
    EXPECT_THROW(parse_duration(text), std::invalid_argument) << text;
}

}  // namespace
}  // namespace tally::cli
