// Batches count once, whatever is lost on the way: a server that loses replies, connections, its memory, and writers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "fake_redis.hpp"
#include "tally/redis_client/batch_writer.hpp"

namespace tally::redis_client {
namespace {

using test::FakeRedis;
using test::FakeStore;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Nanoseconds one_step = Connection::second / 20;
constexpr std::size_t plenty = std::size_t{1} << 30;

/// A server with a FakeStore, and a writer of it. `breaks` says of each command whether its reply is lost, and with it the
/// connection.
class BatchWriters : public testing::Test {
 protected:
  void SetUp() override { begin(3); }

  void begin(std::uint32_t num_shards) {
    server_ = std::make_unique<FakeRedis>([this](const FakeRedis::Words& words) -> FakeRedis::Answer {
      const std::scoped_lock lock(mutex_);
      const std::string reply = state_.serve(words);
      if (words[0] == "TALLY.BATCH" && breaks_ && breaks_()) return std::nullopt;
      return reply;
    });
    Cluster::Options options;
    options.servers = {parse_address(server_->host_and_port())};
    options.patience = 30 * Connection::second;
    cluster_ = std::make_unique<Cluster>(options);
    store_ = Store::make(*cluster_, "name",
                         {.kind = "over",
                          .num_shards = num_shards,
                          .seed = 1,
                          .create = {"TALLY.OVERCREATE", "1"},
                          .options = {}});
  }

  std::unique_ptr<BatchWriter> writer(std::vector<WriterPosition> positions = {},
                                      std::size_t max_kept_bytes = plenty) {
    BatchWriter::Observer observer;
    observer.lost = [this](std::uint32_t, std::uint64_t num_batches, std::uint64_t num_items) {
      num_lost_ += num_batches;
      num_lost_items_ += num_items;
    };
    observer.repairing = [this](std::uint32_t, std::uint64_t num_batches) { num_repaired_ += num_batches; };
    observer.forgotten = [this](std::uint32_t, std::uint64_t num_batches) { num_forgotten_ += num_batches; };
    observer.moved = [this](std::uint32_t shard, const WriterPosition& position) {
      moved_[shard] = position;
    };
    return std::make_unique<BatchWriter>(*cluster_, *store_, "w", std::move(positions), max_kept_bytes,
                                         observer);
  }

  /// A batch with this name, which is counted when it is done.
  void send(BatchWriter& writer, std::uint32_t shard, const std::string& name, bool may_count_twice = true) {
    while (!writer.has_room(shard)) cluster_->step(one_step);
    writer.send(shard, {.operation = {"ADD", name},
                        .num_items = 10,
                        .done =
                            [this, name, shard, &writer](const BatchWriter::Numbers&) {
                              done_.push_back(name);
                              if (releases_) writer.release(shard);
                            },
                        .repaired = [this, name](const BatchWriter::Numbers&) { repaired_.push_back(name); },
                        .may_count_twice = may_count_twice});
  }
  void finish(const BatchWriter& writer) {
    while (writer.num_unanswered() > 0 || !cluster_->is_idle()) cluster_->step(one_step);
  }
  std::vector<std::string> applied(std::uint32_t shard) {
    const std::scoped_lock lock(mutex_);
    return state_.shards[store_->key_of(shard)].applied;
  }
  template <class Change>
  void change(Change change) {
    const std::scoped_lock lock(mutex_);
    change(state_);
  }

  std::mutex mutex_;
  FakeStore state_;
  std::function<bool()> breaks_;
  std::unique_ptr<FakeRedis> server_;
  std::unique_ptr<Cluster> cluster_;
  std::optional<Store> store_;
  std::vector<std::string> done_;
  std::vector<std::string> repaired_;
  bool releases_ = true;
  std::uint64_t num_lost_ = 0, num_lost_items_ = 0, num_repaired_ = 0, num_forgotten_ = 0;
  std::map<std::uint32_t, WriterPosition> moved_;
};

TEST_F(BatchWriters, ApplyEachBatchOnceAndInOrderWhateverReplyIsLost) {
  std::mt19937_64 random(1);
  std::mt19937_64 breaking(2);  // of the thread of the server
  breaks_ = [&] { return breaking() % 15 == 0; };
  const auto own = writer();
  std::map<std::uint32_t, std::vector<std::string>> sent;
  for (int i = 0; i < 100; ++i) {
    const auto shard = static_cast<std::uint32_t>(random() % 3);
    sent[shard].push_back(std::to_string(i));
    send(*own, shard, sent[shard].back());
    if (random() % 4 == 0) cluster_->step(0);
  }
  finish(*own);
  for (const auto& [shard, names] : sent) EXPECT_EQ(applied(shard), names) << shard;
  std::ranges::sort(done_);
  EXPECT_EQ(done_.size(), 100U);
  EXPECT_EQ(std::adjacent_find(done_.begin(), done_.end()), done_.end());
  EXPECT_GT(cluster_->num_sent_again(), 3U);
  EXPECT_EQ(num_lost_ + num_repaired_ + num_forgotten_, 0U);
}

TEST_F(BatchWriters, SendAgainWhatAFailoverHasLost) {
  const auto own = writer();
  for (int i = 0; i < 10; ++i) send(*own, 0, std::to_string(i));
  finish(*own);
  FakeStore older;
  change([&](FakeStore& state) { older = state; });
  for (int i = 10; i < 25; ++i) send(*own, 0, std::to_string(i));
  finish(*own);
  change([&](FakeStore& state) { state = older; });  // the replica had ten of them
  send(*own, 0, "25");
  finish(*own);
  EXPECT_EQ(applied(0).size(), 26U);
  EXPECT_EQ(applied(0).back(), "25");
  EXPECT_EQ(num_repaired_, 15U);
  EXPECT_EQ(repaired_.size(), 15U);
  EXPECT_EQ(done_.size(), 26U);
  EXPECT_EQ(num_lost_, 0U);
}

TEST_F(BatchWriters, SayWhatIsLostIfTheyNoLongerHaveIt) {
  const auto own = writer({}, 3000);  // some batches of each shard
  FakeStore older;
  change([&](FakeStore& state) { older = state; });
  for (int i = 0; i < 50; ++i) send(*own, 1, std::to_string(i));
  finish(*own);
  change([&](FakeStore& state) { state = older; });
  send(*own, 1, "last");
  finish(*own);
  EXPECT_GT(num_lost_, 30U);
  EXPECT_EQ(num_lost_items_, 10 * num_lost_);
  EXPECT_EQ(num_lost_ + num_repaired_, 50U);
  EXPECT_EQ(applied(1).size(), num_repaired_ + 1);
  EXPECT_EQ(applied(1).back(), "last");
  EXPECT_EQ(moved_.at(1).generation, 1U);
  EXPECT_EQ(own->position(1).next_sequence, num_repaired_ + 2);
  // And so on, in the new generation.
  send(*own, 1, "more");
  finish(*own);
  EXPECT_EQ(applied(1).back(), "more");
}

TEST_F(BatchWriters, MakeAShardThatIsGoneAgain) {
  const auto own = writer();
  for (const char* operation : {"ADD", "TOP"}) {
    done_.clear();
    const auto send_one = [&](const std::string& name) {
      own->send(
          2, {.operation = {operation, name}, .num_items = 1, .done = [&, name](const BatchWriter::Numbers&) {
                done_.push_back(name);
                own->release(2);
              }});
      finish(*own);
    };
    send_one("a");
    change([](FakeStore& state) { state.shards.clear(); });
    send_one("b");
    EXPECT_THAT(done_, ElementsAre("a", "b"));
    EXPECT_EQ(applied(2).back(), "b");
    EXPECT_GE(applied(2).size(), 2U);  // all that is kept
  }
}

TEST_F(BatchWriters, CountAtLeastOnceWhereTheServerHasForgottenThem) {
  const auto own = writer();
  for (int i = 0; i < 5; ++i) send(*own, 0, std::to_string(i));
  finish(*own);
  change([&](FakeStore& state) {
    auto& shard = state.shards[store_->key_of(0)];
    shard.writers.clear();
    shard.has_forgotten = true;
  });
  send(*own, 0, "5");
  finish(*own);
  EXPECT_EQ(num_forgotten_, 1U);
  EXPECT_THAT(applied(0), ElementsAre("0", "1", "2", "3", "4", "5"));

  change([&](FakeStore& state) { state.shards[store_->key_of(0)].writers.clear(); });
  send(*own, 0, "removal", false);
  try {
    finish(*own);
    ADD_FAILURE() << "it was sent again";
  } catch (const StoreError& error) {
    EXPECT_THAT(error.what(), HasSubstr("has forgotten this writer"));
    EXPECT_THAT(error.what(), HasSubstr("of 10 keys, nobody knows whether they were removed"));
  }
  EXPECT_EQ(applied(0).back(), "5");
}

TEST_F(BatchWriters, GetTheSameRepliesAgainIfTheyEndBeforeTheyReleaseThem) {
  releases_ = false;
  std::vector<WriterPosition> positions(3);
  {
    const auto own = writer();
    for (const char* name : {"a", "b", "c"}) {
      send(*own, 0, name);
      finish(*own);
    }
    own->release(0);
    for (std::uint32_t shard = 0; shard < 3; ++shard) positions[shard] = own->position(shard);
  }
  EXPECT_EQ(positions[0].next_sequence, 2U);
  const auto again = writer(positions);
  for (const char* name : {"b", "c", "d"}) send(*again, 0, name);
  finish(*again);
  EXPECT_THAT(applied(0), ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(done_, ElementsAre("a", "b", "c", "b", "c", "d"));
}

TEST_F(BatchWriters, TakeNoMoreThan32BatchesOfAShardThatAreNotReleased) {
  releases_ = false;
  const auto own = writer();
  std::size_t num_sent = 0;
  for (; own->has_room(0) && num_sent < 100; ++num_sent) send(*own, 0, "x");
  EXPECT_EQ(num_sent, BatchWriter::most_unreleased);
  finish(*own);
  EXPECT_FALSE(own->has_room(0));
  own->release(0);
  EXPECT_TRUE(own->has_room(0));
}

TEST_F(BatchWriters, LeaveNothingBehindAtTheEnd) {
  const auto own = writer();
  send(*own, 0, "a");
  send(*own, 2, "b");
  finish(*own);
  own->end();
  for (std::uint32_t shard = 0; shard < 3; ++shard) {
    change([&](FakeStore& state) { EXPECT_TRUE(state.shards[store_->key_of(shard)].writers.empty()); });
  }
}

TEST_F(BatchWriters, ThrowWhatTheServerRefuses) {
  const auto own = writer();
  change([](FakeStore& state) { state.shards["name:{1}"].writers["w.0"].last = 7; });
  send(*own, 1, "a");  // number 1, which nobody keeps
  try {
    finish(*own);
    ADD_FAILURE() << "it was taken";
  } catch (const StoreError& error) {
    EXPECT_THAT(error.what(), HasSubstr("batch 1 for 'name:{1}' was refused: ERR the reply of batch"));
  }
}

TEST_F(BatchWriters, OfAStoreThatAnotherClientHasMadeGetThatOne) {
  const Store second = Store::make(
      *cluster_, "name",
      {.kind = "over", .num_shards = 5, .seed = 2, .create = {"TALLY.OVERCREATE", "1"}, .options = {}});
  EXPECT_EQ(second.num_shards(), 3U);
  EXPECT_EQ(second.description().seed, 1U);
  EXPECT_EQ(Store::open(*cluster_, "name")->num_shards(), 3U);
  EXPECT_FALSE(Store::open(*cluster_, "other"));
}

}  // namespace
}  // namespace tally::redis_client
