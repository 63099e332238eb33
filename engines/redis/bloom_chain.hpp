#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "call.hpp"
#include "redis_module_api.hpp"
#include "stored_value.hpp"
#include "tally/filters/bloom.hpp"

namespace tally::redis {

/// What a chain was reserved with.
struct BloomChainOptions {
  double false_positive_rate = 0.01;
  std::uint64_t capacity = 100;  ///< keys in the first filter
  std::uint32_t expansion =
      2;  ///< capacity of a new filter, divided by that of the last one; 0 if the chain does not grow

  bool grows() const noexcept { return expansion != 0; }
};

enum class ChainInsert : std::uint8_t {
  inserted,  ///< the key was new
  seen,      ///< the key may have been inserted before; nothing changed
  full,      ///< the chain does not grow, and its capacity is reached; nothing changed
  no_room,   ///< another filter would be too large; nothing changed
  no_memory  ///< the server has no memory for another filter; nothing changed
};

/// A set of keys that grows: Bloom filters of which all but the last one have reached their capacity. A key is in the set
/// if one of them may contain it. All have the same seed, so a key is hashed once.
///
/// Filter i of a chain that grows has the rate r / 2^(i+1). So the rate of all together stays below r, by the union bound.
class BloomChain final : public StoredValue {
 public:
  static constexpr const char* type_name = "tallyblom";
  static constexpr std::string_view first_bytes = "TALLYBF1";  ///< of a dump
  inline static api::Type* type = nullptr;

  /// For a load.
  BloomChain() = default;
  /// With its first filter. Throws std::invalid_argument for options out of range, Refusal for more than the limits of the
  /// call, and std::bad_alloc.
  BloomChain(const BloomChainOptions& options, std::uint64_t seed, const Call& call);

  ChainInsert insert(std::string_view key, const Call& call);
  bool may_contain(std::string_view key) const noexcept;

  const BloomChainOptions& options() const noexcept { return options_; }
  std::uint64_t num_filters() const noexcept { return filters_.size(); }
  /// Of all filters together.
  std::uint64_t capacity() const noexcept;
  /// Keys that were new.
  std::uint64_t num_keys() const noexcept;

 private:
  std::unique_ptr<AnyValue> copy_without_journal() const override {
    return std::make_unique<BloomChain>(*this);
  }
  std::string_view magic() const noexcept override { return first_bytes; }
  std::string parameters() const override;
  std::vector<FilterView> filters() const override;
  void set_parameters(std::string_view bytes, const std::vector<FileHeader>& headers) override;
  void take(std::vector<AnyFilter> filters) override;

  std::uint64_t capacity_of(std::uint64_t filter) const noexcept;
  BloomShape shape_of(std::uint64_t filter) const;
  bool contains(Hash128 digest) const noexcept;

  BloomChainOptions options_;
  std::vector<BloomFilter<>> filters_;
};

}  // namespace tally::redis
