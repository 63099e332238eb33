// RESTORE of damaged bytes whose checksum is right: refused with an error, or a value that works. The server lives on.

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>

#include "packed_items.hpp"
#include "random.hpp"
#include "running_module.hpp"

namespace tally::test {
namespace {

class RedisRestore : public WithModule {};

/// The CRC-64 with the polynomial of Jones, bits in reverse order, which ends a payload of DUMP.
std::uint64_t crc64(std::string_view bytes) {
  std::uint64_t crc = 0;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1) * 0x95ac9329ac4bc9b5;
  }
  return crc;
}

std::string with_right_checksum(std::string payload) {
  const std::uint64_t crc = crc64(std::string_view(payload).substr(0, payload.size() - 8));
  for (std::size_t i = 0; i < 8; ++i) payload[payload.size() - 8 + i] = static_cast<char>(crc >> 8 * i);
  return payload;
}

/// A key of every type and kind, with the commands that use it.
std::map<std::string, std::vector<Words>> fill(RunningModule& redis) {
  redis({"BF.RESERVE", "bloom", "0.01", "50"});
  redis(with_keys({"BF.MADD", "bloom"}, "key", 0, 200));
  redis({"CF.RESERVE", "cuckoo", "50"});
  redis(with_keys({"CF.INSERT", "cuckoo", "ITEMS"}, "key", 0, 200));
  for (int i = 0; i < 40; ++i) redis({"CF.ADD", "cuckoo", "hot"});
  redis({"CMS.INITBYDIM", "sketch", "50", "3"});
  redis({"CMS.INCRBY", "sketch", "a", "5", "b", "7"});
  redis({"TOPK.RESERVE", "top", "5", "20", "3", "0.9"});
  redis(with_keys({"TOPK.ADD", "top"}, "key", 0, 20));
  redis(with_keys({"TALLY.OVER", "over", "2"}, "key", 0, 50));
  redis(with_keys({"TALLY.OVER", "over", "2"}, "key", 0, 20));
  redis(with_keys({"TALLY.OVERINSERT", "over-memory", "2", "MEMORY", "8KiB", "ITEMS"}, "key", 0, 50));
  redis(with_keys({"TALLY.OVERINSERT", "over-keys", "2", "KEYS", "300", "ITEMS"}, "key", 0, 500));
  redis(with_keys(
      {"TALLY.OVERINSERT", "over-window", "2", "WINDOW", "1h", "SLOTS", "2", "MEMORY", "16KiB", "ITEMS"},
      "key", 0, 50));
  redis(batch("over", 1, 1, {"OVER", "2", packed_keys("key", 10, 30)}));
  redis(batch("top", 1, 1, {"TOP", "x", "3"}));
  const std::vector<Words> use_over{{"TALLY.OVER", "k", "2", "x", "x"},
                                    {"TALLY.OVERINFO", "k"},
                                    {"TALLY.WRITERS", "k"},
                                    {"COPY", "k", "copy"},
                                    {"DEL", "copy"}};
  std::map<std::string, std::vector<Words>> uses{
      {"bloom", {{"BF.ADD", "k", "x"}, {"BF.EXISTS", "k", "x"}, {"BF.INFO", "k"}}},
      {"cuckoo", {{"CF.ADD", "k", "x"}, {"CF.DEL", "k", "x"}, {"CF.COUNT", "k", "hot"}, {"CF.INFO", "k"}}},
      {"sketch", {{"CMS.INCRBY", "k", "x", "3"}, {"CMS.QUERY", "k", "a"}, {"CMS.INFO", "k"}}},
      {"top", {{"TOPK.ADD", "k", "x", "y"}, {"TOPK.LIST", "k", "WITHCOUNT"}, {"TOPK.INFO", "k"}}},
      {"over", use_over},
      {"over-memory", use_over},
      {"over-keys", use_over},
      {"over-window", use_over}};
  const std::vector<Words> structures{
      {"bloom-filter", "--kind", "bloom", "--keys", "100"},
      {"blocked", "--kind", "blocked-bloom", "--keys", "100"},
      {"counting", "--kind", "counting-bloom", "--keys", "100"},
      {"blocked-counting", "--kind", "blocked-counting-bloom", "--memory", "1KiB"},
      {"threshold", "--kind", "threshold", "--keys", "100", "--threshold", "2"},
      {"dleft", "--kind", "dleft", "--keys", "100", "--max-doublings", "3"},
      {"compact", "--kind", "compact-dleft", "--keys", "100", "--unique-keys"},
      {"count-min", "--kind", "count-min", "--width", "50", "--depth", "3"}};
  for (Words words : structures) {
    const std::string kind = words[0];
    words.insert(words.begin(), "TALLY.CREATE");
    EXPECT_EQ(redis(words), "+OK") << kind;
    redis(with_keys({"TALLY.ADD", kind}, "key", 0, 80));
    uses[kind] = {{"TALLY.ADD", "k", "x"},    {"TALLY.QUERY", "k", "x"}, {"TALLY.COUNT", "k", "x"},
                  {"TALLY.REMOVE", "k", "x"}, {"TALLY.STATS", "k"},      {"TALLY.MERGE", "k", "k"}};
  }
  return uses;
}

TEST_F(RedisRestore, OfDamagedBytesIsRefusedOrGivesAValueThatWorks) {
  RunningModule redis;
  ASSERT_EQ(crc64("123456789"), 0xe9c6d914c4b8d9ca) << "the example that Redis gives for its checksum";
  const auto uses = fill(redis);
  const auto restore = [&](std::string payload) {
    return redis({"RESTORE", "k", "0", with_right_checksum(std::move(payload))});
  };
  Random random(1);
  int num_refused = 0;
  for (const auto& [key, commands] : uses) {
    SCOPED_TRACE(key);
    const std::string before = redis.digest(key);
    const std::string payload = redis.call({"DUMP", key}).text;
    ASSERT_GT(payload.size(), 100u);
    ASSERT_EQ(restore(payload), "+OK");
    ASSERT_EQ(redis.digest("k"), before);
    redis({"DEL", "k"});
    for (int trial = 0; trial < 400; ++trial) {
      std::string damaged = payload;
      // Byte 0 is the type of the value, the last ten are the version and the checksum; the first bytes have the sizes.
      const std::size_t end =
          trial % 2 == 0 ? std::min<std::size_t>(payload.size() - 10, 250) : payload.size() - 10;
      damaged[1 + random.below(end - 1)] ^= static_cast<char>(1 + random.below(255));
      if (trial % 10 == 0) damaged.erase(1 + random.below(payload.size() - 11), 1);
      if (trial % 10 == 5) damaged.insert(1 + random.below(payload.size() - 11), 3, 'x');
      if (restore(damaged) != "+OK") {
        ++num_refused;
        continue;
      }
      for (const Words& words : commands) redis(words);
      redis({"DEL", "k"});
    }
    EXPECT_EQ(redis.digest(key), before);
  }
  EXPECT_EQ(redis({"PING"}), "+PONG");
  EXPECT_GT(num_refused, 4000);
}

}  // namespace
}  // namespace tally::test
