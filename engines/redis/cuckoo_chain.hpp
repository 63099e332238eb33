#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "call.hpp"
#include "redis_module_api.hpp"
#include "stored_value.hpp"
#include "tally/filters/dleft_counting_bloom.hpp"

namespace tally::redis {

/// What a chain was reserved with.
struct CuckooChainOptions {
  double false_positive_rate = 0.015;
  std::uint64_t capacity = 1024;  ///< keys in the first filter
  std::uint32_t expansion = 1;    ///< 0: never grows; else a power of two, at most 2^15
  // These two only mean something for a cuckoo filter. They are stored to be reported.
  std::uint32_t bucket_size = 2;
  std::uint32_t max_iterations = 20;

  bool grows() const noexcept { return expansion != 0; }
};

enum class CuckooInsert : std::uint8_t {
  inserted,
  full,        ///< the chain does not grow; nothing changed
  is_longest,  ///< the chain has max_filters, which have reached their capacity; nothing changed
  no_room,     ///< another filter would be too large; nothing changed
  no_memory    ///< the server has no memory for another filter; nothing changed
};

/// A multiset of keys that grows: the commands of a cuckoo filter on a chain of d-left filters.
///
/// All filters have the same fingerprints, because they differ only in the number of doublings and have the same seed.
/// So the chain is one multiset of fingerprints, whose count is the sum over the filters, and a removal may take the
/// fingerprint from any filter that has it: another key with this fingerprint has it in all filters, and cannot lose more
/// than its own. If each filter had its own fingerprints, a key might be in one filter and collide with another key in the
/// next one; a removal there would lose the other key.
///
/// Filter i has the capacity of the first one times expansion^i, as long as remainders have bits for that. The false
/// positive rate is proportional to the keys in the chain. It is the one reserved when these are `growth` times the
/// capacity: 1 for a chain that does not grow, 8 for expansion 1, else 64 (or the expansion, if that is larger).
class CuckooChain final : public StoredValue {
 public:
  static constexpr const char* type_name = "tallydlft";
  static constexpr std::string_view first_bytes = "TALLYCF1";  ///< of a dump
  inline static api::Type* type = nullptr;

  static constexpr std::uint64_t max_filters = 32;

  /// For a load.
  CuckooChain() = default;
  /// With its first filter. Throws std::invalid_argument for options that no filter can have, Refusal for more than the
  /// limits of the call, and std::bad_alloc.
  CuckooChain(const CuckooChainOptions& options, std::uint64_t seed, const Call& call);

  CuckooInsert insert(std::string_view key, const Call& call);
  /// Removes one occurrence of the key. Returns false and changes nothing if it is provably absent.
  bool remove(std::string_view key);
  bool may_contain(std::string_view key) const noexcept;
  /// How often keys with this key's fingerprint are in the multiset.
  std::uint64_t count(std::string_view key) const noexcept;

  const CuckooChainOptions& options() const noexcept { return options_; }
  std::uint64_t num_filters() const noexcept { return filters_.size(); }
  /// Of the first filter.
  std::uint64_t num_buckets() const noexcept;
  /// Insertions minus removals.
  std::uint64_t num_keys() const noexcept;
  std::uint64_t num_removes() const noexcept;
  /// Fingerprints whose count is partly in a side table, because it is too large for a cell.
  std::uint64_t num_spilled() const noexcept;
  std::uint64_t spill_capacity() const noexcept;

 private:
  using Filter = DLeftCountingBloomFilter<>;

  std::unique_ptr<AnyValue> copy_without_journal() const override {
    return std::make_unique<CuckooChain>(*this);
  }
  std::string_view magic() const noexcept override { return first_bytes; }
  std::string parameters() const override;
  std::vector<FilterView> filters() const override;
  void set_parameters(std::string_view bytes, const std::vector<FileHeader>& headers) override;
  void take(std::vector<AnyFilter> filters) override;

  Hash128 digest_of(std::string_view key) const noexcept { return filters_.front().hasher()(key); }
  /// Inserts into the newest filter that has not reached its capacity and has room.
  bool insert_within_capacity(Hash128 digest);

  CuckooChainOptions options_;
  std::vector<Filter> filters_;
};

}  // namespace tally::redis
