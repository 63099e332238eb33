#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "some_keys.hpp"

namespace tally::bench {

/// How a caller passes the keys to a structure.
enum class Call : bool { batch, single };

/// A structure as the benchmark sees it. Each call takes many keys, so that the virtual call costs nothing per key.
class Structure {
 public:
  struct Facts {
    bool has_batches = true;
    bool can_remove = false;
    /// Of lookups of absent keys when all keys are in the structure. Without a value, it is printed but not checked.
    std::optional<double> planned_rate = {};
    /// How often a key is inserted until it counts as present.
    int insertions_per_key = 1;
  };

  explicit Structure(const Facts& facts) : facts_(facts) {}
  Structure(const Structure&) = delete;
  Structure& operator=(const Structure&) = delete;
  virtual ~Structure() = default;

  const Facts& facts() const noexcept { return facts_; }
  /// As allocated, with everything that it holds now.
  virtual std::uint64_t num_bytes() const = 0;
  /// Returns for how many keys there was no room.
  virtual std::uint64_t insert(const SomeKeys& keys, Call call) = 0;
  /// Returns how many keys were refused because they are absent.
  virtual std::uint64_t remove(const SomeKeys& keys, Call call) = 0;
  /// Removes old_keys and inserts as many new_keys: in two batches, or a removal and an insertion in turn. Returns how many
  /// of both failed.
  virtual std::uint64_t replace(const SomeKeys& old_keys, const SomeKeys& new_keys, Call call) = 0;
  /// found[i] becomes whether the structure may contain keys[i].
  virtual void look_up(const SomeKeys& keys, Call call, std::span<bool> found) const = 0;

 private:
  Facts facts_;
};

}  // namespace tally::bench
