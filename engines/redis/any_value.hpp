#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tally/serialization/format_error.hpp"
#include "writer_journal.hpp"

namespace tally::redis {

/// The value of a key, of any type, and the journal of its writers. The value is dumped and loaded in pieces: a header, which begins with the type's magic bytes
/// and ends with a checksum, and then the body.
///
/// While a dump is being loaded, the value is incomplete, and only the functions of dumps and loads work.
class AnyValue {
 public:
  virtual ~AnyValue() = default;

  /// Throws Refusal for an incomplete value.
  virtual void require_complete() const = 0;

  // A dump. An incomplete value dumps what it has loaded.

  virtual std::string dump_header() const = 0;
  /// For load_empty, of an empty value.
  virtual std::string empty_header() const { return dump_header(); }
  /// Of the body.
  virtual std::uint64_t dump_bytes() const = 0;
  /// The bytes of the body from `offset` on, which is below dump_bytes(): at most max_piece_bytes. Valid until the value
  /// changes.
  virtual std::string_view dump_piece(std::uint64_t offset) const = 0;

  // A load.

  /// A body of at most `max_bytes`. Throws Refusal and FormatError.
  virtual void begin_load(std::string_view header, std::uint64_t max_bytes) = 0;
  /// The next bytes of the body, of which the last is number `end`, counted from 1. With the last piece, the value is
  /// complete. Throws Refusal for a piece that does not fit, or that completes something damaged; then nothing has changed.
  virtual void load_piece(std::uint64_t end, std::string_view bytes) = 0;
  /// Makes this the empty value that has this header. A body of at most `max_bytes`. Throws Refusal, FormatError (also for
  /// the header of a value that is not empty) and std::bad_alloc.
  virtual void load_empty(std::string_view header, std::uint64_t max_bytes) = 0;
  /// Of the body, once it is loaded.
  virtual std::uint64_t total_bytes() const = 0;

  // With the journal.

  std::uint64_t memory_bytes() const { return own_memory_bytes() + journal_.memory_bytes(); }
  std::unique_ptr<AnyValue> copy() const {
    std::unique_ptr<AnyValue> copied = copy_without_journal();
    copied->journal_ = journal_;
    return copied;
  }

  /// Of the writers of numbered batches. Dumps do not contain it.
  const WriterJournal& journal() const noexcept { return journal_; }
  WriterJournal& journal() noexcept { return journal_; }

 protected:
  AnyValue() = default;
  AnyValue(const AnyValue&) noexcept {}  // copy() then copies the journal
  AnyValue& operator=(const AnyValue&) = delete;

 private:
  virtual std::uint64_t own_memory_bytes() const = 0;
  virtual std::unique_ptr<AnyValue> copy_without_journal() const = 0;

  WriterJournal journal_;
};

}  // namespace tally::redis
