#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tally/redis_client/address.hpp"
#include "tally/redis_client/hash_slot.hpp"

struct redisReply;

namespace tally::redis_client {

/// Which master has which slot, as far as is known.
class SlotMap {
 public:
  /// One server has all slots.
  static SlotMap single(const Address& server);
  /// Of the reply of CLUSTER SLOTS from the server at `asked`, whose user and password all others have. Nothing if the reply
  /// is not of this form.
  static std::optional<SlotMap> from_reply(const redisReply& reply, const Address& asked);

  /// Null while nobody has the slot.
  const Address* find(std::uint32_t slot) const noexcept;
  /// A server said that this one has the slot.
  void set(std::uint32_t slot, const Address& server);

  const std::vector<Address>& masters() const noexcept { return masters_; }
  /// The fewest replicas of any master.
  std::size_t least_replicas() const noexcept { return least_replicas_; }
  bool is_single() const noexcept { return is_single_; }

 private:
  std::uint16_t number_of(const Address& server);

  static constexpr std::uint16_t nobody = 0xffff;
  std::vector<Address> masters_;
  std::vector<std::uint16_t> owners_ = std::vector(num_hash_slots, nobody);
  std::size_t least_replicas_ = 0;
  bool is_single_ = false;
};

}  // namespace tally::redis_client
