#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "input/key_reader.hpp"
#include "store/input_unit.hpp"
#include "store/options.hpp"
#include "store/writer_log.hpp"
#include "tally/redis_client/batch_writer.hpp"
#include "text/output.hpp"

namespace tally::cli {

/// Sends the keys of an input to a store in units, and prints what the replies say, in the order of the input.
///
/// Several units are on their way at once. Where the input pauses, as a pipe does, `send_all` awaits all of them.
class UnitWriter {
 public:
  struct Actions {
    /// The operation of TALLY.BATCH for the keys of a shard.
    std::function<redis_client::Cluster::Arguments(const InputUnit&, std::uint32_t shard)> operation;
    /// What to print when all shards have replied.
    std::function<std::string(const InputUnit&)> text = [](const InputUnit&) { return std::string(); };
    /// A failover has lost a batch, which has now the reply `again` and had unit.reply(shard). Returns what to print.
    std::function<std::string(InputUnit&, std::uint32_t shard, const InputUnit::Numbers& again)> repaired =
        [](InputUnit&, std::uint32_t, const InputUnit::Numbers&) { return std::string(); };
    bool may_count_twice = true;
  };
  struct Totals {
    std::uint64_t num_lines =
        0;  ///< of this run's input that were sent, or skipped because an earlier run did
    std::uint64_t num_skipped = 0;        ///< those
    std::uint64_t num_resumed_lines = 0;  ///< of the log
    std::uint64_t num_batches = 0;
    std::uint64_t num_repaired = 0;   ///< batches that a failover had lost, and that were sent again
    std::uint64_t num_lost = 0;       ///< batches that a failover has lost, and that are gone
    std::uint64_t num_lost_keys = 0;  ///< keys in those, as far as is known
    std::uint64_t num_in_doubt = 0;   ///< batches that may have been counted twice
  };

  /// Opens the log of options.state_path, if there is one, and sends what is left in it.
  UnitWriter(redis_client::Cluster& cluster, const redis_client::Store& store, const StoreOptions& options,
             const InputOptions& input, bool quiet, Output& output, Actions actions);

  /// The next keys of the input, and the texts that are printed of them. Throws Unavailable and StoreError; the log then has what is not done.
  void add(std::span<const std::string_view> texts, std::span<const Hash128> digests);
  /// Sends what there is, waits for the replies and prints what they say. The input goes on.
  void send_all();
  /// Sends the rest and waits for all replies. `is_finished`: the whole input was read.
  void finish(bool is_finished);

  const Totals& totals() const noexcept { return totals_; }
  /// "lines 5 to 9": what an error leaves uncounted or in doubt; empty if nothing.
  std::string lines_in_doubt() const;

 private:
  using UnitPointer = std::shared_ptr<InputUnit>;

  redis_client::BatchWriter::Observer observer();
  std::vector<redis_client::WriterPosition> positions() const;
  void resume();
  void send(UnitPointer unit);
  void send_current();
  void wait_for_room();
  void drain();
  void take(const UnitPointer& unit, std::uint32_t shard, const InputUnit::Numbers& reply);
  void take_again(const UnitPointer& unit, std::uint32_t shard, const InputUnit::Numbers& reply);
  void print_what_is_complete();
  void print(InputUnit& unit);
  WriterState state(bool is_finished) const;

  redis_client::Cluster& cluster_;
  const redis_client::Store& store_;
  bool quiet_;
  Output& output_;
  Actions actions_;
  Totals totals_;
  std::optional<WriterLog> log_;
  std::string writer_id_;
  KeyType key_type_;
  std::string reading_;
  bool prints_lines_;
  FieldSelector fields_;
  InputIdentity input_;
  std::uint64_t num_logged_lines_ = 0;
  std::uint64_t num_to_skip_ = 0;
  std::optional<OutputPlace> printed_from_;  // by the run that was killed
  std::optional<redis_client::BatchWriter> writer_;
  std::size_t keys_per_unit_;
  std::uint64_t next_unit_ = 1;
  UnitPointer current_;
  std::deque<UnitPointer> units_;
  std::size_t unit_bytes_ = 0;
};

}  // namespace tally::cli
