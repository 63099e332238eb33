// The format of messages for ever: every file in data/golden/messages is what today's code writes, and is read right.
// A file that is missing is written when TALLY_WRITE_GOLDEN is set; one that is there is never replaced.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "file_bytes.hpp"
#include "sample_summaries.hpp"
#include "tally/summaries/replica.hpp"

namespace tally {
namespace {

std::string path_of(const std::string& name) {
  return std::string(TALLY_TEST_DATA_DIR) + "/golden/messages/" + name + ".summary";
}

TEST(SummaryMessagesGolden, TodaysCodeWritesTheSameBytesAsEver) {
  for (const auto& [name, bytes] : test::sample_messages()) {
    const std::string path = path_of(name);
    if (std::getenv("TALLY_WRITE_GOLDEN") != nullptr && !std::filesystem::exists(path)) {
      std::filesystem::create_directories(std::filesystem::path(path).parent_path());
      test::write_bytes(path, bytes);
    }
    EXPECT_EQ(test::read_bytes(path), bytes) << name;
  }
}

TEST(SummaryMessagesGolden, AReplicaFollowsTheFilesToTheirLastVersion) {
  for (const std::string kind : {"bits", "cells"}) {
    SummaryReplica replica({.hasher = 42});
    for (const std::string step : {"full-of-few", "delta", "heartbeat", "many"}) {
      SCOPED_TRACE(kind + "-" + step);
      const ApplyResult result = replica.apply(test::read_bytes(path_of(kind + "-" + step)));
      EXPECT_EQ(result, step == "heartbeat" ? ApplyResult::unchanged : ApplyResult::applied);
    }
    EXPECT_EQ(replica.status().held, (SummaryVersion{1000, 3}));
    EXPECT_EQ(replica.apply(test::read_bytes(path_of(kind + "-full-of-many"))), ApplyResult::unchanged);
    for (std::uint64_t key = 1; key < 60; ++key) EXPECT_TRUE(replica.may_contain(key)) << key;
    EXPECT_EQ(test::read_bytes(path_of(kind + "-request")).size(), 128u + 6);
  }
}

}  // namespace
}  // namespace tally
