#include "over_operation.hpp"

#include <chrono>
#include <string>

#include "over_arguments.hpp"
#include "refusal.hpp"
#include "server_memory.hpp"

namespace tally::redis {
namespace {

/// Throws Refusal if the items make the stream larger than the limits allow.
void require_room(const Call& call, const OverStream& stream, std::size_t num_items) {
  if (stream.options().memory_bytes || stream.options().window) return;
  if (stream.memory_bytes_with(num_items) > call.max_key_bytes()) {
    throw Refusal("ERR the key would take more than " + std::to_string(call.max_key_bytes()) +
                  " bytes, the module's option MAX-KEY-BYTES; make one with --memory");
  }
  const std::uint64_t new_filters = stream.bytes_of_new_filters(num_items);
  if (new_filters > 0) call.require_memory_for(new_filters);
}

}  // namespace

OverOperation::OverOperation(const Call& call, const OverValue& value, std::size_t num_items,
                             std::optional<std::int64_t> milliseconds) {
  const bool has_window = value.stream().options().window.has_value();
  if (milliseconds && !has_window) {
    throw Refusal("ERR --time is only for a key with --window; leave it out");
  }
  require_room(call, value.stream(), num_items);
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  milliseconds_ = milliseconds.value_or(now.count());
  if (has_window) replicated_ = milliseconds_;
}

std::span<const ReachedKey> OverOperation::run(OverValue& value, std::span<const Hash128> digests) const {
  OverStream& stream = value.stream_to_change();
  const ReservedMemory reserved(stream.most_bytes_to_add(digests.size()));
  return stream.add(digests, milliseconds_ * nanoseconds_per_millisecond);
}

}  // namespace tally::redis
