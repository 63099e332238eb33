#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "call.hpp"
#include "replicated_command.hpp"
#include "tally/hashing/key_hasher.hpp"

namespace tally::redis {

/// What a command does with items, in the two forms that replicas know.
struct ItemCommand {
  const char* of_texts;  ///< such as TALLY.ADD
  const char* word;      ///< of TALLY.PACKED
};
inline constexpr ItemCommand add_items{"TALLY.ADD", "ADD"};
inline constexpr ItemCommand remove_items{"TALLY.REMOVE", "REMOVE"};

/// The items of a command as digests: texts that the server hashes, or digests that a client has made itself. It sends them
/// to replicas in the form in which they came.
class ItemList {
 public:
  static constexpr std::size_t max_digests = 65536;
  static constexpr std::size_t bytes_per_digest = 16;

  /// The texts from argument `first` to the last one.
  static ItemList of_texts(const Call& call, std::size_t first, const KeyHasher& hasher);
  /// The digests in an argument: for each, the 8 little-endian bytes of its low half, and then those of its high half.
  /// Throws Refusal unless there are 1 to max_digests of them.
  static ItemList of_digests(const Call& call, std::size_t argument);

  std::size_t size() const noexcept { return digests_.size(); }
  std::span<const Hash128> digests() const noexcept { return digests_; }

  /// Sends all items to replicas. Argument 1 is the key.
  void replicate(const ItemCommand& command) const noexcept;

  /// A command for replicas with only some of the items, ready to be sent.
  class Part {
   public:
    Part(const ItemList& items, const ItemCommand& command, std::span<const std::size_t> numbers);
    void send() noexcept { command_.send(name_); }

   private:
    const char* name_;
    ReplicatedCommand command_;
  };

 private:
  ItemList(const Call& call, std::size_t first, bool is_packed)
      : call_(call), first_(first), is_packed_(is_packed) {}

  const Call& call_;
  std::size_t first_;
  bool is_packed_;
  std::vector<Hash128> digests_;
};

}  // namespace tally::redis
