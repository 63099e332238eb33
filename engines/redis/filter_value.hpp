#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redis_module_api.hpp"
#include "stored_value.hpp"

namespace tally::redis {

/// A filter or sketch of any kind.
class FilterValue final : public StoredValue {
 public:
  static constexpr const char* type_name = "tallyfilt";
  static constexpr std::string_view first_bytes = "TALLYFI1";  ///< of a dump
  inline static api::Type* type = nullptr;

  /// For a load.
  FilterValue() = default;
  explicit FilterValue(AnyFilter filter) : filter_(std::move(filter)) {}

  AnyFilter& filter() noexcept { return *filter_; }
  const AnyFilter& filter() const noexcept { return *filter_; }

  std::unique_ptr<AnyValue> copy() const override { return std::make_unique<FilterValue>(*this); }

 private:
  std::string_view magic() const noexcept override { return first_bytes; }
  std::string parameters() const override { return {}; }
  std::vector<FilterView> filters() const override { return {*filter_}; }
  void set_parameters(std::string_view bytes, const std::vector<FileHeader>& headers) override;
  void take(std::vector<AnyFilter> filters) override { filter_ = std::move(filters.front()); }

  std::optional<AnyFilter> filter_;
};

}  // namespace tally::redis
