#pragma once

#include <utility>

#include "structure.hpp"

namespace tally::bench {

/// A Structure made of the calls of one library. For a key that is a digest or a text of 16 bytes, Calls has
///
///   num_bytes(), insert(key) and contains(key); insert returns whether there was room
///   remove(key), which returns whether the key was in, if it can remove
///   insert_batch(keys), remove_batch(keys) and contains_batch(keys, results), if it has batches; the first two return
///   how many keys failed
template <class Calls>
class StructureOf final : public Structure {
 public:
  StructureOf(Calls calls, Facts facts) : Structure(with_abilities(facts)), calls_(std::move(calls)) {}

  std::uint64_t num_bytes() const override { return calls_.num_bytes(); }

  std::uint64_t insert(const SomeKeys& some, Call call) override {
    return some.with([&](auto keys) -> std::uint64_t {
      if constexpr (has_batches) {
        if (call == Call::batch) return calls_.insert_batch(keys);
      }
      std::uint64_t num_failed = 0;
      for (const auto& key : keys) num_failed += !calls_.insert(key);
      return num_failed;
    });
  }

  std::uint64_t remove(const SomeKeys& some, Call call) override {
    return some.with([&](auto keys) -> std::uint64_t {
      std::uint64_t num_failed = 0;
      if constexpr (can_remove) {
        if constexpr (has_batches) {
          if (call == Call::batch) return calls_.remove_batch(keys);
        }
        for (const auto& key : keys) num_failed += !calls_.remove(key);
      }
      return num_failed;
    });
  }

  std::uint64_t replace(const SomeKeys& old_keys, const SomeKeys& new_keys, Call call) override {
    if (has_batches && call == Call::batch) return remove(old_keys, call) + insert(new_keys, call);
    if (old_keys.texts.empty()) return replace_singly(old_keys.digests, new_keys.digests);
    return replace_singly(old_keys.texts, new_keys.texts);
  }

  void look_up(const SomeKeys& some, Call call, std::span<bool> found) const override {
    some.with([&](auto keys) {
      if constexpr (has_batches) {
        if (call == Call::batch) return calls_.contains_batch(keys, found);
      }
      for (std::size_t i = 0; i < keys.size(); ++i) found[i] = calls_.contains(keys[i]);
    });
  }

 private:
  using Digests = std::span<const Hash128>;
  static constexpr bool has_batches = requires(Calls calls, Digests keys) { calls.insert_batch(keys); };
  static constexpr bool can_remove = requires(Calls calls, Hash128 key) { calls.remove(key); };

  static Facts with_abilities(Facts facts) {
    facts.has_batches = has_batches;
    facts.can_remove = can_remove;
    return facts;
  }

  template <class Keys>
  std::uint64_t replace_singly(Keys old_keys, Keys new_keys) {
    std::uint64_t num_failed = 0;
    if constexpr (can_remove) {
      for (std::size_t i = 0; i < old_keys.size(); ++i)
        num_failed += !calls_.remove(old_keys[i]) + !calls_.insert(new_keys[i]);
    }
    return num_failed;
  }

  Calls calls_;
};

}  // namespace tally::bench
