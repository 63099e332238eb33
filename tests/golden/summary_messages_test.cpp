// The format of messages for ever: every file in data/golden/messages is what today's code writes, and is read right.
// A file that is missing is written when TALLY_WRITE_GOLDEN is set; one that is there is never replaced.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "file_bytes.hpp"
#include "sample_summaries.hpp"
#include "tally/summaries/message_key.hpp"
#include "tally/summaries/replica.hpp"

namespace tally {
namespace {

std::string path_of(const std::string& name) {
  return std::string(TALLY_TEST_DATA_DIR) + "/golden/messages/" + name + ".summary";
}

void expect_file(const std::string& name, const test::MessageBytes& bytes) {
  const std::string path = path_of(name);
  if (std::getenv("TALLY_WRITE_GOLDEN") != nullptr && !std::filesystem::exists(path)) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    test::write_bytes(path, bytes);
  }
  EXPECT_EQ(test::read_bytes(path), bytes) << name;
}

TEST(SummaryMessagesGolden, TodaysCodeWritesTheSameBytesAsEver) {
  for (const auto& [name, bytes] : test::sample_messages()) expect_file("version-2/" + name, bytes);
  for (const auto& [name, bytes] : test::sample_messages(test::sample_key())) {
    expect_file("version-2/signed-" + name, bytes);
  }
}

// What nodes of version 1 are sent.
TEST(SummaryMessagesGolden, InFormatVersion1TheyAreTheBytesOfVersion1) {
  for (const auto& [name, bytes] : test::sample_messages(test::sample_key())) {
    if (name.ends_with("-stored")) continue;  // new in version 2
    expect_file(name, in_format_version_1(bytes));
  }
}

TEST(SummaryMessagesGolden, AReplicaFollowsTheFilesToTheirLastVersion) {
  for (const std::string kind : {"bits", "cells", "version-2/bits", "version-2/cells",
                                 "version-2/signed-bits", "version-2/signed-cells"}) {
    const bool is_signed = kind.find("signed") != std::string::npos;
    SummaryReplica replica(
        {.hasher = 42, .key = is_signed ? test::MaybeKey(test::sample_key()) : std::nullopt});
    for (const std::string step : {"full-of-few", "delta", "heartbeat", "many"}) {
      SCOPED_TRACE(kind + "-" + step);
      const ApplyResult result = replica.apply(test::read_bytes(path_of(kind + "-" + step)));
      EXPECT_EQ(result, step == "heartbeat" ? ApplyResult::unchanged : ApplyResult::applied);
    }
    EXPECT_EQ(replica.status().held, (SummaryVersion{1000, 3}));
    EXPECT_EQ(replica.apply(test::read_bytes(path_of(kind + "-full-of-many"))), ApplyResult::unchanged);
    for (std::uint64_t key = 1; key < 60; ++key) EXPECT_TRUE(replica.may_contain(key)) << key;
    EXPECT_EQ(test::read_bytes(path_of(kind + "-request")).size(), is_signed ? 128u + 6 + 16 : 128u + 6);
  }
}

}  // namespace
}  // namespace tally
