#include "store/unit_writer.hpp"

#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "input/key_reader.hpp"
#include "store/output_place.hpp"
#include "tally/hashing/random_seed.hpp"

namespace tally::cli {
namespace {

using redis_client::BatchWriter;
using redis_client::Cluster;
using redis_client::WriterPosition;

/// Some thousand for each shard, so that a batch takes the server longer than its command; of many shards fewer for each,
/// because of the memory of the writer.
std::size_t keys_per_unit(std::size_t num_shards) {
  return std::max(std::clamp(num_shards * 4096, std::size_t{16384}, std::size_t{131072}),
                  std::min(num_shards * 1024, std::size_t{1} << 20));
}
// The module takes no more. A frequent key can fill a batch of its shard long before a unit is full.
constexpr std::size_t most_keys_per_batch = 65536;
constexpr std::size_t most_units = 24;
constexpr std::size_t most_unit_bytes = std::size_t{64} << 20;
// Batches that are answered, to be sent again after a failover.
constexpr std::size_t most_kept_bytes = std::size_t{16} << 20;
constexpr std::uint64_t most_log_bytes = std::uint64_t{64} << 20;
constexpr Nanoseconds a_while = nanoseconds_per_second / 10;

/// How keys are read, if the log must have been written so: a log of --line has lines, from which keys are read again.
std::string reading_text(const InputOptions& input) {
  std::string text(name_of(input.key_type));
  const FieldOptions& fields = input.fields;
  if (input.prints_lines) {
    text += fmt::format(" --line --format {} --delimiter '{}' --fields '{}' --output-delimiter '{}'",
                        name_of(fields.format), fields.delimiter_or_default(), fields.list,
                        fields.output_delimiter);
  }
  return text;
}

std::string batches_text(std::uint64_t number) {
  return fmt::format("{} {}", number, number == 1 ? "batch" : "batches");
}

std::string lines_text(std::uint64_t first, std::uint64_t last) {
  return first == last ? fmt::format("line {}", first) : fmt::format("lines {} to {}", first, last);
}

std::string store_text(const redis_client::Store& store) {
  return fmt::format("{} seed {}", store.name(), store.description().seed);
}

}  // namespace

UnitWriter::UnitWriter(Cluster& cluster, const redis_client::Store& store, const StoreOptions& options,
                       const InputOptions& input, bool quiet, Output& output, Actions actions)
    : cluster_(cluster),
      store_(store),
      quiet_(quiet),
      output_(output),
      actions_(std::move(actions)),
      writer_id_(fmt::format("{:016x}{:016x}", random_seed(), random_seed())),
      key_type_(input.key_type),
      reading_(reading_text(input)),
      prints_lines_(input.prints_lines),
      fields_(input.fields),
      input_(identity_of(input.files)),
      keys_per_unit_(keys_per_unit(store.num_shards())) {
  std::vector<WriterPosition> from(store.num_shards());
  if (!options.state_path.empty()) log_.emplace(options.state_path, quiet);
  if (log_ && log_->state()) {
    WriterState& state = *log_->state();
    if (state.store != store_text(store) || state.positions.size() != store.num_shards()) {
      throw std::runtime_error(
          fmt::format("--state: '{}' belongs to the store '{}', but this one is '{}'; give another file",
                      options.state_path, state.store, store_text(store)));
    }
    if (state.reading != reading_) {
      throw std::runtime_error(fmt::format(
          "--state: '{}' was written with --key-type {}, but now it is {}; give the same value, or "
          "another file",
          options.state_path, state.reading, reading_));
    }
    writer_id_ = state.writer;
    from = state.positions;
    next_unit_ = state.next_unit;
    printed_from_ = state.printing;
    if (!state.is_finished && !input_.empty() && state.input == input_) num_to_skip_ = state.num_lines;
  }
  writer_.emplace(cluster, store, writer_id_, std::move(from), most_kept_bytes, observer());
  current_ = std::make_shared<InputUnit>(store.num_shards());
  if (log_) resume();
}

BatchWriter::Observer UnitWriter::observer() {
  BatchWriter::Observer observer;
  observer.lost = [this](std::uint32_t shard, std::uint64_t num_batches, std::uint64_t num_keys) {
    totals_.num_lost += num_batches;
    totals_.num_lost_keys += num_keys;
    remark(false,
           fmt::format("warning: a failover has lost {} batches of '{}' that were answered, with {} keys "
                       "or more, and they are gone: give --wait 1 to wait for replicas",
                       num_batches, store_.key_of(shard), num_keys));
  };
  observer.repairing = [this](std::uint32_t shard, std::uint64_t num_batches) {
    totals_.num_repaired += num_batches;
    remark(quiet_, fmt::format("a failover has lost {} of '{}'; sent again", batches_text(num_batches),
                               store_.key_of(shard)));
  };
  observer.forgotten = [this](std::uint32_t shard, std::uint64_t num_batches) {
    totals_.num_in_doubt += num_batches;
    remark(false, fmt::format(
                      "warning: '{}' has forgotten this run, because too many others came; {} batches may be "
                      "counted twice",
                      store_.key_of(shard), num_batches));
  };
  observer.moved = [this](std::uint32_t shard, const WriterPosition& position) {
    if (log_) log_->moved(shard, position);
  };
  return observer;
}

std::vector<WriterPosition> UnitWriter::positions() const {
  std::vector<WriterPosition> list(store_.num_shards());
  for (std::uint32_t shard = 0; shard < list.size(); ++shard) list[shard] = writer_->position(shard);
  return list;
}

WriterState UnitWriter::state(bool is_finished) const {
  WriterState state{.store = store_text(store_),
                    .writer = writer_id_,
                    .positions = positions(),
                    .next_unit = next_unit_,
                    .reading = reading_,
                    .input = input_,
                    .num_lines = num_logged_lines_,
                    .is_finished = is_finished,
                    .units = {},
                    .printing = {}};
  for (const UnitPointer& unit : units_) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < unit->size(); ++i) texts.emplace_back(unit->text(i));
    state.units.emplace_back(unit->first_line, std::move(texts));
  }
  return state;
}

/// Sends what a run that was killed has left, under the same numbers: what it had sent is not counted again.
void UnitWriter::resume() {
  WriterState state;
  if (log_->state()) state = *std::move(log_->state());
  const bool was_finished = state.is_finished;
  const std::uint64_t last_line = state.num_lines;
  state.store = store_text(store_);
  state.writer = writer_id_;
  state.positions = positions();
  state.reading = reading_;
  state.input = input_;
  state.num_lines = num_logged_lines_ = num_to_skip_;
  state.is_finished = false;
  log_->begin(state);
  if (num_to_skip_ > 0) {
    remark(quiet_, fmt::format("the last run was stopped after line {} of this input; continuing behind it",
                               num_to_skip_));
  }
  next_unit_ = state.next_unit - state.units.size();
  if (log_->state() && !was_finished && num_to_skip_ == 0 && last_line > 0) {
    remark(false,
           fmt::format(
               "the last run was stopped after line {} of its input; lines that it had read after that are "
               "not counted",
               last_line));
  }
  if (!state.units.empty()) {
    const std::uint64_t first = state.units.front().first;
    const std::uint64_t last = state.units.back().first + state.units.back().second.size() - 1;
    remark(false, fmt::format("the last run had no answer for {} of its input; sent again, and counted once",
                              lines_text(first, last)));
  }
  for (const auto& [first_line, texts] : state.units) {
    const auto unit = std::make_shared<InputUnit>(store_.num_shards());
    for (const std::string& text : texts) {
      const std::string_view key = prints_lines_ ? fields_.select(text) : text;
      const Hash128 digest = store_.hasher()(stored_key(key_type_, key));
      unit->add(text, digest, store_.shard_of(digest));
    }
    fields_.forget_joined();
    unit->number = next_unit_++;
    unit->first_line = first_line;
    unit->is_repeated = true;
    totals_.num_resumed_lines += unit->size();
    send(unit);
  }
  drain();
}

void UnitWriter::add(std::span<const std::string_view> texts, std::span<const Hash128> digests) {
  for (std::size_t i = 0; i < texts.size(); ++i) {
    ++totals_.num_lines;
    if (num_to_skip_ > 0) {
      --num_to_skip_;
      ++totals_.num_skipped;
      continue;
    }
    if (current_->size() == 0) current_->first_line = totals_.num_lines;
    current_->add(texts[i], digests[i], store_.shard_of(digests[i]));
  }
  if (current_->size() >= keys_per_unit_ ||
      current_->most_in_a_shard() + KeyReader::max_keys_a_call > most_keys_per_batch) {
    send_current();
  }
}

void UnitWriter::send_all() {
  send_current();
  drain();
  output_.flush();
}

void UnitWriter::send_current() {
  if (current_->size() == 0) return;
  UnitPointer unit = std::exchange(current_, std::make_shared<InputUnit>(store_.num_shards()));
  unit->number = next_unit_++;
  num_logged_lines_ = unit->first_line + unit->size() - 1;
  if (log_) log_->add(*unit);
  send(std::move(unit));
}

void UnitWriter::send(UnitPointer unit) {
  for (std::uint32_t shard = 0; shard < unit->num_shards(); ++shard) {
    if (!unit->of_shard(shard).empty()) ++unit->num_awaited;
  }
  units_.push_back(unit);
  unit_bytes_ += unit->num_bytes();
  wait_for_room();
  for (std::uint32_t shard = 0; shard < unit->num_shards(); ++shard) {
    if (unit->of_shard(shard).empty()) continue;
    ++totals_.num_batches;
    writer_->send(
        shard,
        {.operation = actions_.operation(*unit, shard),
         .num_items = unit->of_shard(shard).size(),
         .done = [this, unit, shard](const InputUnit::Numbers& reply) { take(unit, shard, reply); },
         .repaired = [this, unit, shard](const InputUnit::Numbers& reply) { take_again(unit, shard, reply); },
         .may_count_twice = actions_.may_count_twice});
  }
  cluster_.step(0);
  print_what_is_complete();
}

void UnitWriter::wait_for_room() {
  const auto is_full = [&] {
    if (units_.size() > most_units || (units_.size() > 1 && unit_bytes_ > most_unit_bytes)) return true;
    for (std::uint32_t shard = 0; shard < store_.num_shards(); ++shard) {
      if (!writer_->has_room(shard)) return true;
    }
    return false;
  };
  while (is_full()) {
    cluster_.step(a_while);
    print_what_is_complete();
  }
}

void UnitWriter::drain() {
  while (!units_.empty()) {
    print_what_is_complete();
    if (!units_.empty()) cluster_.step(a_while);
  }
}

void UnitWriter::take(const UnitPointer& unit, std::uint32_t shard, const InputUnit::Numbers& reply) {
  unit->reply(shard) = reply;
  --unit->num_awaited;
}

void UnitWriter::take_again(const UnitPointer& unit, std::uint32_t shard, const InputUnit::Numbers& reply) {
  output_.write(actions_.repaired(*unit, shard, reply));
}

void UnitWriter::print_what_is_complete() {
  while (!units_.empty() && units_.front()->num_awaited == 0) {
    const UnitPointer unit = units_.front();
    print(*unit);
    for (std::uint32_t shard = 0; shard < unit->num_shards(); ++shard) {
      if (!unit->of_shard(shard).empty()) writer_->release(shard);
    }
    units_.pop_front();
    unit_bytes_ -= unit->num_bytes();
    if (!log_) continue;
    log_->done(*unit, positions());
    if (log_->num_bytes() > most_log_bytes) log_->begin(state(false));
  }
}

void UnitWriter::print(InputUnit& unit) {
  std::string text = actions_.text(unit);
  unit.is_printed = true;
  if (text.empty()) return;
  if (!log_) return output_.write(text);
  output_.flush();
  if (printed_from_) {
    // This unit is the first of the log.
    const std::optional<std::size_t> num_written = num_bytes_written(*printed_from_, text);
    if (num_written) {
      text.erase(0, *num_written);
    } else {
      remark(false,
             fmt::format("the last run was printing keys of {} when it was stopped; they are printed again",
                         lines_text(unit.first_line, unit.first_line + unit.size() - 1)));
    }
    printed_from_.reset();
  }
  log_->print(unit, output_place());
  output_.write(text);
  output_.flush();
}

void UnitWriter::finish(bool is_finished) {
  send_current();
  drain();
  output_.flush();
  num_logged_lines_ = totals_.num_lines;
  if (log_) return log_->begin(state(is_finished));
  writer_->end();
}

std::string UnitWriter::lines_in_doubt() const {
  const std::uint64_t last = totals_.num_lines;
  std::uint64_t first = last + 1;
  if (!units_.empty()) first = units_.front()->first_line;
  else if (current_ && current_->size() > 0) first = current_->first_line;
  return first > last ? "" : lines_text(first, last);
}

}  // namespace tally::cli
