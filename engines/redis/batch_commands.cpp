#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <string_view>

#include "command.hpp"
#include "open_key.hpp"
#include "packed_operations.hpp"
#include "packed_reply.hpp"
#include "value_types.hpp"

// TALLY.BATCH: batches of writers that number them. A batch that is sent again changes nothing.

namespace tally::redis {
namespace {

using Batch = WriterJournal::Batch;

constexpr const char* no_key = "ERR the key does not exist; create it first";
/// So that the journal fits in one command of an append-only file.
constexpr std::uint64_t max_journal_bytes = std::uint64_t{256} << 20;

std::string_view writer_of(const Call& call) {
  const std::string_view writer = call.text(2);
  if (!writer.empty() && writer.size() <= WriterJournal::max_writer_bytes) return writer;
  throw Refusal("ERR the name of the writer has " + std::to_string(writer.size()) +
                " bytes; must have 1 to 64; give a shorter or longer one");
}

std::uint64_t number_of_batch(const Call& call, std::size_t argument, const char* name, long long most) {
  const auto number = call.integer(argument);
  if (number && *number >= 1 && *number <= most) return static_cast<std::uint64_t>(*number);
  throw Refusal("ERR " + std::string(name) + " is '" + std::string(call.text(argument).substr(0, 100)) +
                "'; must be a number from 1 to " + std::to_string(most));
}

/// Arguments 2 to 4 of a batch.
struct BatchOfWriter {
  std::string_view writer;
  std::uint64_t sequence;
  std::uint64_t oldest;
};

BatchOfWriter batch_of_writer(const Call& call) {
  const std::string_view writer = writer_of(call);
  const std::uint64_t sequence =
      number_of_batch(call, 3, "the sequence", std::numeric_limits<long long>::max());
  const std::uint64_t oldest =
      number_of_batch(call, 4, "the oldest batch without a reply", static_cast<long long>(sequence));
  if (sequence - oldest >= WriterJournal::max_kept_replies) {
    throw Refusal("ERR batch " + std::to_string(oldest) + " is the oldest without a reply, " +
                  std::to_string(sequence - oldest) +
                  " before this one; must be at most 63 before it, because 64 replies are kept; read "
                  "the replies before you send more");
  }
  return {writer, sequence, oldest};
}

/// Throws Refusal for a batch that is neither the next one nor one with a kept reply.
void require_next_or_kept(const WriterJournal::Found& found, std::uint64_t sequence) {
  const std::string last = std::to_string(found.last);
  switch (found.batch) {
    case Batch::is_next:
    case Batch::is_kept:
      return;
    case Batch::is_not_kept:
      throw Refusal("ERR the reply of batch " + std::to_string(sequence) +
                    " of this writer is not kept any more; its last batch is " + last +
                    ", and it has said that it has the replies before an older one; send a batch again only "
                    "until its reply has come");
    case Batch::is_too_far:
      throw Refusal("GAP " + last + " is the last batch of this writer here; send " +
                    std::to_string(found.last + 1) + " next");
    case Batch::is_unknown:
      throw Refusal("FORGOTTEN the key knows no such writer, and has forgotten some: it knows at most " +
                    std::to_string(WriterJournal::max_writers) +
                    "; begin with 1 under a new name, and end writers with TALLY.ENDWRITER");
  }
}

void require_room_in_journal(const Call& call, const WriterJournal& journal, const BatchOfWriter& batch,
                             std::size_t most_numbers) {
  if (call.is_replayed()) return;
  const std::uint64_t limit = std::min(max_journal_bytes, call.max_key_bytes());
  const std::uint64_t bytes =
      journal.most_blob_bytes_with(batch.writer, batch.oldest, PackedReply::bytes_per_number * most_numbers);
  if (bytes <= limit) return;
  throw Refusal("ERR the key would keep writers and replies of up to " + std::to_string(bytes) +
                " bytes; must be at most " + std::to_string(limit) +
                ", MAX-KEY-BYTES or 256 MiB; send a later oldest batch, smaller batches, or end writers with "
                "TALLY.ENDWRITER");
}

void send_record(const Call& call, const BatchOfWriter& batch, std::string_view reply) noexcept {
  api::replicate(call.context(), "TALLY.RECORD", "ssllb", call.argument(1), call.argument(2),
                 static_cast<long long>(batch.sequence), static_cast<long long>(batch.oldest), reply.data(),
                 reply.size());
}

void run_batch(Call& call) {
  const BatchOfWriter batch = batch_of_writer(call);
  const PackedOperation& operation = packed_operation(call, 5);
  OpenKey key(call, KeyAccess::write);
  AnyValue& value = operation.find(key);
  WriterJournal& journal = value.journal();
  const WriterJournal::Found found = journal.find(batch.writer, batch.sequence);
  require_next_or_kept(found, batch.sequence);
  if (found.batch == Batch::is_kept) {
    reply_with_numbers(call, found.reply);
    if (journal.use(batch.writer, batch.oldest)) send_record(call, batch, "");
    return;
  }
  require_room_in_journal(call, journal, batch, operation.most_numbers(call, 6));
  WriterJournal::Place place(journal, batch.writer);
  PackedReply reply;
  operation.run(call, value, 6, reply);
  reply_with_numbers(call, reply.bytes());
  send_record(call, batch, reply.bytes());
  place.record(batch.oldest, reply.take());
}

/// The value of a key, of any type of this module.
AnyValue& value_of_any_type(const OpenKey& key) {
  AnyValue* value = nullptr;
  const bool is_known = ValueTypes::any_of([&]<class Value>() {
    if (!key.has<Value>()) return false;
    value = &key.get<Value>(no_key);
    return true;
  });
  if (!is_known) throw Refusal(key.is_empty() ? no_key : wrong_type);
  return *value;
}

void list_writers(Call& call) {
  const OpenKey key(call, KeyAccess::read);
  const WriterJournal& journal = value_of_any_type(key).journal();
  call.array(journal.writers().size());
  for (const WriterJournal::Writer& writer : journal.writers()) {
    call.array(3);
    call.bytes(writer.name);
    call.integer_reply(writer.last);
    call.integer_reply(writer.replies.size());
  }
}

void end_writer(Call& call) {
  const std::string_view writer = writer_of(call);
  OpenKey key(call, KeyAccess::write);
  if (key.is_empty() || !value_of_any_type(key).journal().remove(writer)) return call.integer_reply(0);
  call.replicate_as("TALLY.ENDWRITER");
  call.integer_reply(1);
}

/// TALLY.RECORD key writer sequence oldest reply: what a batch does to the journal.
void record(Call& call) {
  const BatchOfWriter batch = batch_of_writer(call);
  const std::string_view reply = call.text(5);
  if (reply.size() % PackedReply::bytes_per_number != 0 || reply.size() > WriterJournal::max_reply_bytes) {
    throw Refusal("ERR the reply has " + std::to_string(reply.size()) +
                  " bytes; must be 4 bytes for each of up to 65538 numbers");
  }
  OpenKey key(call, KeyAccess::write);
  WriterJournal& journal = value_of_any_type(key).journal();
  const WriterJournal::Found found = journal.find(batch.writer, batch.sequence);
  require_next_or_kept(found, batch.sequence);
  if (found.batch == Batch::is_next) {
    require_room_in_journal(call, journal, batch, reply.size() / PackedReply::bytes_per_number);
    std::string own(reply);
    WriterJournal::Place(journal, batch.writer).record(batch.oldest, std::move(own));
  } else {
    journal.use(batch.writer, batch.oldest);
  }
  call.replicate_as("TALLY.RECORD");
  call.ok();
}

/// TALLY.LOADWRITERS key blob: the journal of a key that has none.
void load_writers(Call& call) {
  const std::string_view blob = call.text(2);
  OpenKey key(call, KeyAccess::write);
  AnyValue& value = value_of_any_type(key);
  if (!value.journal().is_empty()) throw Refusal("ERR the key has writers; load them into a key without");
  if (blob.size() > call.max_key_bytes()) {
    throw Refusal("ERR the writers take " + std::to_string(blob.size()) + " bytes; must be at most " +
                  std::to_string(call.max_key_bytes()) + ", the module's option MAX-KEY-BYTES");
  }
  try {
    value.journal() = WriterJournal::from_blob(blob);
  } catch (const FormatError& error) {
    throw Refusal("ERR received bad data: " + std::string(error.what()));
  }
  call.replicate_as("TALLY.LOADWRITERS");
  call.ok();
}

constexpr std::array batch_rows{
    Command{"TALLY.BATCH", entry<run_batch, 7, any_number>, "write deny-oom", KeyUse::read_and_update,
            "key writer sequence oldest " TALLY_PACKED_OPERATIONS,
            "Change a key as TALLY.PACKED, once for every sequence of a writer: the reply of TALLY.PACKED",
            time_per_item},
    Command{
        "TALLY.WRITERS", entry<list_writers, 2>, "readonly", KeyUse::read, "key",
        "List the writers, the least recently used one first: for each its name, the sequence of its last "
        "batch, and the number of kept replies",
        "O(N) where N is the number of writers"},
    Command{"TALLY.ENDWRITER", entry<end_writer, 3>, "write", KeyUse::update, "key writer",
            "Forget a writer: 1, or 0 if there is none", constant_time},
    Command{"TALLY.RECORD", entry<record, 6>, "write deny-oom", KeyUse::update,
            "key writer sequence oldest reply",
            "For replicas and append-only files: record the reply of a batch", constant_time},
    Command{"TALLY.LOADWRITERS", entry<load_writers, 3>, "write deny-oom", KeyUse::update, "key blob",
            "For append-only files: load the writers of a key", "O(N) where N is the number of writers"}};

}  // namespace

std::span<const Command> batch_commands() noexcept { return batch_rows; }

}  // namespace tally::redis
