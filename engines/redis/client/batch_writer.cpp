#include "tally/redis_client/batch_writer.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <utility>

#include "tally/redis_client/reply_text.hpp"

namespace tally::redis_client {
namespace {

std::size_t num_bytes_of(const Cluster::Arguments& words) {
  std::size_t bytes = 0;
  for (const std::string& word : words) bytes += word.size() + sizeof word;
  return bytes;
}

BatchWriter::Numbers numbers_of(const redisReply& reply) {
  BatchWriter::Numbers numbers;
  if (reply.type != REDIS_REPLY_ARRAY) throw StoreError("the reply of TALLY.BATCH has an unknown form");
  numbers.reserve(reply.elements);
  for (std::size_t i = 0; i < reply.elements; ++i) {
    if (reply.element[i]->type != REDIS_REPLY_INTEGER || reply.element[i]->integer < 0) {
      throw StoreError("the reply of TALLY.BATCH has an unknown form");
    }
    numbers.push_back(static_cast<std::uint64_t>(reply.element[i]->integer));
  }
  return numbers;
}

}  // namespace

std::string packed(std::span<const Hash128> digests) {
  std::string bytes;
  bytes.reserve(digests.size() * sizeof(Hash128));
  const auto append = [&](std::uint64_t half) {
    for (int i = 0; i < 8; ++i) bytes += static_cast<char>(half >> (8 * i));
  };
  for (const Hash128& digest : digests) {
    append(digest.low);
    append(digest.high);
  }
  return bytes;
}

BatchWriter::BatchWriter(Cluster& cluster, const Store& store, std::string id,
                         std::vector<WriterPosition> positions, std::size_t max_kept_bytes, Observer observer)
    : cluster_(cluster),
      store_(store),
      id_(std::move(id)),
      max_kept_bytes_(max_kept_bytes / store.num_shards()),
      observer_(std::move(observer)),
      shards_(store.num_shards()) {
  for (std::uint32_t number = 0; number < shards_.size(); ++number) {
    Shard& shard = shards_[number];
    shard.lane = cluster.lane_of(store.key_of(number));
    if (number >= positions.size()) continue;
    shard.generation = positions[number].generation;
    shard.first_sequence = positions[number].next_sequence;
  }
}

std::string BatchWriter::id_of(const Shard& shard) const {
  return id_ + "." + std::to_string(shard.generation);
}

bool BatchWriter::has_room(std::uint32_t shard) const noexcept {
  return shards_[shard].kept.size() - shards_[shard].num_released < most_unreleased;
}

WriterPosition BatchWriter::position(std::uint32_t number) const noexcept {
  const Shard& shard = shards_[number];
  return {shard.generation, shard.first_sequence + shard.num_released};
}

void BatchWriter::send(std::uint32_t number, Batch batch) {
  Shard& shard = shards_[number];
  shard.kept_bytes += num_bytes_of(batch.operation);
  shard.kept.push_back({std::move(batch)});
  ++num_unanswered_;
  send_rest(number);
}

void BatchWriter::send_rest(std::uint32_t number) {
  Shard& shard = shards_[number];
  for (; shard.next_sent < shard.kept.size(); ++shard.next_sent) {
    const Cluster::Arguments& operation = shard.kept[shard.next_sent].batch.operation;
    const std::uint64_t sequence = shard.first_sequence + shard.next_sent;
    // Of batches that are sent again after a failover, some are released.
    const std::uint64_t oldest = std::min(sequence, shard.first_sequence + shard.num_released);
    Cluster::Arguments words{"TALLY.BATCH", store_.key_of(number), id_of(shard), std::to_string(sequence),
                             std::to_string(oldest)};
    words.insert(words.end(), operation.begin(), operation.end());
    cluster_.send(shard.lane, std::move(words),
                  [this, number, sequence](Reply reply) { take(number, sequence, std::move(reply)); });
  }
}

void BatchWriter::take(std::uint32_t number, std::uint64_t sequence, Reply reply) {
  Shard& shard = shards_[number];
  if (is_error(*reply)) {
    const std::string_view text = text_of(*reply);
    if (text.starts_with("GAP ")) {
      std::uint64_t last = 0;
      std::from_chars(text.data() + 4, text.data() + text.size(), last);
      if (last + 1 < sequence) return take_gap(number, last);
    } else if (text.starts_with("FORGOTTEN ")) {
      return take_forgotten(number);
    } else if (Store::says_that_it_is_missing(text)) {
      return take_gap(number, 0);
    }
    throw StoreError("batch " + std::to_string(sequence) + " for '" + store_.key_of(number) +
                     "' was refused: " + std::string(text));
  }
  const Numbers numbers = numbers_of(*reply);
  Kept& kept = shard.kept[sequence - shard.first_sequence];
  if (kept.is_done) {
    kept.batch.repaired(numbers);
    return;
  }
  kept.is_done = true;
  ++shard.num_done;
  --num_unanswered_;
  kept.batch.done(numbers);
}

void BatchWriter::release(std::uint32_t number) {
  Shard& shard = shards_[number];
  ++shard.num_released;
  drop_kept(shard);
}

void BatchWriter::drop_kept(Shard& shard) {
  constexpr std::size_t most_remembered = std::size_t{1} << 16;
  while (shard.num_released > 0 && shard.kept_bytes > max_kept_bytes_ && shard.next_sent > 0) {
    const Batch& batch = shard.kept.front().batch;
    shard.kept_bytes -= num_bytes_of(batch.operation);
    shard.dropped_items.push_back(batch.num_items);
    if (shard.dropped_items.size() > most_remembered) shard.dropped_items.pop_front();
    shard.kept.pop_front();
    ++shard.first_sequence;
    --shard.num_done;
    --shard.num_released;
    --shard.next_sent;
  }
}

/// The server has batches up to `last` only.
void BatchWriter::take_gap(std::uint32_t number, std::uint64_t last) {
  Shard& shard = shards_[number];
  cluster_.drop_all(shard.lane);
  // The shard, or its description, may be gone with it.
  cluster_.send(cluster_.lane_of(store_.name()), store_.create_description(), [](const Reply&) {});
  cluster_.send(shard.lane, store_.create_shard(number), [this, number](const Reply& reply) {
    const std::string_view text = text_of(*reply);
    if (!is_error(*reply) || Store::says_that_it_exists(text)) return;
    throw StoreError("the shard '" + store_.key_of(number) + "' cannot be made: " + std::string(text));
  });
  if (last + 1 < shard.first_sequence) {
    const std::uint64_t num_batches = shard.first_sequence - 1 - last;
    const std::size_t num_known = std::min<std::size_t>(num_batches, shard.dropped_items.size());
    const std::uint64_t num_items =
        std::accumulate(shard.dropped_items.end() - static_cast<std::ptrdiff_t>(num_known),
                        shard.dropped_items.end(), std::uint64_t{0});
    observer_.lost(number, num_batches, num_items);
    return begin_generation(number);
  }
  shard.next_sent = static_cast<std::size_t>(last + 1 - shard.first_sequence);
  if (shard.next_sent < shard.num_done) observer_.repairing(number, shard.num_done - shard.next_sent);
  send_rest(number);
}

/// What has an answer was counted. Whether the rest was counted, nobody knows: counts may be too high, but not too low.
void BatchWriter::take_forgotten(std::uint32_t number) {
  Shard& shard = shards_[number];
  cluster_.drop_all(shard.lane);
  for (const Kept& kept : shard.kept) {
    if (kept.is_done || kept.batch.may_count_twice) continue;
    throw StoreError("'" + store_.key_of(number) +
                     "' has forgotten this writer, because too many others came: of " +
                     std::to_string(kept.batch.num_items) + " keys, nobody knows whether they were removed");
  }
  observer_.forgotten(number, shard.kept.size() - shard.num_done);
  while (shard.num_released > 0) {
    shard.kept_bytes -= num_bytes_of(shard.kept.front().batch.operation);
    shard.kept.pop_front();
    --shard.num_done;
    --shard.num_released;
  }
  begin_generation(number);
}

/// All that is kept is sent under a new name, from number 1 on.
void BatchWriter::begin_generation(std::uint32_t number) {
  Shard& shard = shards_[number];
  ++shard.generation;
  shard.first_sequence = 1;
  shard.dropped_items.clear();
  shard.next_sent = 0;
  if (shard.num_done > 0) observer_.repairing(number, shard.num_done);
  observer_.moved(number, position(number));
  send_rest(number);
}

void BatchWriter::end() {
  for (std::uint32_t number = 0; number < shards_.size(); ++number) {
    const Shard& shard = shards_[number];
    if (shard.first_sequence + shard.kept.size() == 1 && shard.generation == 0) continue;
    cluster_.send(shard.lane, {"TALLY.ENDWRITER", store_.key_of(number), id_of(shard)}, [](const Reply&) {});
  }
  while (!cluster_.is_idle()) cluster_.step(Connection::second / 10);
}

}  // namespace tally::redis_client
