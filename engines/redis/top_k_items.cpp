#include "top_k_items.hpp"

#include "refusal.hpp"

namespace tally::redis {

std::uint64_t require_room_in_list(const Call& call, const TopKValue& value, std::size_t first,
                                   std::size_t step) {
  std::uint64_t item_bytes = 0;
  for (std::size_t i = first; i < call.size(); i += step) item_bytes += call.text(i).size();
  if (value.memory_with(item_bytes) > call.max_key_bytes()) {
    throw Refusal("TopK: the list would take more than the module's option MAX-KEY-BYTES with these items");
  }
  constexpr std::uint64_t few_bytes = std::uint64_t{64} << 10;
  if (item_bytes > few_bytes) call.require_memory_for(item_bytes);
  return item_bytes;
}

}  // namespace tally::redis
