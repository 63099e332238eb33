#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tally/redis_client/store.hpp"

namespace tally::redis_client {

/// Digests in the bytes that TALLY.BATCH takes: of each 16, the low half first, little-endian.
std::string packed(std::span<const Hash128> digests);

/// Where a writer is in the batches of a shard.
struct WriterPosition {
  std::uint32_t generation =
      0;  ///< 0, and one more whenever the server has lost what this writer could not send again
  std::uint64_t next_sequence = 1;  ///< of the first batch that is not released

  friend bool operator==(const WriterPosition&, const WriterPosition&) = default;
};

/// Sends batches of one writer to the shards of a store, each of which is counted once, however often it is sent.
///
/// The server keeps the reply of a batch until the writer releases it. So a writer that ends in between, and continues from
/// the same positions with the same batches, gets the same replies.
///
/// The server keeps the last sequence number of each writer, and so recognises a batch that it has. A failover may lose
/// batches that were answered; the server then says how many it has, and the writer sends the others again as long as it
/// keeps them (max_kept_bytes). What it no longer has is lost, and the observer receives how much.
class BatchWriter {
 public:
  using Numbers = std::vector<std::uint64_t>;
  struct Batch {
    Cluster::Arguments operation;  ///< what follows the sequence numbers in TALLY.BATCH
    std::uint64_t num_items = 0;
    std::function<void(const Numbers&)> done;  ///< the reply; called once
    /// The reply of the second time, if a failover has lost the batch after `done`.
    std::function<void(const Numbers&)> repaired = [](const Numbers&) {};
    /// Whether to send it again where nobody knows if it was counted: a count may then be too high. If not, that is an error.
    bool may_count_twice = true;
  };
  /// Receives what failovers do; by default nobody does.
  struct Observer {
    /// Batches that were answered are gone. Of how many items is unknown for those of earlier runs.
    std::function<void(std::uint32_t shard, std::uint64_t num_batches, std::uint64_t num_items)> lost =
        [](std::uint32_t, std::uint64_t, std::uint64_t) {};
    /// Batches that were answered are sent again.
    std::function<void(std::uint32_t shard, std::uint64_t num_batches)> repairing = [](std::uint32_t,
                                                                                       std::uint64_t) {};
    /// The server has forgotten this writer: batches without an answer may count twice.
    std::function<void(std::uint32_t shard, std::uint64_t num_batches)> forgotten = [](std::uint32_t,
                                                                                       std::uint64_t) {};
    /// The generation of a shard has changed, and its batches begin at sequence number 1.
    std::function<void(std::uint32_t shard, const WriterPosition&)> moved = [](std::uint32_t,
                                                                               const WriterPosition&) {};
  };

  static constexpr std::size_t most_unreleased = 32;  ///< of a shard

  /// `positions`: of every shard, from an earlier run of this writer, or none. `id`: 1 to 48 bytes, of no other writer.
  BatchWriter(Cluster& cluster, const Store& store, std::string id, std::vector<WriterPosition> positions,
              std::size_t max_kept_bytes, Observer observer);
  BatchWriter(const BatchWriter&) = delete;
  BatchWriter& operator=(const BatchWriter&) = delete;

  /// Whether the shard takes another batch now; otherwise call Cluster::step first.
  bool has_room(std::uint32_t shard) const noexcept;
  void send(std::uint32_t shard, Batch batch);
  /// The reply of the oldest batch of the shard that is not released, and that is done, is no longer needed.
  void release(std::uint32_t shard);
  std::size_t num_unanswered() const noexcept { return num_unanswered_; }
  WriterPosition position(std::uint32_t shard) const noexcept;

  /// Tells the servers that this writer does not come back, once all batches are answered.
  void end();

 private:
  struct Kept {
    Batch batch;
    bool is_done = false;
  };
  struct Shard {
    std::size_t lane = 0;
    std::uint32_t generation = 0;
    std::uint64_t first_sequence = 1;         // of the first batch in `kept`
    std::size_t num_done = 0;                 // at the front of `kept`
    std::size_t num_released = 0;             // of those
    std::deque<std::uint64_t> dropped_items;  // of the last batches that are no longer kept
    std::deque<Kept> kept;
    std::size_t kept_bytes = 0;
    std::size_t next_sent = 0;  // in `kept`
  };

  std::string id_of(const Shard& shard) const;
  void send_rest(std::uint32_t number);
  void take(std::uint32_t number, std::uint64_t sequence, Reply reply);
  void take_gap(std::uint32_t number, std::uint64_t last);
  void take_forgotten(std::uint32_t number);
  void begin_generation(std::uint32_t number);
  void drop_kept(Shard& shard);

  Cluster& cluster_;
  const Store& store_;
  std::string id_;
  std::size_t max_kept_bytes_;  // of a shard
  Observer observer_;
  std::vector<Shard> shards_;
  std::size_t num_unanswered_ = 0;
};

}  // namespace tally::redis_client
