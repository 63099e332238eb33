#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redis_module_api.hpp"
#include "stored_value.hpp"
#include "tally/sketches/count_min.hpp"

namespace tally::redis {

/// A Count-Min sketch with counters of 32 bits.
class CountMinValue final : public StoredValue {
 public:
  static constexpr const char* type_name = "tallycmsk";
  static constexpr std::string_view first_bytes = "TALLYCM1";  ///< of a dump
  inline static api::Type* type = nullptr;

  /// All sketches have this seed, so that any two of one size can be merged, also if different servers made them.
  static constexpr std::uint64_t seed = 0x74616c6c79636d73;

  /// For a load.
  CountMinValue() = default;
  /// Throws std::invalid_argument for a size out of range, and std::bad_alloc.
  CountMinValue(std::uint64_t width, std::uint32_t depth);

  CountMinSketch<>& sketch() noexcept { return *sketch_; }
  const CountMinSketch<>& sketch() const noexcept { return *sketch_; }

  struct Weighted {
    const CountMinValue* value;
    long long weight;
  };
  /// Replaces the counters by the weighted sum of the counters of the sources, which are of the same size. Returns false if
  /// a counter would be below 0 or above 2^32 - 1, or the sum of all weights below 0 or above 2^63 - 1. Then, and if it
  /// throws std::bad_alloc, nothing has changed.
  bool replace_by_sum(std::span<const Weighted> sources);

 private:
  std::unique_ptr<AnyValue> copy_without_journal() const override {
    return std::make_unique<CountMinValue>(*this);
  }
  std::string_view magic() const noexcept override { return first_bytes; }
  std::string parameters() const override { return {}; }
  std::vector<FilterView> filters() const override { return {*sketch_}; }
  void set_parameters(std::string_view bytes, const std::vector<FileHeader>& headers) override;
  void take(std::vector<AnyFilter> filters) override;

  std::optional<CountMinSketch<>> sketch_;
};

}  // namespace tally::redis
