#include "writer_journal.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "parameter_bytes.hpp"
#include "tally/serialization/format_error.hpp"

// The blob: magic bytes, whether writers were forgotten, the number of writers, the writers from the least recently used one
// on, a checksum. A writer: its name, the number of its last batch, the number of its replies, the replies. Numbers have 8
// little-endian bytes, and stand before a name and a reply as their lengths.

namespace tally::redis {
namespace {

constexpr std::string_view journal_magic = "TALLYWJ1";
constexpr std::uint64_t bytes_around_writers = 8 + 8 + 8 + 8;
constexpr std::uint64_t numbers_of_writer = 8 + 8 + 8;

/// The number of replies below number `oldest`.
std::uint64_t num_below(const WriterJournal::Writer& writer, std::uint64_t oldest) noexcept {
  const std::uint64_t first = writer.last - writer.replies.size() + 1;
  return oldest <= first ? 0 : std::min<std::uint64_t>(oldest - first, writer.replies.size());
}

/// Reads a blob from its begin to its end.
class JournalReader {
 public:
  explicit JournalReader(std::string_view bytes) : all_(bytes), rest_(bytes) {}

  [[noreturn]] void refuse(const char* reason) const {
    throw FormatError(std::string("the journal of writers is damaged: ") + reason,
                      all_.size() - rest_.size());
  }
  std::uint64_t number(std::uint64_t least, std::uint64_t most, const char* out_of_range) {
    if (rest_.size() < 8) refuse("it ends too early");
    std::string_view next = rest_;
    const std::uint64_t value = take_parameter(next);
    if (value < least || value > most) refuse(out_of_range);
    rest_ = next;
    return value;
  }
  std::string_view text(std::uint64_t size) {
    if (rest_.size() < size) refuse("it ends too early");
    const std::string_view text = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return text;
  }
  bool is_at_end() const noexcept { return rest_.empty(); }

 private:
  std::string_view all_, rest_;
};

}  // namespace

WriterJournal::WriterJournal(const WriterJournal& other)
    : writers_(other.writers_),
      has_forgotten_(other.has_forgotten_),
      text_bytes_(other.text_bytes_),
      num_replies_(other.num_replies_) {
  for (Iterator writer = writers_.begin(); writer != writers_.end(); ++writer) {
    by_name_.emplace(writer->name, writer);
  }
}

WriterJournal::Found WriterJournal::find(std::string_view writer, std::uint64_t sequence) const {
  const auto found = by_name_.find(writer);
  if (found == by_name_.end()) {
    if (sequence == 1) return {Batch::is_next, 0, {}};
    return {has_forgotten_ ? Batch::is_unknown : Batch::is_too_far, 0, {}};
  }
  const Writer& own = *found->second;
  if (sequence > own.last) {
    return {sequence - own.last == 1 ? Batch::is_next : Batch::is_too_far, own.last, {}};
  }
  const std::uint64_t before_end = own.last - sequence + 1;
  if (before_end > own.replies.size()) return {Batch::is_not_kept, own.last, {}};
  return {Batch::is_kept, own.last, own.replies[own.replies.size() - before_end]};
}

WriterJournal::Iterator WriterJournal::append(std::string_view name) {
  const Iterator writer = writers_.insert(writers_.end(), Writer{std::string(name), 0, {}});
  try {
    by_name_.emplace(writer->name, writer);
  } catch (...) {
    writers_.erase(writer);
    throw;
  }
  text_bytes_ += name.size();
  return writer;
}

void WriterJournal::drop_replies(Writer& writer, std::uint64_t oldest) noexcept {
  const auto end = writer.replies.begin() + static_cast<std::ptrdiff_t>(num_below(writer, oldest));
  for (auto reply = writer.replies.begin(); reply != end; ++reply) text_bytes_ -= reply->size();
  num_replies_ -= static_cast<std::uint64_t>(end - writer.replies.begin());
  writer.replies.erase(writer.replies.begin(), end);
}

void WriterJournal::erase(Iterator writer) noexcept {
  drop_replies(*writer, std::numeric_limits<std::uint64_t>::max());
  text_bytes_ -= writer->name.size();
  by_name_.erase(writer->name);
  writers_.erase(writer);
}

WriterJournal::Place::Place(WriterJournal& journal, std::string_view writer) : journal_(journal) {
  const auto found = journal.by_name_.find(writer);
  writer_ = found != journal.by_name_.end() ? found->second : journal.append(writer);
  try {
    std::vector<std::string>& replies = writer_->replies;
    if (replies.size() == replies.capacity()) replies.reserve(std::max<std::size_t>(2, 2 * replies.size()));
  } catch (...) {
    if (writer_->last == 0) journal.erase(writer_);
    throw;
  }
}

WriterJournal::Place::~Place() {
  if (!is_recorded_ && writer_->last == 0) journal_.erase(writer_);
}

void WriterJournal::Place::record(std::uint64_t oldest, std::string reply) noexcept {
  try {
    reply.shrink_to_fit();
  } catch (const std::bad_alloc&) {  // it then takes more memory than it needs
  }
  const std::uint64_t sequence = writer_->last + 1;
  // No more than max_kept_replies, whatever `oldest` is.
  const std::uint64_t least_oldest = sequence < max_kept_replies ? 1 : sequence - max_kept_replies + 1;
  journal_.drop_replies(*writer_, std::max(oldest, least_oldest));
  journal_.text_bytes_ += reply.size();
  journal_.num_replies_ += 1;
  writer_->replies.push_back(std::move(reply));
  writer_->last = sequence;
  is_recorded_ = true;
  journal_.writers_.splice(journal_.writers_.end(), journal_.writers_, writer_);
  if (journal_.writers_.size() <= max_writers) return;
  journal_.erase(journal_.writers_.begin());
  journal_.has_forgotten_ = true;
}

bool WriterJournal::use(std::string_view writer, std::uint64_t oldest) noexcept {
  const auto found = by_name_.find(writer);
  if (found == by_name_.end()) return false;
  const bool is_last = std::next(found->second) == writers_.end();
  const bool drops = num_below(*found->second, oldest) > 0;
  drop_replies(*found->second, oldest);
  writers_.splice(writers_.end(), writers_, found->second);
  return drops || !is_last;
}

bool WriterJournal::remove(std::string_view writer) noexcept {
  const auto found = by_name_.find(writer);
  if (found == by_name_.end()) return false;
  erase(found->second);
  return true;
}

std::string WriterJournal::blob() const {
  std::string bytes;
  if (is_empty()) return bytes;
  bytes.reserve(blob_bytes());
  bytes += journal_magic;
  append_parameter(bytes, has_forgotten_ ? 1 : 0);
  append_parameter(bytes, writers_.size());
  for (const Writer& writer : writers_) {
    append_parameter(bytes, writer.name.size());
    bytes += writer.name;
    append_parameter(bytes, writer.last);
    append_parameter(bytes, writer.replies.size());
    for (const std::string& reply : writer.replies) {
      append_parameter(bytes, reply.size());
      bytes += reply;
    }
  }
  append_parameter(bytes, checksum_of(bytes));
  return bytes;
}

std::uint64_t WriterJournal::blob_bytes() const noexcept {
  return bytes_around_writers + numbers_of_writer * writers_.size() + 8 * num_replies_ + text_bytes_;
}

std::uint64_t WriterJournal::most_blob_bytes_with(std::string_view writer, std::uint64_t oldest,
                                                  std::uint64_t reply_bytes) const noexcept {
  std::uint64_t bytes = blob_bytes() + 8 + reply_bytes;
  const auto found = by_name_.find(writer);
  if (found == by_name_.end()) return bytes + numbers_of_writer + writer.size();
  const std::vector<std::string>& replies = found->second->replies;
  for (std::uint64_t i = 0; i < num_below(*found->second, oldest); ++i) bytes -= 8 + replies[i].size();
  return bytes;
}

WriterJournal WriterJournal::from_blob(std::string_view bytes) {
  WriterJournal journal;
  if (bytes.empty()) return journal;
  if (bytes.size() < bytes_around_writers || !bytes.starts_with(journal_magic)) {
    throw FormatError("the journal of writers does not begin with " + std::string(journal_magic), 0);
  }
  std::string_view checksum = bytes.substr(bytes.size() - 8);
  bytes.remove_suffix(8);
  JournalReader reader(bytes);
  if (take_parameter(checksum) != checksum_of(bytes)) reader.refuse("its checksum is wrong");
  (void)reader.text(journal_magic.size());
  journal.has_forgotten_ = reader.number(0, 1, "its first number is not 0 or 1") == 1;
  const std::uint64_t num_writers = reader.number(0, max_writers, "it has too many writers");
  constexpr auto greatest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  for (std::uint64_t i = 0; i < num_writers; ++i) {
    const std::string_view name =
        reader.text(reader.number(1, max_writer_bytes, "the name of a writer has not 1 to 64 bytes"));
    if (journal.by_name_.contains(name)) reader.refuse("it has a writer twice");
    Writer& writer = *journal.append(name);
    writer.last = reader.number(1, greatest, "the number of a batch is out of range");
    const std::uint64_t num_replies =
        reader.number(0, std::min(max_kept_replies, writer.last), "a writer has too many replies");
    for (std::uint64_t j = 0; j < num_replies; ++j) {
      const std::uint64_t size = reader.number(0, max_reply_bytes, "a reply is too long");
      if (size % 4 != 0) reader.refuse("the length of a reply is not a multiple of 4");
      writer.replies.emplace_back(reader.text(size));
      journal.text_bytes_ += size;
      ++journal.num_replies_;
    }
  }
  if (!reader.is_at_end()) reader.refuse("bytes follow the last writer");
  if (journal.is_empty()) reader.refuse("it is empty, and an empty one has no bytes");
  return journal;
}

std::uint64_t WriterJournal::memory_bytes() const noexcept {
  constexpr std::uint64_t bytes_per_writer = 256;  // nodes of the list and of the map
  std::uint64_t bytes = text_bytes_;
  for (const Writer& writer : writers_) {
    bytes += bytes_per_writer + writer.replies.capacity() * sizeof(std::string);
  }
  return bytes;
}

}  // namespace tally::redis
