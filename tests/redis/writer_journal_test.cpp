#include "writer_journal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "parameter_bytes.hpp"
#include "random.hpp"
#include "tally/serialization/format_error.hpp"

// The journal of the writers of a key, against a plain model.

namespace tally::test {
namespace {

using redis::WriterJournal;
using Batch = WriterJournal::Batch;

void record(WriterJournal& journal, const std::string& writer, std::uint64_t oldest, std::string reply) {
  WriterJournal::Place(journal, writer).record(oldest, std::move(reply));
}

/// What a journal promises, in the plainest form: all replies, and the order of use.
struct Model {
  struct Writer {
    std::uint64_t last = 0;
    std::map<std::uint64_t, std::string> replies;
  };
  std::map<std::string, Writer> writers;
  std::vector<std::string> order;
  bool has_forgotten = false;

  void touch(const std::string& name) {
    std::erase(order, name);
    order.push_back(name);
  }
  void drop(Writer& writer, std::uint64_t oldest) {
    std::erase_if(writer.replies, [&](const auto& reply) { return reply.first < oldest; });
  }
  void record(const std::string& name, std::uint64_t oldest, const std::string& reply) {
    Writer& writer = writers[name];
    drop(writer, oldest);
    writer.replies[++writer.last] = reply;
    touch(name);
    if (order.size() <= WriterJournal::max_writers) return;
    writers.erase(order.front());
    order.erase(order.begin());
    has_forgotten = true;
  }
};

void expect_same(const WriterJournal& journal, const Model& model) {
  ASSERT_EQ(journal.writers().size(), model.order.size());
  EXPECT_EQ(journal.has_forgotten(), model.has_forgotten);
  auto name = model.order.begin();
  for (const WriterJournal::Writer& writer : journal.writers()) {
    const Model::Writer& expected = model.writers.at(*name);
    ASSERT_EQ(writer.name, *name++);
    ASSERT_EQ(writer.last, expected.last);
    std::vector<std::string> replies;
    for (const auto& [sequence, reply] : expected.replies) replies.push_back(reply);
    ASSERT_EQ(writer.replies, replies);
  }
}

void expect_found(const WriterJournal& journal, const Model& model, const std::string& name,
                  std::uint64_t sequence) {
  const WriterJournal::Found found = journal.find(name, sequence);
  if (!model.writers.contains(name)) {
    EXPECT_EQ(found.last, 0u);
    EXPECT_EQ(found.batch, sequence == 1         ? Batch::is_next
                           : model.has_forgotten ? Batch::is_unknown
                                                 : Batch::is_too_far);
    return;
  }
  const Model::Writer& writer = model.writers.at(name);
  EXPECT_EQ(found.last, writer.last);
  if (sequence > writer.last) {
    EXPECT_EQ(found.batch, sequence == writer.last + 1 ? Batch::is_next : Batch::is_too_far);
  } else if (writer.replies.contains(sequence)) {
    ASSERT_EQ(found.batch, Batch::is_kept);
    EXPECT_EQ(found.reply, writer.replies.at(sequence));
  } else {
    EXPECT_EQ(found.batch, Batch::is_not_kept);
  }
}

/// Sometimes more writers than it may keep.
TEST(WriterJournal, DoesWhatAPlainModelDoesInRandomOrder) {
  for (const std::uint64_t num_names : {5u, 6000u}) {
    Random random(num_names);
    WriterJournal journal;
    Model model;
    const int num_steps = num_names == 5 ? 3000 : 12000;
    for (int step = 0; step < num_steps; ++step) {
      const std::string name = "w" + std::to_string(random.below(num_names));
      const std::uint64_t last = model.writers.contains(name) ? model.writers[name].last : 0;
      if (num_names == 5) expect_found(journal, model, name, 1 + random.below(last + 3));
      const std::uint64_t what = random.below(10);
      if (what < 7 || last == 0) {
        const std::uint64_t sequence = last + 1;
        const std::uint64_t most = std::min(sequence, WriterJournal::max_kept_replies);
        const std::uint64_t oldest = sequence - (random.below(20) == 0 ? 0 : random.below(most));
        const std::string reply(4 * random.below(20), static_cast<char>(random.below(256)));
        record(journal, name, oldest, reply);
        model.record(name, oldest, reply);
      } else if (what < 9) {
        const std::uint64_t oldest = 1 + random.below(last);
        const std::string before = num_names == 5 ? journal.blob() : "";
        const bool has_changed = journal.use(name, oldest);
        if (num_names == 5) {
          EXPECT_EQ(has_changed, journal.blob() != before);
        }
        model.drop(model.writers[name], oldest);
        model.touch(name);
      } else {
        EXPECT_TRUE(journal.remove(name));
        EXPECT_FALSE(journal.remove(name));
        model.writers.erase(name);
        std::erase(model.order, name);
      }
      if (step % (num_names == 5 ? 10 : 1000) != 0) continue;
      expect_same(journal, model);
      const std::string blob = journal.blob();
      if (!journal.is_empty()) {
        EXPECT_EQ(blob.size(), journal.blob_bytes());
      }
      WriterJournal loaded = WriterJournal::from_blob(blob);
      expect_same(loaded, model);
      EXPECT_EQ(loaded.blob(), blob);
      if (random.below(2) == 0) journal = loaded;  // and goes on as this one
    }
    expect_same(journal, model);
    EXPECT_EQ(model.has_forgotten, num_names > WriterJournal::max_writers);
  }
}

TEST(WriterJournal, APlaceInWhichNothingIsRecordedLeavesNoTrace) {
  WriterJournal journal;
  { const WriterJournal::Place place(journal, "w"); }
  EXPECT_TRUE(journal.is_empty());
  EXPECT_EQ(journal.blob(), "");
  record(journal, "w", 1, "abcd");
  const std::string before = journal.blob();
  { const WriterJournal::Place place(journal, "w"); }
  { const WriterJournal::Place place(journal, "another"); }
  EXPECT_EQ(journal.blob(), before);
}

TEST(WriterJournal, KeepsNoMoreThan64RepliesAndStatesTheirSizeInAdvance) {
  WriterJournal journal;
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t most = journal.most_blob_bytes_with("w", 1, 8);
    record(journal, "w", 1, "12345678");
    EXPECT_LE(journal.blob_bytes(), most);
  }
  EXPECT_EQ(journal.writers().front().replies.size(), 64u);
  EXPECT_EQ(journal.find("w", 137).batch, Batch::is_kept);
  EXPECT_EQ(journal.find("w", 136).batch, Batch::is_not_kept);
  const std::uint64_t exact = journal.most_blob_bytes_with("w", 190, 8);
  record(journal, "w", 190, "12345678");
  EXPECT_EQ(journal.blob_bytes(), exact);
}

std::string with_checksum(std::string blob) {
  std::string checksum;
  redis::append_parameter(checksum, redis::checksum_of(std::string_view(blob).substr(0, blob.size() - 8)));
  return blob.replace(blob.size() - 8, 8, checksum);
}

TEST(WriterJournal, RefusesDamagedBytesEvenIfTheirChecksumIsRight) {
  WriterJournal journal;
  for (int i = 0; i < 3; ++i) record(journal, "first", 1, std::string(static_cast<std::size_t>(4 * i), 'r'));
  record(journal, "second", 1, "abcd");
  const std::string blob = journal.blob();
  for (std::size_t i = 0; i < blob.size(); ++i) {
    for (const int bit : {0, 3, 7}) {
      std::string damaged = blob;
      damaged[i] = static_cast<char>(damaged[i] ^ 1 << bit);
      EXPECT_THROW(WriterJournal::from_blob(damaged), FormatError) << i;
      try {
        // What is taken is what the bytes say.
        const std::string right = with_checksum(damaged);
        EXPECT_EQ(WriterJournal::from_blob(right).blob(), right) << i;
      } catch (const FormatError&) {
      }
    }
    const std::string cut = blob.substr(0, i);
    if (i > 0) {
      EXPECT_THROW(WriterJournal::from_blob(cut), FormatError) << i;
    }
    if (i >= 8 && i + 8 < blob.size()) {
      EXPECT_THROW(WriterJournal::from_blob(with_checksum(cut + "checksum")), FormatError) << i;
    }
  }
  EXPECT_THROW(WriterJournal::from_blob(with_checksum(blob.substr(0, blob.size() - 8) + "more....checksum")),
               FormatError);
  // A number of writers, of replies or of bytes that the blob does not have.
  for (const std::size_t at : {16, 24, 37, 45, 53}) {
    std::string damaged = blob;
    damaged.replace(at, 8, std::string("\xff\xff\xff\xff\xff\xff\xff\x7f"));
    const std::string right = with_checksum(damaged);
    if (at == 37) continue;  // the number of the last batch, which may be any
    EXPECT_THROW(WriterJournal::from_blob(right), FormatError) << at;
  }
}

}  // namespace
}  // namespace tally::test
