#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tally::redis {

/// What a key remembers of the clients that send it numbered batches: for each writer the number of its last batch, and the
/// replies that it may not have received. So a batch that is sent again changes nothing and has the same reply, and a lost
/// one leaves a gap in the numbers.
///
/// Two journals that did the same in the same order are equal, to the byte.
class WriterJournal {
 public:
  static constexpr std::size_t max_writers = 4096;       ///< then the least recently used one is forgotten
  static constexpr std::uint64_t max_kept_replies = 64;  ///< of a writer
  static constexpr std::size_t max_writer_bytes = 64;    ///< of its name; it has at least 1
  /// Of a reply, whose length is a multiple of 4.
  static constexpr std::size_t max_reply_bytes = std::size_t{4} * (65536 + 2);

  struct Writer {
    std::string name;
    std::uint64_t last = 0;            ///< the number of its last batch
    std::vector<std::string> replies;  ///< of its last batches, of which the last one is number `last`
  };

  WriterJournal() = default;
  WriterJournal(const WriterJournal& other);
  WriterJournal(WriterJournal&&) noexcept = default;
  WriterJournal& operator=(const WriterJournal& other) { return *this = WriterJournal(other); }
  WriterJournal& operator=(WriterJournal&&) noexcept = default;
  ~WriterJournal() = default;

  /// Whether there is no writer, and none was forgotten.
  bool is_empty() const noexcept { return writers_.empty() && !has_forgotten_; }
  /// Whether a writer had to make room for another one.
  bool has_forgotten() const noexcept { return has_forgotten_; }
  /// From the least recently used to the most recently used one.
  const std::list<Writer>& writers() const noexcept { return writers_; }

  enum class Batch {
    is_next,
    is_kept,      ///< it was recorded, and `reply` is its reply
    is_not_kept,  ///< it was recorded, and its reply was dropped
    is_too_far,   ///< batches before it are missing
    is_unknown,   ///< batches before it may be missing, or their writer may have been forgotten
  };
  struct Found {
    Batch batch;
    std::uint64_t last;      ///< the number of the last batch; 0 if there is none
    std::string_view reply;  ///< valid until the journal changes
  };
  /// What batch `sequence` of this writer is. Numbers are counted from 1.
  Found find(std::string_view writer, std::uint64_t sequence) const;

  /// Room for the next batch of a writer. While it exists, nothing else may change the journal. If nothing is recorded, it
  /// leaves the journal as it was.
  class Place {
   public:
    /// Throws std::bad_alloc, and then changes nothing.
    Place(WriterJournal& journal, std::string_view writer);
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    /// Records the next batch of the writer and its reply, drops its replies below number `oldest`, and makes it the most
    /// recently used one. Call it once.
    void record(std::uint64_t oldest, std::string reply) noexcept;

   private:
    WriterJournal& journal_;
    std::list<Writer>::iterator writer_;
    bool is_recorded_ = false;
  };

  /// Drops the replies of a writer below number `oldest`, and makes it the most recently used one. Returns whether that has
  /// changed anything.
  bool use(std::string_view writer, std::uint64_t oldest) noexcept;
  /// Returns false if there is no such writer.
  bool remove(std::string_view writer) noexcept;

  /// All of it as bytes; empty for an empty journal.
  std::string blob() const;
  /// The length of what blob() returns, if it is not empty.
  std::uint64_t blob_bytes() const noexcept;
  /// An upper bound of blob_bytes() once the next batch of this writer is recorded.
  std::uint64_t most_blob_bytes_with(std::string_view writer, std::uint64_t oldest,
                                     std::uint64_t reply_bytes) const noexcept;
  /// Throws FormatError for bytes that blob() does not return, and std::bad_alloc. Takes memory in proportion to the bytes.
  static WriterJournal from_blob(std::string_view bytes);

  std::uint64_t memory_bytes() const noexcept;

 private:
  using Iterator = std::list<Writer>::iterator;

  void drop_replies(Writer& writer, std::uint64_t oldest) noexcept;
  void erase(Iterator writer) noexcept;
  Iterator append(std::string_view name);

  std::list<Writer> writers_;
  std::map<std::string_view, Iterator> by_name_;
  bool has_forgotten_ = false;
  std::uint64_t text_bytes_ = 0;  // of names and replies
  std::uint64_t num_replies_ = 0;
};

}  // namespace tally::redis
